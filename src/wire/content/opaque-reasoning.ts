// Seals across formats. A seal means something only to the format that made it, so a client of another format carries
// it packed into an opaque text that names its format. It is unpacked when it comes back, or removed where no provider
// could read it.
import type { Format, TargetFormat } from '../../core/endpoints.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { isArray, isObject, parseObject } from '../../core/json.ts'
import type { ReasoningSeal } from '../../core/request.ts'

/** The beginning of every packed seal. */
export const SEAL_MARK = 'tollgate.1.'

/** The text a client of `format` keeps for this seal: its value in its own format, a marked pack in any other. */
export function packSeal(seal: ReasoningSeal, format: Format): string {
  if (seal.format === format) return seal.value
  return SEAL_MARK + Buffer.from(JSON.stringify(seal)).toString('base64url')
}

/** The seal in a text that a client sends back; `home`: what an unmarked text is in the client's format. */
export function unpackSeal(text: string, home: Omit<ReasoningSeal, 'value'>): ReasoningSeal {
  if (!isPacked(text)) return { ...home, value: text }
  const json = Buffer.from(text.slice(SEAL_MARK.length), 'base64url').toString()
  const seal = parseObject(json, SEAL_DEPTH)
  // A damaged pack is nobody's seal. It keeps its text, and no provider is sent it as its own.
  return seal !== undefined && isSeal(seal) ? seal : { ...home, value: text }
}

/** Nothing is nested in a seal; what a client might nest in it could be large to parse. */
const SEAL_DEPTH = 1

/** Whether a client's text is the packed seal of another format. */
export function isPacked(text: unknown): boolean {
  return typeof text === 'string' && text.startsWith(SEAL_MARK)
}

const KINDS: readonly unknown[] = ['signature', 'redacted', 'encrypted']
const FORMATS: readonly unknown[] = [
  'chat',
  'responses',
  'messages',
  'gemini',
  'converse',
] satisfies TargetFormat[]

function isSeal(given: JsonObject): given is ReasoningSeal {
  const { format, kind, value, id, dialect } = given
  return (
    FORMATS.includes(format) &&
    KINDS.includes(kind) &&
    typeof value === 'string' &&
    (id === undefined || typeof id === 'string') &&
    (dialect === undefined || typeof dialect === 'string')
  )
}

/**
 * The entries of a conversation, each as `change` leaves it; undefined = nothing changes. `change` returns the same
 * object if it has nothing to remove, and undefined for an entry of which nothing is left.
 */
export function changedEntries(
  entries: Json | undefined,
  change: (entry: JsonObject) => JsonObject | undefined,
): readonly Json[] | undefined {
  if (!isArray(entries)) return undefined
  const changed: Json[] = []
  let isSame = true
  for (const entry of entries) {
    const left = isObject(entry) ? change(entry) : entry
    if (left !== entry) isSame = false
    if (left !== undefined) changed.push(left)
  }
  return isSame ? undefined : changed
}
