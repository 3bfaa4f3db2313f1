// A canonical request as a messages provider expects it. What the format cannot express, or the model does not accept
// (`claude.ts`), is left out: `losses.ts` has already reported it.
import assert from 'node:assert/strict'

import type { JsonObject } from '../../core/json.ts'
import { defined } from '../../core/json.ts'
import type { CanonicalRequest, Conversation, Effort } from '../../core/request.ts'
import { nearestEffort } from '../effort.ts'
import { encodeCacheMark, withFewCacheMarks } from './cache-marks.ts'
import { claudeOf } from './claude.ts'
import { adaptSchema, describedSchema } from '../schema-adapt.ts'
import { encodeToolChoice, encodeTools } from './tools-encode.ts'
import { encodeThinking } from './thinking-encode.ts'
import { encodeTurns } from './turns-encode.ts'

export function encodeRequest(request: CanonicalRequest): JsonObject {
  assert(request.kind === 'chat')
  return encodeConversation(withFewCacheMarks(request))
}

function encodeConversation(request: Conversation): JsonObject {
  const { system, messages } = encodeTurns(request)
  const tools = encodeTools(request)
  const thinking = encodeThinking(request)
  const isThinking = thinking !== undefined && thinking['type'] !== 'disabled'
  const { endUser } = request
  return defined({
    model: request.model,
    max_tokens: request.outputTokensMax,
    stream: request.stream ? true : undefined,
    system: system.length === 0 ? undefined : system,
    messages,
    tools: tools.length === 0 ? undefined : tools,
    tool_choice: tools.length === 0 ? undefined : encodeToolChoice(request),
    thinking,
    output_config: encodeOutputConfig(request),
    ...encodeSampling(request, isThinking),
    metadata: endUser === undefined ? undefined : { user_id: endUser },
    service_tier: encodeServiceTier(request.serviceTier),
    cache_control: encodeCacheMark(request.cache),
  })
}

function encodeOutputConfig(request: Conversation): JsonObject | undefined {
  const { outputFormat } = request
  const effort = encodeEffort(request)
  const format =
    outputFormat?.type === 'json-schema'
      ? { type: 'json_schema', schema: adaptSchema(describedSchema(outputFormat)) }
      : undefined
  return effort === undefined && format === undefined ? undefined : defined({ effort, format })
}

function encodeEffort(request: Conversation): Effort | undefined {
  const asked = request.reasoning?.effort
  const { efforts, takesDisabled } = claudeOf(request)
  // A model whose thinking cannot be turned off gets its lowest effort instead; for all others `thinking` is disabled.
  if (asked === undefined || (asked === 'none' && takesDisabled)) return undefined
  return nearestEffort(asked, efforts)
}

function encodeSampling(request: Conversation, isThinking: boolean): JsonObject {
  const { temperature, topP, topK, stop } = request.sampling
  const stop_sequences = stop
  // A model that thinks chooses its own sampling, and newer models accept only one of temperature and top_p.
  if (isThinking || !claudeOf(request).takesSampling) return { stop_sequences }
  return {
    temperature: temperature === undefined ? undefined : Math.min(temperature, 1),
    top_p: temperature === undefined ? topP : undefined,
    top_k: topK,
    stop_sequences,
  }
}

/** `default` of the chat family is `standard_only` here; every other tier is left to the provider. */
function encodeServiceTier(tier: string | undefined): string | undefined {
  if (tier === undefined) return undefined
  return tier === 'default' ? 'standard_only' : 'auto'
}
