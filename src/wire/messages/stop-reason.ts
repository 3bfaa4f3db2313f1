// Why an answer ended, to and from the words of the messages format.
import type { ChoiceEnd, FinishReason } from '../../core/events.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { objectOf, stringOf } from '../../core/json.ts'

const STOP_REASONS: Record<FinishReason, string> = {
  stop: 'end_turn',
  limit: 'max_tokens',
  context: 'model_context_window_exceeded',
  'tool-call': 'tool_use',
  refusal: 'refusal',
  pause: 'pause_turn',
}

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

export function decodeStop(delta: JsonObject): Omit<ChoiceEnd, 'type' | 'choice'> {
  const details = objectOf(delta['stop_details'])
  const stopSequence = stringOf(delta['stop_sequence'])
  const explanation = stringOf(details['explanation']) ?? stringOf(details['category'])
  return {
    reason: FINISH_REASONS.get(stringOf(delta['stop_reason']) ?? '') ?? 'stop',
    ...(stopSequence === undefined ? {} : { stopSequence }),
    ...(explanation === undefined ? {} : { explanation }),
  }
}

const FINISH_REASONS = new Map(
  Object.entries(STOP_REASONS).map(([reason, name]) => [name, reason as FinishReason]),
)
