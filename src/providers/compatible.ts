// Chat completions as servers know them that follow OpenAI at a distance: the output limit by its first name, which all
// of them keep to, and instructions in the role that all of them know. A limit under a name that a server ignores would
// be no limit, and the hold would not cover what it writes.
import { isArray, isGiven, isObject } from '../core/json.ts'
import type { Json, JsonObject } from '../core/json.ts'
import { changeMembers, readJsonBody } from '../wire/json.ts'

export type Habits = {
  /** It refuses what it does not know: the wish for usage, which it tells anyway, and thoughts of earlier turns. */
  readonly isStrict?: true
}

export function inOlderWords(bytes: Uint8Array, { isStrict }: Habits): Uint8Array {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const words = ['"max_completion_tokens"', '"developer"', ESCAPED, ...(isStrict ? STRANGE : [])]
  if (!words.some((word) => buffer.includes(word))) return bytes
  const body = readJsonBody(buffer)
  const { max_completion_tokens: limit, messages } = body.value
  return changeMembers(body, {
    max_completion_tokens: undefined,
    ...(isGiven(limit) ? { max_tokens: limit } : {}),
    ...(isArray(messages) ? { messages: messages.map(inKnownWords(isStrict === true)) } : {}),
    ...(isStrict ? { stream_options: undefined } : {}),
  })
}

/** How each of these words may be spelled as well. */
const ESCAPED = '\\u00'

/** What only servers that ignore the unknown may be sent. */
const STRANGE = ['"stream_options"', '"reasoning_content"', '"reasoning_details"']

function inKnownWords(isStrict: boolean): (message: Json) => Json {
  return (message) => {
    if (!isObject(message)) return message
    const { reasoning_content: _, reasoning_details: __, ...known }: JsonObject = message
    const told = isStrict ? known : message
    return told['role'] === 'developer' ? { ...told, role: 'system' } : told
  }
}
