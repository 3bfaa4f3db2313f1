// A provider may quote the request in its answer, key included, and the client reads the answer. Keys come in many
// shapes, but the credentials of this very request are known and can be removed: as sent, in base64, escaped as in JSON,
// or URL-encoded, also where a chunk ends inside one. (No key contains a backslash or a percent sign.)

const REPLACEMENT = Buffer.from('[redacted]')
const CARRIERS = ['authorization', 'x-api-key', 'api-key', 'x-goog-api-key', 'x-amz-security-token']
/** Shorter ones protect nothing ("none", "ollama"), and are words that a message may need. */
const LENGTH_MIN = 8

/** The secrets in the headers of a request, and how to find them; may be used for many requests. */
export type Secrets = {
  /** In all forms, the longest first: one may contain another. */
  readonly forms: readonly Uint8Array[]
  /** By byte: whether a secret may begin with it, in any form. */
  readonly beginnings: Uint8Array
  /** By byte: whether a secret may contain it, in any form. */
  readonly members: Uint8Array
  /** A chunk without any of these contains no secret: looking for them costs a tenth of looking at every byte. */
  readonly marks: readonly string[]
}

export function secretsIn(headers: Readonly<Record<string, string>>): Secrets {
  const forms = formsIn(headers)
  const beginnings = new Uint8Array(256)
  const members = new Uint8Array(256)
  for (const byte of [BACKSLASH, PERCENT, ...forms.map(([first = 0]) => first)]) {
    beginnings[byte] = 1
  }
  for (const bytes of [ESCAPES, ...forms]) for (const byte of bytes) members[byte] = 1
  const short = forms.some((form) => form.some((byte) => SHORT_ESCAPED.has(byte)))
  const marks = [
    ...forms.map((form) => Buffer.from(form.subarray(0, MARK_BYTES)).toString('latin1')),
    ...MARKS,
    ...(short ? SHORT_MARKS : []),
  ]
  return { forms, beginnings, members, marks }
}

/** As sent and as base64. A signature is no secret: it is used up. */
function formsIn(headers: Readonly<Record<string, string>>): readonly Uint8Array[] {
  return Object.entries(headers)
    .filter(([name, value]) => CARRIERS.includes(name.toLowerCase()) && !value.startsWith('AWS4-'))
    .map(([, value]) => value.replace(/^\S+ /, ''))
    .filter(({ length }) => length >= LENGTH_MIN)
    .flatMap((secret) => {
      const base64 = Buffer.from(secret).toString('base64').replace(/=+$/, '')
      return [...new Set([secret, base64, base64.replaceAll('+', '-').replaceAll('/', '_')])]
    })
    .toSorted((one, other) => other.length - one.length)
    .map((secret) => Buffer.from(secret))
}

/** Takes the secrets out of a body as it arrives. Keeps back only what may be the beginning of one. */
export class SecretFilter {
  readonly #secrets: Secrets
  #rest: Uint8Array | undefined

  constructor(secrets: Secrets) {
    this.#secrets = secrets
  }

  /** What of this chunk, and of what was kept back, is clean. */
  push(chunk: Buffer): Uint8Array {
    const last = chunk[chunk.length - 1] ?? 0
    if (this.#rest === undefined && this.#secrets.members[last] === 0 && !this.#isMarked(chunk))
      return chunk
    const bytes = this.#rest === undefined ? chunk : Buffer.concat([this.#rest, chunk])
    this.#rest = undefined
    return this.#clean(bytes, false)
  }

  /** What was kept back, once nothing follows it; empty mostly. */
  end(): Uint8Array {
    const bytes = this.#rest ?? NOTHING
    this.#rest = undefined
    return this.#clean(bytes, true)
  }

  #isMarked(chunk: Buffer): boolean {
    // One character per byte. Searching a text is several times as fast as searching bytes.
    const text = chunk.toString('latin1')
    for (const mark of this.#secrets.marks) if (text.includes(mark)) return true
    return false
  }

  #clean(bytes: Uint8Array, isWhole: boolean): Uint8Array {
    const parts: Uint8Array[] = []
    let cleanTo = 0
    for (let at = 0; at < bytes.length; at++) {
      if (this.#secrets.beginnings[bytes[at] ?? 0] === 0) continue
      const end = this.#endOfSecret(bytes, at)
      if (end === UNKNOWN && !isWhole) {
        this.#rest = bytes.subarray(at)
        return joined(parts, bytes.subarray(cleanTo, at))
      }
      if (end <= at) continue
      parts.push(bytes.subarray(cleanTo, at), REPLACEMENT)
      cleanTo = end
      at = end - 1
    }
    return joined(parts, bytes.subarray(cleanTo))
  }

  /** Where a secret that begins here ends; NONE if none does; UNKNOWN if the bytes end before that is clear. */
  #endOfSecret(bytes: Uint8Array, at: number): number {
    if (isEscaped(bytes, at)) return NONE
    let found = NONE
    for (const secret of this.#secrets.forms) {
      const end = endOf(secret, bytes, at)
      if (end > at) return end
      if (end === UNKNOWN) found = UNKNOWN
    }
    return found
  }
}

