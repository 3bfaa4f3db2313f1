// What keeps the requests of one conversation together, so that they reach the same target and its cache.
import type { Json, JsonObject } from '../../core/json.ts'
import { isArray, isObject, stringOf } from '../../core/json.ts'

/** Claude Code writes its session into the user id, as JSON. */
export function sessionOf(userId: string | undefined): string | undefined {
  if (userId === undefined || !userId.startsWith('{')) return undefined
  try {
    const value: unknown = JSON.parse(userId)
    return isObject(value) ? stringOf(value['session_id']) : undefined
  } catch {
    return undefined
  }
}

/** The texts of the system prompt and of the first thing the user said. */
export function promptBeginning(body: JsonObject): string[] {
  const messages = isArray(body['messages']) ? body['messages'] : []
  const first = messages.find((message) => isObject(message) && message['role'] === 'user')
  return [...textsOf(body['system']), ...textsOf(isObject(first) ? first['content'] : undefined)]
}

/** Claude Code's first system block changes with every request and means nothing to other providers. */
export function isBillingLine(text: string): boolean {
  return text.startsWith('x-anthropic-billing-header:')
}

function textsOf(content: Json | undefined): string[] {
  const blocks = isArray(content) ? content : [{ text: content }]
  return blocks.flatMap((block) => {
    const text = isObject(block) ? stringOf(block['text']) : undefined
    return text === undefined || isBillingLine(text) ? [] : [text]
  })
}
