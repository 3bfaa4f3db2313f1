// JSON as it came: request bodies, read once, with bounds on what a hostile body may cost, and changed in place, so that a
// forwarded body keeps every byte that need not change; and texts of answers, changed in place without parsing.
import { isUtf8 } from 'node:buffer'
import { GatewayError, invalidRequest } from '../../core/errors.ts'
import {
  BACKSLASH,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  CONTAINERS_MAX,
  DEPTH_MAX,
  endOfString,
  isObject,
  MEMBERS_MAX,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
} from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import { isLarge, nextStep } from '../../core/runtime.ts'
import { exactly, exactlyInSteps } from './exact.ts'

export type JsonBody = {
  readonly bytes: Buffer
  readonly value: JsonObject
  /** Where the members of the outermost object are, in their order. */
  readonly members: ReadonlyMap<string, Member>
}

/** Byte positions: of the value, and after it. */
type Member = { readonly valueStart: number; readonly end: number }

// Real requests stay far below these; a body that does not would stall every other request while it is parsed.
const LIMITS = {
  depth: DEPTH_MAX,
  containers: CONTAINERS_MAX.request,
  /** Of the request itself: each one that is unknown is measured, and named where it is dropped. */
  fields: 1_000,
  members: MEMBERS_MAX.request,
  /** OpenAI embeds 300,000 tokens at once, which may be numbers. */
  commas: 400_000,
  /** Names and texts; each takes as long to read as several numbers. */
  strings: 250_000,
  /** Each takes as long to read and to write as a hundred plain characters. A million words in Chinese have fewer. */
  escapes: 4_000_000,
}

/** Reads a request body. Whatever is wrong with it is for the client to fix: always a 400. */
export function readJsonBody(bytes: Buffer): JsonBody {
  const scanned = scan(refuseUnreadable(bytes))
  return bodyOf(bytes, scanned, parse(bytes.toString('utf8')))
}

/** The same in steps. */
export async function readBodyInSteps(bytes: Buffer): Promise<JsonBody> {
  if (!isLarge(bytes.length)) return readJsonBody(bytes)
  await nextStep(bytes.length)
  const scanned = scan(refuseUnreadable(bytes))
  await nextStep(bytes.length)
  const text = bytes.toString('utf8')
  await nextStep(bytes.length)
  const value = parse(text)
  await nextStep(bytes.length)
  return bodyOf(bytes, scanned, value)
}

function refuseUnreadable(bytes: Buffer): Buffer {
  if (bytes.length === 0) throw malformed('the request has no body: send a JSON object')
  if (!isUtf8(bytes)) throw malformed('the body is not valid UTF-8')
  refuseEscapes(bytes)
  return bytes
}

function bodyOf(bytes: Buffer, { members, names }: Scanned, value: unknown): JsonBody {
  if (!isObject(value)) throw malformed('the body must be a JSON object')
  // Of two fields with the same name the parser keeps the last, but a provider may read the first.
  if (namesIn(value) !== names) {
    const place = repeatedField(bytes.toString('utf8')) ?? ''
    throw invalidRequest(place, `the body has the field ${place} twice`)
  }
  return { bytes, value, members }
}

/** How many fields an object or list has, at any depth. */
function namesIn(container: object): number {
  const isList = Array.isArray(container)
  const values: readonly unknown[] = isList ? container : Object.values(container)
  let names = isList ? 0 : values.length
  for (const value of values) {
    if (typeof value === 'object' && value !== null) names += namesIn(value)
  }
  return names
}

/** The value of the body, with every integer as it was written; made in steps. */
export async function exactBody({ bytes, value }: JsonBody): Promise<JsonObject> {
  const step = (): Promise<void> => nextStep(bytes.length)
  await step()
  const text = bytes.toString('utf8')
  await step()
  return exactlyInSteps(text, value, step)
}

