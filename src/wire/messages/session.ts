// What keeps the requests of one conversation together, so that they reach the same target and its cache.
import type { Json, JsonObject } from '../../core/json.ts'
import { isArray, isObject, stringOf } from '../../core/json.ts'

const BEGINNING_CHARACTERS = 1024

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

/** The system prompt and the first message, as far as they tell conversations apart. */
export function promptBeginning(body: JsonObject): string {
  let text = textOf(body['system'])
  if (text.length < BEGINNING_CHARACTERS && isArray(body['messages'])) {
    const first = body['messages'].find(
      (message) => isObject(message) && message['role'] === 'user',
    )
    text += isObject(first) ? textOf(first['content']) : ''
  }
  return text.slice(0, BEGINNING_CHARACTERS)
}

/** Claude Code's first system block changes with every request and means nothing to other providers. */
export function isBillingLine(text: string): boolean {
  return text.startsWith('x-anthropic-billing-header:')
}

function textOf(content: Json | undefined): string {
  if (typeof content === 'string') return content
  if (!isArray(content)) return ''
  let text = ''
  for (const block of content) {
    const part = isObject(block) ? stringOf(block['text']) : undefined
    if (part === undefined || isBillingLine(part)) continue
    text += part
    if (text.length >= BEGINNING_CHARACTERS) break
  }
  return text
}
