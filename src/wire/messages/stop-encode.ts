// Why an answer ended, in the words of the messages format.
import type { ChoiceEnd, FinishReason } from '../../core/events.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { STOP_REASONS } from './stop-reason.ts'

type Contents = { readonly called: boolean; readonly refused: boolean }

/**
 * The stop fields of `message_delta` and of a whole message. `answer`: what it contains; `stops`: the stop sequences of
 * the request.
 */
export function encodeStop(end: ChoiceEnd, answer: Contents, stops: readonly Json[]): JsonObject {
  const reason = reasonOf(end, answer)
  const met = metSequence(end.stopSequence, stops)
  return {
    stop_reason: reason === 'stop' && met !== undefined ? 'stop_sequence' : STOP_REASONS[reason],
    stop_sequence: met ?? null,
    stop_details:
      reason === 'refusal'
        ? { type: 'refusal', category: null, explanation: end.explanation ?? null }
        : null,
  }
}

/** What the answer contains overrides the provider's reason, unless a limit may have cut a call short. */
function reasonOf(end: ChoiceEnd, answer: Contents): FinishReason {
  if (end.reason !== 'stop' && end.reason !== 'tool-call') return end.reason
  if (answer.called) return 'tool-call'
  return answer.refused ? 'refusal' : 'stop'
}

/** Null = any of several. Servers may use the field for other words: only a sequence of the request can be met. */
function metSequence(told: string | null | undefined, stops: readonly Json[]): Json | undefined {
  if (told === null) return stops.length === 1 ? stops[0] : null
  return told !== undefined && stops.includes(told) ? told : undefined
}