/** The body with some members replaced, added, or (undefined) removed. One set to its own value keeps its bytes. */
export function changeMembers({ bytes, value, members }: JsonBody, changes: JsonObject): Buffer {
  const pieces: Uint8Array[] = []
  let copiedTo = 0
  let end = bytes.indexOf(OPEN_OBJECT) + 1
  let isFirst = true
  for (const [name, member] of members) {
    const isChanged = Object.hasOwn(changes, name) && changes[name] !== value[name]
    if (isChanged && changes[name] === undefined) {
      if (copiedTo < end) pieces.push(bytes.subarray(copiedTo, end))
      copiedTo = member.end
    } else {
      // A member that becomes the first one loses the comma before it; every other byte between members stays.
      if (isFirst && copiedTo > 0) copiedTo = bytes.indexOf(COMMA, end) + 1
      isFirst = false
      if (isChanged) {
        pieces.push(bytes.subarray(copiedTo, member.valueStart))
        pieces.push(Buffer.from(JSON.stringify(changes[name])))
        copiedTo = member.end
      }
    }
    end = member.end
  }
  if (copiedTo < end) pieces.push(bytes.subarray(copiedTo, end))
  for (const [name, added] of Object.entries(changes)) {
    if (added === undefined || members.has(name)) continue
    const comma = isFirst ? '' : ','
    pieces.push(Buffer.from(`${comma}${JSON.stringify(name)}:${JSON.stringify(added)}`))
    isFirst = false
  }
  pieces.push(bytes.subarray(end))
  return Buffer.concat(pieces)
}

/**
 * The same, where changes are made from the body's own lists and objects: integers in them stay as they were written.
 * `adapt` makes further changes, from the body as changed so far.
 */
export function rewriteMembers(body: JsonBody, changesTo: Changes, adapt?: Changes): Buffer {
  const changesOf: Changes = (value) => {
    const changes = changesTo(value)
    return adapt === undefined ? changes : { ...changes, ...adapt({ ...value, ...changes }) }
  }
  const changes = changesOf(body.value)
  const exact = exactMembers(body, rewrittenIn(body.value, changes))
  if (exact === undefined) return changeMembers(body, changes)
  const value = { ...body.value, ...exact }
  return changeMembers({ ...body, value }, changesOf(value))
}

type Changes = (value: JsonObject) => JsonObject

function rewrittenIn(value: JsonObject, changes: JsonObject): readonly string[] {
  return Object.keys(changes).filter(
    (name) =>
      typeof changes[name] === 'object' &&
      changes[name] !== value[name] &&
      typeof value[name] === 'object',
  )
}

/** These members as they were written; undefined if none of them has a long integer. The others need not be read again. */
function exactMembers(
  { bytes, value, members }: JsonBody,
  names: readonly string[],
): JsonObject | undefined {
  if (names.length === 0) return undefined
  const rounded = Object.fromEntries(names.map((name) => [name, value[name]]))
  const written = names.map((name) => {
    const { valueStart, end } = members.get(name) ?? { valueStart: 0, end: 0 }
    return `${JSON.stringify(name)}:${bytes.toString('utf8', valueStart, end)}`
  })
  const exact = exactly(`{${written.join(',')}}`, rounded)
  return exact === rounded ? undefined : exact
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    // Without the piece of the body that the parser may quote: that may be a prompt.
    const message = (cause as Error).message.replace(/, (?:\.\.\.)?".*$/s, '')
    throw malformed(`the body is not valid JSON: ${message}`)
  }
}

type Scanned = { readonly members: ReadonlyMap<string, Member>; readonly names: number }

/**
 * One pass over the bytes before they are parsed: counts what makes parsing slow, and all names, and finds the outermost
 * members. It trusts nothing and checks no grammar; its result is meaningful only if the parser accepts the body.
 */
