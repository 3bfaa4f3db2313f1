// A conversation by turns, for formats in which user and assistant speak in turn: instructions that come first stand apart,
// consecutive messages of one role are one turn, and the first turn is always the user's.
import type { JsonObject } from '../core/json.ts'
import type { Message } from '../core/request.ts'

export type Turn<Result = JsonObject> = {
  readonly role: 'user' | 'assistant'
  /** Of tools: they stand at the beginning of the turn that follows the calls. */
  readonly results: Result[]
  readonly blocks: JsonObject[]
}

type Turns<Result> = {
  /** The instructions before the first turn. */
  readonly leading: readonly Message[]
  readonly turns: readonly Turn<Result>[]
}

/** What a turn says that would say nothing: none of these formats takes an empty one. */
export const NO_CONTENT = '(no content)'

/** `add` puts a message into its turn; of instructions between turns that is the user's. */
export function takeTurns<Result = JsonObject>(
  messages: readonly Message[],
  add: (turn: Turn<Result>, message: Message) => void,
): Turns<Result> {
  const first = messages.findIndex(({ role }) => role !== 'system' && role !== 'developer')
  const leading = first < 0 ? messages : messages.slice(0, first)
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
  // The beginning of an answer, of which there is nothing yet.
  if (turn.role === 'assistant' && turn.blocks.length === 0) turns.pop()
  return { leading, turns }
}
