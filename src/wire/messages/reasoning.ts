// The thoughts in a messages conversation: whether a request asks to see new ones, and how those of earlier turns are
// removed from it, either those of other formats or all of them.
import type { Json, JsonObject } from '../../core/json.ts'
import { isArray, isObject, listOf, objectOf } from '../../core/json.ts'
import { changedEntries, isPacked } from '../content/opaque-reasoning.ts'
import type { Removals } from '../contract/codec.ts'

/** Clients that do not ask for thoughts take the first block of an answer for its text. */
export function asksForThoughts({ thinking }: JsonObject): boolean {
  return isObject(thinking) && thinking['type'] !== 'disabled'
}

export function withoutReasoning(body: JsonObject): Removals | undefined {
  return removing(body, isThought)
}

/**
 * After a fallback to a provider of another format, a conversation carries that provider's thoughts under Tollgate's
 * mark. A provider of this format would refuse the whole request because of their signatures.
 */
export function withoutForeignThoughts(body: JsonObject): Removals | undefined {
  return removing(body, isForeignThought)
}

function removing(body: JsonObject, isGone: (block: JsonObject) => boolean): Removals | undefined {
  const messages = changedEntries(body['messages'], (message) => {
    const { content } = message
    if (!isArray(content)) return message
    const left = content.filter((block) => !(isObject(block) && isGone(block)))
    if (left.length === content.length) return message
    return left.length === 0 ? undefined : { ...message, content: left }
  })
  if (messages === undefined) return undefined
  const dropped = ['messages.content.thinking']
  const isBudgeted = objectOf(body['thinking'])['type'] === 'enabled'
  if (!isBudgeted || !goesOnUnthinking(messages)) return { changes: { messages }, dropped }
  return { changes: { messages, thinking: undefined }, dropped: [...dropped, 'thinking'] }
}

function isThought({ type }: JsonObject): boolean {
  return type === 'thinking' || type === 'redacted_thinking'
}

function isForeignThought(block: JsonObject): boolean {
  return isThought(block) && (isPacked(block['signature']) || isPacked(block['data']))
}

/**
 * Whether the model must continue a turn of its own, after tool results or from given first words, that does not begin
 * with a thought. Providers refuse this together with a thinking budget.
 */
export function goesOnUnthinking(messages: readonly Json[]): boolean {
  const opening = messages.findLastIndex((message) => isObject(message) && !isOfModelsTurn(message))
  const [first] = messages.slice(opening + 1)
  if (!isObject(first)) return false
  const [block] = listOf(first['content'])
  return !isObject(block) || !isThought(block)
}

function isOfModelsTurn({ role, content }: JsonObject): boolean {
  if (role === 'assistant') return true
  return (
    isArray(content) && content.some((block) => isObject(block) && block['type'] === 'tool_result')
  )
}