const NOTHING = new Uint8Array()
const NONE = -1
const UNKNOWN = -2
const BACKSLASH = 0x5c
const PERCENT = 0x25
const SMALL_U = 0x75
/** JSON inside JSON, some levels deep. */
const BACKSLASHES_MAX = 15
/** What JSON may write with a backslash before it. */
const SHORT_ESCAPED: ReadonlySet<number | undefined> = new Set(Buffer.from('"/'))
/** Letters that mean something else after a backslash, such as the n of a line end. */
const LETTERS_OF_ESCAPES: ReadonlySet<number | undefined> = new Set(Buffer.from('bfnrtu'))

/** Everything that escapes consist of. */
const ESCAPES = Buffer.from('\\u%0123456789abcdefABCDEF')
/** Where an escape of plain characters begins. */
const MARKS = ['\\u00', '%']
const SHORT_MARKS = ['\\/', '\\"']
const MARK_BYTES = 4

function endOf(secret: Uint8Array, bytes: Uint8Array, start: number): number {
  let at = start
  for (let index = 0; index < secret.length; index++) {
    const byte = secret[index] ?? 0
    if (at >= bytes.length) return UNKNOWN
    const next = bytes[at]
    if (next === byte) at += 1
    else if (next === BACKSLASH) at = afterEscape(byte, bytes, at)
    else if (next === PERCENT) at = afterPercent(byte, bytes, at)
    else return NONE
    if (at < 0) return at
  }
  return at
}

/** `\/`, `\u0065` and the same with more backslashes. */
function afterEscape(byte: number, bytes: Uint8Array, start: number): number {
  let at = start
  while (bytes[at] === BACKSLASH && at - start < BACKSLASHES_MAX) at += 1
  if (at >= bytes.length) return UNKNOWN
  if (bytes[at] === byte && SHORT_ESCAPED.has(byte)) return at + 1
  if (bytes[at] !== SMALL_U) return NONE
  return afterHex(byte.toString(16).padStart(4, '0'), bytes, at + 1)
}

/** `%65`, and `%2565` where it was encoded twice. */
function afterPercent(byte: number, bytes: Uint8Array, start: number): number {
  const once = afterHex(hexOf(byte), bytes, start + 1)
  if (once !== NONE) return once
  const twice = afterHex('25', bytes, start + 1)
  return twice < 0 ? twice : afterHex(hexOf(byte), bytes, twice)
}

function hexOf(byte: number): string {
  return byte.toString(16).padStart(2, '0')
}

function afterHex(digits: string, bytes: Uint8Array, start: number): number {
  for (let index = 0; index < digits.length; index++) {
    const byte = bytes[start + index]
    if (byte === undefined) return UNKNOWN
    if (String.fromCharCode(byte).toLowerCase() !== digits[index]) return NONE
  }
  return start + digits.length
}

/** Whether this byte only completes an escape: without it, a backslash would be left that makes the JSON invalid. */
function isEscaped(bytes: Uint8Array, at: number): boolean {
  if (!LETTERS_OF_ESCAPES.has(bytes[at]) || bytes[at - 1] !== BACKSLASH) return false
  let first = at - 1
  while (bytes[first - 1] === BACKSLASH) first -= 1
  return (at - first) % 2 === 1
}

function joined(parts: Uint8Array[], last: Uint8Array): Uint8Array {
  return parts.length === 0 ? last : Buffer.concat([...parts, last])
}
