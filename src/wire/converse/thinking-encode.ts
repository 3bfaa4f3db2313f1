// How much a model behind Converse should think. Each model family has its own fields for it, and most have none.
import type { JsonObject } from '../../core/json.ts'
import type { Conversation, Effort } from '../../core/request.ts'
import { effortOf } from '../effort.ts'

/** Undefined for models without such a setting. */
export function encodeThinking({ model, reasoning }: Conversation): JsonObject | undefined {
  const effort = effortOf(reasoning)
  return effort === undefined ? undefined : fieldsOf(model)?.(effort)
}

export function canBeToldEffort(model: string): boolean {
  return fieldsOf(model) !== undefined
}

export function canBeKeptFromThinking(model: string): boolean {
  return fieldsOf(model) === novaFields
}

function fieldsOf(model: string): ((effort: Effort) => JsonObject) | undefined {
  if (model.includes('amazon.nova-2')) return novaFields
  return model.includes('openai.gpt-oss') ? gptOssFields : undefined
}

/** Effort `high` forbids an output limit, and without a limit no hold would cover the answer. */
function novaFields(effort: Effort): JsonObject {
  if (effort === 'none') return { reasoningConfig: { type: 'disabled' } }
  const maxReasoningEffort = effort === 'minimal' || effort === 'low' ? 'low' : 'medium'
  return { reasoningConfig: { type: 'enabled', maxReasoningEffort } }
}

/** Thinking cannot be turned off in gpt-oss. */
function gptOssFields(effort: Effort): JsonObject {
  if (effort === 'medium') return { reasoning_effort: 'medium' }
  const isLittle = effort === 'none' || effort === 'minimal' || effort === 'low'
  return { reasoning_effort: isLittle ? 'low' : 'high' }
}
