// Opaque reasoning across formats. It means something only to the format that made it, so a client of another format
// carries it packed into a text that names its format. It is unpacked when it comes back, or removed where no provider
// could read it.
import type { Format, TargetFormat } from '../../core/endpoints.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { isArray, isObject, parseObject } from '../../core/json.ts'
import type { OpaqueReasoning } from '../../core/request.ts'

/** The beginning of every pack. */
export const PACK_MARK = 'tollgate.1.'

/** The text that a client of `format` keeps for it: its value in its own format, a marked pack in any other. */
export function packReasoning(opaque: OpaqueReasoning, format: Format): string {
  if (opaque.format === format) return opaque.value
  return PACK_MARK + Buffer.from(JSON.stringify(opaque)).toString('base64url')
}

/** What is in a text that a client sends back; `home`: what an unmarked text is in the client's format. */
export function unpackReasoning(
  text: string,
  home: Omit<OpaqueReasoning, 'value'>,
): OpaqueReasoning {
  if (!isPacked(text)) return { ...home, value: text }
  const json = Buffer.from(text.slice(PACK_MARK.length), 'base64url').toString()
  const opaque = parseObject(json, PACK_DEPTH)
  // A damaged pack is nobody's. It keeps its text, and no provider is sent it as its own.
  return opaque !== undefined && isOpaque(opaque) ? opaque : { ...home, value: text }
}

/** Nothing is nested in a pack; what a client might nest in it could be large to parse. */
const PACK_DEPTH = 1

/** Whether a client's text is packed reasoning of another format. */
export function isPacked(text: unknown): boolean {
  return typeof text === 'string' && text.startsWith(PACK_MARK)
}

const KINDS: readonly unknown[] = ['signature', 'redacted', 'encrypted']
const FORMATS: readonly unknown[] = [
  'chat',
  'responses',
  'messages',
  'gemini',
  'converse',
] satisfies TargetFormat[]

function isOpaque(given: JsonObject): given is OpaqueReasoning {
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
