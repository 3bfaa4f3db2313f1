// A canonical request in the messages format, for a provider. What this format cannot say is simply not written:
// `features.ts` has told the client. Which models accept which of it is the provider adapter's knowledge.
import { GatewayError } from '../../core/errors.ts'
import type { JsonObject } from '../../core/json.ts'
import { defined } from '../../core/json.ts'
import type { CanonicalRequest, Conversation, Effort, Reasoning } from '../../core/request.ts'
import { nearestEffort } from '../effort.ts'
import { thinksInMessages } from '../features.ts'
import { encodeCacheMark, withFewCacheMarks } from './cache-marks.ts'
import { claudeOf } from './claude.ts'
import { adaptSchema, describedSchema } from '../schema-adapt.ts'
import { encodeToolChoice, encodeTools } from './tools-encode.ts'
import { encodeTurns } from './turns-encode.ts'

export function encodeRequest(request: CanonicalRequest): JsonObject {
  if (request.kind !== 'chat') {
    throw new GatewayError('wrong_model_kind', `${request.model} does not make embeddings`)
  }
  return encodeConversation(withFewCacheMarks(request))
}

function encodeConversation(request: Conversation): JsonObject {
  const { system, messages } = encodeTurns(request)
  const tools = encodeTools(request)
  const { endUser } = request
  return defined({
    model: request.model,
    max_tokens: request.outputTokensMax,
    stream: request.stream ? true : undefined,
    system: system.length === 0 ? undefined : system,
    messages,
    tools: tools.length === 0 ? undefined : tools,
    tool_choice: tools.length === 0 ? undefined : encodeToolChoice(request),
    thinking: encodeThinking(request),
    output_config: encodeOutputConfig(request),
    ...encodeSampling(request),
    metadata: endUser === undefined ? undefined : { user_id: endUser },
    service_tier: encodeServiceTier(request.serviceTier),
    cache_control: encodeCacheMark(request.cache),
  })
}

const BUDGET_TOKENS_MIN = 1024
const DISPLAYS = { summary: 'summarized', omitted: 'omitted' } as const

/** A budget where the client set one, else as much thinking as the model finds right for the effort. */
function encodeThinking(request: Conversation): JsonObject | undefined {
  const { reasoning, outputTokensMax = Infinity } = request
  const { thinks, isAdaptive, takesDisabled } = claudeOf(request)
  if (reasoning === undefined || !thinks) return undefined
  if (reasoning.effort === 'none') return takesDisabled ? { type: 'disabled' } : undefined
  if (!thinksInMessages(request)) return undefined
  const display = reasoning.display && DISPLAYS[reasoning.display]
  const tokensMax = reasoning.tokensMax ?? (isAdaptive ? undefined : budgetOf(reasoning))
  if (tokensMax === undefined) return defined({ type: 'adaptive', display })
  // The budget is part of the output limit and must leave room for an answer.
  const budget = Math.min(tokensMax, outputTokensMax - 1)
  if (budget < BUDGET_TOKENS_MIN) return undefined
  return defined({ type: 'enabled', budget_tokens: budget, display })
}

/** What `effort.ts` would take for the same effort, and beyond it. */
const BUDGETS: Record<Effort, number> = {
  none: 0,
  minimal: BUDGET_TOKENS_MIN,
  low: BUDGET_TOKENS_MIN,
  medium: 2_048,
  high: 4_096,
  xhigh: 8_192,
  max: 16_384,
}

/** For models that cannot be told an effort. */
function budgetOf({ effort = 'medium' }: Reasoning): number {
  return BUDGETS[effort]
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
  // A model that cannot be kept from thinking does the least it can; all others are kept from it by another word.
  if (asked === undefined || (asked === 'none' && takesDisabled)) return undefined
  return nearestEffort(asked, efforts)
}

function encodeSampling(request: Conversation): JsonObject {
  const { temperature, topP, topK, stop } = request.sampling
  const stop_sequences = stop
  // A model that thinks chooses its own randomness, and newer models take only one of temperature and top_p.
  if (thinksInMessages(request) || !claudeOf(request).takesSampling) return { stop_sequences }
  return {
    temperature: temperature === undefined ? undefined : Math.min(temperature, 1),
    top_p: temperature === undefined ? topP : undefined,
    top_k: topK,
    stop_sequences,
  }
}

/** The other family's `default` is called `standard_only`; every other tier is left to the provider. */
function encodeServiceTier(tier: string | undefined): string | undefined {
  if (tier === undefined) return undefined
  return tier === 'default' ? 'standard_only' : 'auto'
}
