// A conversation in turns, for formats in which user and assistant alternate: leading instructions are separate,
// consecutive messages of one role are one turn, and the first turn is always the user's.
import type { JsonObject } from '../../core/json.ts'
import type { Message } from '../../core/request.ts'

export type Turn<Result = JsonObject> = {
  readonly role: 'user' | 'assistant'
  /** Tool results: they come at the beginning of the turn that follows the calls. */
  readonly results: Result[]
  readonly blocks: JsonObject[]
}

type Instruction = Extract<Message, { readonly role: 'system' | 'developer' }>

type Turns<Result> = {
  /** The instructions before the first turn. */
  readonly leading: readonly Instruction[]
  readonly turns: readonly Turn<Result>[]
}

/** The content of a turn that would otherwise be empty: none of these formats accepts an empty one. */
export const NO_CONTENT = '(no content)'

/** `add` puts a message into its turn. Instructions between turns go into the user's. */
export function takeTurns<Result = JsonObject>(
  messages: readonly Message[],
  add: (turn: Turn<Result>, message: Message) => void,
): Turns<Result> {
  const leading: Instruction[] = []
  for (const message of messages) {
    if (message.role !== 'system' && message.role !== 'developer') break
    leading.push(message)
  }
  let turn: Turn<Result> = { role: 'user', results: [], blocks: [] }
  const turns = [turn]
  for (const message of messages.slice(leading.length)) {
    const role = message.role === 'assistant' ? 'assistant' : 'user'
    if (turn.role !== role) {
      turn = { role, results: [], blocks: [] }
      turns.push(turn)
    }
    add(turn, message)
  }
  // The beginning of an answer that has no content yet.
  if (turn.role === 'assistant' && turn.blocks.length === 0) turns.pop()
  return { leading, turns }
}

/** An instruction in words, for formats without a JSON mode. */
export const JSON_ONLY =
  'Answer with one valid JSON object and nothing else: no explanation, no code fence.'

/** An instruction between turns, for formats that accept them only before all turns: it goes into the user's turn. */
export function lateInstruction(text: string): string {
  return `<system>\n${text}\n</system>`
}