function scan(bytes: Buffer): Scanned {
  const members = new Map<string, Member>()
  let depth = 0
  let containers = 0
  let colons = 0
  let commas = 0
  let strings = 0
  let open: { name: string; valueStart: number } | undefined
  let nameStart = -1
  let nameEnd = -1
  let valueEnd = -1
  const close = (): void => {
    if (open === undefined) return
    if (members.size === LIMITS.fields) throw tooComplex(LIMITS.fields, 'fields')
    members.set(open.name, { valueStart: open.valueStart, end: valueEnd })
    open = undefined
  }
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index] as number
    if (byte <= 0x20) continue
    switch (byte) {
      case QUOTE: {
        if (++strings > LIMITS.strings) throw tooComplex(LIMITS.strings, 'names and texts')
        const end = endOfQuoted(bytes, index)
        if (depth === 1 && open === undefined) {
          nameStart = index
          nameEnd = end
        } else if (open?.valueStart === -1) open.valueStart = index
        index = end - 1
        valueEnd = end
        continue
      }
      case COLON:
        if (++colons > LIMITS.members) throw tooComplex(LIMITS.members, 'fields in its objects')
        if (depth === 1 && open === undefined && nameStart >= 0) {
          open = { name: nameOf(bytes, nameStart, nameEnd), valueStart: -1 }
          nameStart = -1
        }
        continue
      case COMMA:
        if (++commas > LIMITS.commas) throw tooComplex(LIMITS.commas, 'values')
        if (depth === 1) close()
        continue
      case OPEN_OBJECT:
      case OPEN_ARRAY:
        if (open?.valueStart === -1) open.valueStart = index
        if (++containers > LIMITS.containers)
          throw tooComplex(LIMITS.containers, 'objects and lists')
        if (++depth > LIMITS.depth)
          throw malformed(`the body is nested deeper than ${LIMITS.depth} levels`)
        break
      case CLOSE_OBJECT:
      case CLOSE_ARRAY:
        if (--depth === 0) close()
        break
      default:
        if (open?.valueStart === -1) open.valueStart = index
    }
    valueEnd = index + 1
  }
  return { members, names: colons }
}

/** How much is read byte by byte after an escape: where there is one, there are more. */
const ESCAPED_BYTES = 4_096

/** Only a body of many megabytes can have too many. */
function refuseEscapes(bytes: Buffer): void {
  if (bytes.length < 2 * LIMITS.escapes) return
  let escapes = 0
  let index = bytes.indexOf(BACKSLASH)
  while (index >= 0) {
    const end = Math.min(index + ESCAPED_BYTES, bytes.length)
    for (; index < end; index++) {
      if (bytes[index] !== BACKSLASH) continue
      escapes += 1
      index += 1
    }
    if (escapes > LIMITS.escapes) throw tooComplex(LIMITS.escapes, 'escapes in its texts')
    index = bytes.indexOf(BACKSLASH, index)
  }
}

/** How far a string is read byte by byte before its end is searched for natively, which pays only for long ones. */
const NEAR_BYTES = 64

/**
 * The index after a string's closing quote. In bytes, not in a text as `endOfString`: where many quotes are escaped, as
 * in JSON inside JSON, that takes a third longer, and in the worst body three times as long.
 */
function endOfQuoted(bytes: Buffer, start: number): number {
  let index = start + 1
  for (;;) {
    const near = Math.min(index + NEAR_BYTES, bytes.length)
    for (; index < near; index++) {
      const byte = bytes[index]
      if (byte === QUOTE) return index + 1
      if (byte === BACKSLASH) index++
    }
    if (index >= bytes.length) return bytes.length
    const quote = bytes.indexOf(QUOTE, index)
    if (quote < 0) return bytes.length
    let backslashes = 0
    while (quote - backslashes > index && bytes[quote - 1 - backslashes] === BACKSLASH)
      backslashes++
    if (backslashes % 2 === 0) return quote + 1
    index = quote + 1
  }
}

function nameOf(bytes: Buffer, start: number, end: number): string {
  const text = bytes.toString('utf8', start, end)
  if (!text.includes('\\')) return text.slice(1, -1)
  try {
    return JSON.parse(text) as string
  } catch {
    return text // The parser will refuse the whole body.
  }
}

function malformed(message: string): GatewayError {
  return new GatewayError('invalid_request', message)
}

export function tooComplex(most: number, what: string): GatewayError {
  return malformed(`the body has more than ${most} ${what}: no model could read it`)
}

type Step = string | number

/** An object or list that is being read, and how far. */
type Open = {
  /** Undefined: a list. */
  readonly names: Set<string> | undefined
  step: Step
  isNameNext: boolean
}

/**
 * The field that an object has twice, as in `messages[1].content`: a parser keeps one of the two and does not say that
 * there was another. Undefined if there is none. The text must be valid JSON.
 */
