// Why an answer ended, to and from the words of the messages format.
import type { ChoiceEnd, FinishReason } from '../../core/events.ts'
import type { JsonObject } from '../../core/json.ts'
import { objectOf, stringOf } from '../../core/json.ts'

export const STOP_REASONS: Record<FinishReason, string> = {
  stop: 'end_turn',
  limit: 'max_tokens',
  context: 'model_context_window_exceeded',
  'tool-call': 'tool_use',
  refusal: 'refusal',
  pause: 'pause_turn',
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
