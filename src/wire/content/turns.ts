// A conversation in turns, for formats in which user and assistant alternate: leading instructions are separate,
// consecutive messages of one role are one turn, and the first turn is always the user's.
import type { JsonObject } from '../../core/json.ts'
import { stringOf } from '../../core/json.ts'
import type { Message, ToolMessage } from '../../core/request.ts'

export type Turn<Result = JsonObject> = {
  readonly role: 'user' | 'assistant'
  /** Tool results: they come at the beginning of the turn that follows the calls. */
  readonly results: Result[]
  readonly blocks: JsonObject[]
}

/** How a format writes messages. */
type Encoding<Result> = {
  /** The content of a message. Instructions are texts alone. */
  blocks(message: Exclude<Message, ToolMessage>): readonly JsonObject[]
  /** The result of a call. What belongs to it but not into it may follow in the turn. */
  result(message: ToolMessage, turn: Turn<Result>): Result
}

type Turns<Result> = {
  /** The instructions before the first turn. */
  readonly system: JsonObject[]
  readonly turns: readonly Turn<Result>[]
}

/** The content of a turn that would otherwise be empty: none of these formats accepts an empty one. */
export const NO_CONTENT = '(no content)'

/** Instructions between turns go into the user's, marked as such. */
export function takeTurns<Result = JsonObject>(
  messages: readonly Message[],
  encoding: Encoding<Result>,
): Turns<Result> {
  const system: JsonObject[] = []
  let turn: Turn<Result> = { role: 'user', results: [], blocks: [] }
  const turns = [turn]
  let isLeading = true
  for (const message of messages) {
    const isInstruction = message.role === 'system' || message.role === 'developer'
    isLeading &&= isInstruction
    const role = message.role === 'assistant' ? 'assistant' : 'user'
    if (turn.role !== role) {
      turn = { role, results: [], blocks: [] }
      turns.push(turn)
    }
    if (message.role === 'tool') {
      turn.results.push(encoding.result(message, turn))
      continue
    }
    const blocks = encoding.blocks(message)
    if (isLeading) system.push(...blocks)
    else turn.blocks.push(...(isInstruction ? blocks.map(late) : blocks))
  }
  // The beginning of an answer that has no content yet.
  if (turn.role === 'assistant' && turn.blocks.length === 0) turns.pop()
  return { system, turns }
}

function late(block: JsonObject): JsonObject {
  return { ...block, text: lateInstruction(stringOf(block['text']) ?? '') }
}

/** An instruction in words, for formats without a JSON mode. */
export const JSON_ONLY =
  'Answer with one valid JSON object and nothing else: no explanation, no code fence.'

/** An instruction between turns, for formats that accept them only before all turns: it goes into the user's turn. */
export function lateInstruction(text: string): string {
  return `<system>\n${text}\n</system>`
}