export function repeatedField(text: string): string | undefined {
  const open: Open[] = []
  let inner: Open | undefined
  for (let index = 0; index < text.length; index++) {
    switch (text.charCodeAt(index)) {
      case QUOTE: {
        const end = endOfString(text, index)
        if (inner?.names !== undefined && inner.isNameNext) {
          inner.step = JSON.parse(text.slice(index, end)) as string
          if (inner.names.has(inner.step)) return placeOf(open.map(({ step }) => step))
          inner.names.add(inner.step)
          inner.isNameNext = false
        }
        index = end - 1
        break
      }
      case OPEN_OBJECT:
        inner = { names: new Set(), step: '', isNameNext: true }
        open.push(inner)
        break
      case OPEN_ARRAY:
        inner = { names: undefined, step: 0, isNameNext: false }
        open.push(inner)
        break
      case CLOSE_OBJECT:
      case CLOSE_ARRAY:
        open.pop()
        inner = open.at(-1)
        break
      case COMMA:
        if (typeof inner?.step === 'number') inner.step += 1
        else if (inner !== undefined) inner.isNameNext = true
        break
      default:
    }
  }
  return undefined
}

const PLACE_CHARACTERS_MAX = 200
const NAME_CHARACTERS_MAX = 50

/** Its last steps, if there are too many. */
function placeOf(steps: readonly Step[]): string {
  let place = ''
  for (const step of steps.toReversed()) {
    if (place.length > PLACE_CHARACTERS_MAX) return `…${place}`
    place = spelled(step) + place
  }
  return place.replace(/^\./, '')
}

/** A client may have chosen any name: an odd one is quoted, a long one cut. */
function spelled(step: Step): string {
  if (typeof step === 'number') return `[${step}]`
  const cut = step.length > NAME_CHARACTERS_MAX ? `${step.slice(0, NAME_CHARACTERS_MAX)}…` : step
  return /^[\w-]+$/.test(cut) ? `.${cut}` : `.${JSON.stringify(cut)}`
}

// Texts: events are forwarded by the thousand with only a name changed. Every other character stays as it is.

/** The text with some outermost members replaced, or added after the others if they are missing. */
export function setMembers(text: string, members: JsonObject): string {
  let changed = text
  for (const [name, value] of Object.entries(members)) {
    const json = JSON.stringify(value)
    const span = findMember(changed, name)
    changed =
      span === undefined
        ? withMember(changed, `${JSON.stringify(name)}:${json}`)
        : changed.slice(0, span.start) + json + changed.slice(span.end)
  }
  return changed
}

function withMember(text: string, member: string): string {
  const end = text.lastIndexOf('}')
  const isEmpty = text.slice(0, end).trimEnd().endsWith('{')
  return `${text.slice(0, end)}${isEmpty ? '' : ','}${member}${text.slice(end)}`
}

/** The text with the value of one outermost member replaced by other JSON; the same text if there is no such member. */
export function replaceMember(text: string, name: string, value: string): string {
  const span = findMember(text, name)
  return span === undefined ? text : text.slice(0, span.start) + value + text.slice(span.end)
}

/** Where a value is, in characters. */
type Span = { readonly start: number; readonly end: number }

/** The span of a string, without its quotes, by its path from the outermost; a list stands for its first object. */
export function findString(text: string, names: readonly string[]): Span | undefined {
  let start = 0
  let end = text.length
  for (const name of names) {
    const span = findMember(text.slice(start, end), name)
    if (span === undefined) return undefined
    end = start + span.end
    start += span.start
  }
  return text[start] === '"' ? { start: start + 1, end: end - 1 } : undefined
}

export function findMember(text: string, name: string): Span | undefined {
  let position = text.indexOf('{') + 1
  for (;;) {
    const quote = text.indexOf('"', position)
    const colon = quote < 0 ? -1 : text.indexOf(':', endOfString(text, quote))
    if (colon < 0) return undefined
    const start = endOfSpace(text, colon + 1)
    const end = endOfValue(text, start)
    if (text.slice(quote + 1, endOfString(text, quote) - 1) === name) return { start, end }
    position = end
  }
}

function endOfValue(text: string, start: number): number {
  let depth = 0
  for (let position = start; position < text.length; position++) {
    const character = text[position]
    if (character === '"') position = endOfString(text, position) - 1
    else if (character === '{' || character === '[') depth += 1
    else if (character === '}' || character === ']') depth -= 1
    else if (character !== ',') continue
    // The character that ends a number or a word is not part of it; the one that closes a string or a container is.
    if (depth < 0 || (depth === 0 && character === ',')) return position
    if (depth === 0) return position + 1
  }
  return text.length
}

function endOfSpace(text: string, start: number): number {
  let position = start
  while (position < text.length && text.charCodeAt(position) <= 0x20) position += 1
  return position
}
