// Chat completions as servers know them that follow OpenAI at a distance: the output limit by its first name, which all
// of them keep to, and instructions in the role that all of them know. A limit under a name that a server ignores would
// be no limit, and the hold would not cover what it writes.
import { isArray, isObject } from '../core/json.ts'
import type { Json } from '../core/json.ts'
import { changeMembers, readJsonBody } from '../wire/json.ts'

export function inOlderWords(bytes: Uint8Array): Uint8Array {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const hasLimit = buffer.includes('"max_completion_tokens"')
  const hasRole = buffer.includes('"developer"')
  if (!hasLimit && !hasRole) return bytes
  const body = readJsonBody(buffer)
  const { max_completion_tokens: limit, messages } = body.value
  return changeMembers(body, {
    ...(hasLimit && limit !== undefined
      ? { max_completion_tokens: undefined, max_tokens: limit }
      : {}),
    ...(hasRole && isArray(messages) ? { messages: messages.map(inKnownRole) } : {}),
  })
}

function inKnownRole(message: Json): Json {
  return isObject(message) && message['role'] === 'developer'
    ? { ...message, role: 'system' }
    : message
}
