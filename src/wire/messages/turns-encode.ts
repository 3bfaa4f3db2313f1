// The messages of a conversation as the turns of the messages format: user and assistant by turns, the system prompt
// apart, tool results at the beginning of the turn that follows the calls.
import type { JsonObject } from '../../core/json.ts'
import { defined } from '../../core/json.ts'
import type { Conversation, Message } from '../../core/request.ts'
import { lateInstruction } from '../late-instruction.ts'
import { encodeCacheMark } from './cache-marks.ts'
import { encodeParts } from './parts-encode.ts'
import { plainCallId } from './tool-names.ts'

export type EncodedTurns = {
  readonly system: readonly JsonObject[]
  readonly messages: readonly JsonObject[]
}

type Turn = {
  readonly role: 'user' | 'assistant'
  readonly results: JsonObject[]
  readonly blocks: JsonObject[]
}

const JSON_ONLY: JsonObject = {
  type: 'text',
  text: 'Answer with one valid JSON object and nothing else: no explanation, no code fence.',
}

export function encodeTurns({ messages, outputFormat }: Conversation): EncodedTurns {
  const firstTurn = messages.findIndex((message) => !isSystem(message))
  const leading = firstTurn < 0 ? messages : messages.slice(0, firstTurn)
  const system = leading.flatMap((message) => encodeParts(message.parts))
  if (outputFormat?.type === 'json') system.push(JSON_ONLY)
  const turns: Turn[] = []
  // The first turn is always the user's.
  if (messages[leading.length]?.role === 'assistant' || firstTurn < 0) turnOf(turns, 'user')
  for (const message of messages.slice(leading.length)) addMessage(turns, message)
  return {
    system,
    messages: turns.map((turn, index) => encodeTurn(turn, index === turns.length - 1)),
  }
}

function isSystem({ role }: Message): boolean {
  return role === 'system' || role === 'developer'
}

function addMessage(turns: Turn[], message: Message): void {
  switch (message.role) {
    case 'system':
    case 'developer':
      turnOf(turns, 'user').blocks.push(...encodeLateInstruction(message))
      return
    case 'user':
    case 'assistant':
      turnOf(turns, message.role).blocks.push(...encodeParts(message.parts))
      return
    case 'tool':
      turnOf(turns, 'user').results.push(encodeResult(message))
  }
}

/** The turn of this role at the end: consecutive messages of one role are one turn. */
function turnOf(turns: Turn[], role: Turn['role']): Turn {
  const last = turns.at(-1)
  if (last?.role === role) return last
  const turn = { role, results: [], blocks: [] }
  turns.push(turn)
  return turn
}

/** Only the newest models take instructions between turns, so they stand in the user's turn, marked as what they are. */
function encodeLateInstruction(message: Message): JsonObject[] {
  return encodeParts(message.parts).map((block) => ({
    ...block,
    text: lateInstruction(String(block['text'])),
  }))
}

function encodeResult(message: Extract<Message, { role: 'tool' }>): JsonObject {
  const content = encodeParts(message.parts)
  return defined({
    type: 'tool_result',
    tool_use_id: plainCallId(message.callId),
    content: content.length === 0 ? undefined : content,
    is_error: message.isError,
    cache_control: encodeCacheMark(message.cache),
  })
}

/** A turn may not be empty. */
const NOTHING: JsonObject = { type: 'text', text: '(no content)' }

function encodeTurn({ role, results, blocks }: Turn, isLast: boolean): JsonObject {
  const content = [...results, ...blocks]
  const last = content.at(-1)
  // An assistant turn at the end is the beginning of the answer, which may not end in white space.
  if (isLast && role === 'assistant' && typeof last?.['text'] === 'string') {
    content[content.length - 1] = { ...last, text: last['text'].trimEnd() }
  }
  return { role, content: content.length === 0 ? [NOTHING] : content }
}
