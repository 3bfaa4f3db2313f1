// The messages of a conversation as turns of the messages format: alternating user and assistant turns, a separate
// system prompt, and tool results at the beginning of the turn that follows the calls.
import type { JsonObject } from '../../core/json.ts'
import { defined } from '../../core/json.ts'
import type { Conversation, Message, ToolMessage } from '../../core/request.ts'
import { withUniqueCallIds } from '../call-ids.ts'
import { JSON_ONLY, lateInstruction } from '../instructions.ts'
import { NO_CONTENT, takeTurns } from '../turns.ts'
import type { Turn } from '../turns.ts'
import { encodeCacheMark } from './cache-marks.ts'
import { encodeParts } from './parts-encode.ts'
import { forcingWords } from './tools-encode.ts'
import { plainCallId } from './tool-names.ts'

type EncodedTurns = {
  readonly system: readonly JsonObject[]
  readonly messages: readonly JsonObject[]
}

export function encodeTurns(request: Conversation): EncodedTurns {
  const { leading, turns } = takeTurns(withUniqueCallIds(request.messages), addMessage)
  const system = leading.flatMap((message) => encodeParts(message.parts))
  if (request.outputFormat?.type === 'json') system.push(textBlock(JSON_ONLY))
  const forcing = forcingWords(request)
  if (forcing !== undefined) system.push(textBlock(forcing))
  return {
    system,
    messages: turns.map((turn, index) => encodeTurn(turn, index === turns.length - 1)),
  }
}

function addMessage({ results, blocks }: Turn, message: Message): void {
  switch (message.role) {
    case 'system':
    case 'developer':
      blocks.push(...encodeLateInstruction(message))
      return
    case 'user':
    case 'assistant':
      blocks.push(...encodeParts(message.parts))
      return
    case 'tool':
      results.push(encodeResult(message))
  }
}

/** Only the newest models accept instructions between turns, so they go into the user's turn, marked as such. */
function encodeLateInstruction(message: Message): JsonObject[] {
  return encodeParts(message.parts).map((block) => ({
    ...block,
    text: lateInstruction(String(block['text'])),
  }))
}

function encodeResult(message: ToolMessage): JsonObject {
  const content = encodeParts(message.parts)
  return defined({
    type: 'tool_result',
    tool_use_id: plainCallId(message.callId),
    content: content.length === 0 ? undefined : content,
    is_error: message.isError,
    cache_control: encodeCacheMark(message.cache),
  })
}

function encodeTurn({ role, results, blocks }: Turn, isLast: boolean): JsonObject {
  const content = [...results, ...blocks]
  const last = content.at(-1)
  // A final assistant turn is the beginning of the answer, and may not end in white space.
  if (isLast && role === 'assistant' && typeof last?.['text'] === 'string') {
    content[content.length - 1] = { ...last, text: last['text'].trimEnd() }
  }
  return { role, content: content.length === 0 ? [textBlock(NO_CONTENT)] : content }
}

function textBlock(text: string): JsonObject {
  return { type: 'text', text }
}
