// A canonical request as a messages provider expects it. What the format cannot express, or the model does not accept
// (`contract/models.ts`), is left out, and listed in `MESSAGES_LOSSES`.
import assert from 'node:assert/strict'
import type { JsonObject } from '../../core/json.ts'
import { defined } from '../../core/json.ts'
import type {
  Cached,
  CacheMark,
  CanonicalRequest,
  Conversation,
  Effort,
  FilePart,
  ImagePart,
  Message,
  ReasoningPart,
  ToolCallPart,
  ToolMessage,
} from '../../core/request.ts'
import { cacheMarksIn, isCacheMarked } from '../../core/request.ts'
import { isTextType } from '../content/media.ts'
import {
  adaptSchema,
  describedSchema,
  unenforcedIn,
  unenforcedInAnswer,
} from '../content/schemas.ts'
import { allowedFunctions, toolInput, forcesTool, withUniqueCallIds } from '../content/tools.ts'
import { JSON_ONLY, NO_CONTENT, takeTurns } from '../content/turns.ts'
import type { Turn } from '../content/turns.ts'
import type { Losses } from '../contract/losses.ts'
import {
  differs,
  drop,
  foreignReasoning,
  hasPart,
  refuse,
  usual,
  usualBut,
} from '../contract/losses.ts'
import { lifetimeOf } from '../contract/measure.ts'
import {
  asksForNoReasoning,
  asksForReasoning,
  claudeOf,
  nearestEffort,
} from '../contract/models.ts'
import { goesOnUnreasoned } from './call.ts'
import {
  encodeTool,
  encodeToolChoice,
  forcingWords,
  isForcedInWords,
  plainCallId,
} from './tools.ts'

export function encodeRequest(asked: CanonicalRequest): JsonObject {
  assert(asked.kind === 'chat')
  const request = withFewCacheMarks(asked)
  const { system, messages } = encodeTurns(request)
  const tools = allowedFunctions(request).map((tool) =>
    defined({ ...encodeTool(tool), cache_control: encodeCacheMark(tool.cache) }),
  )
  const thinking = encodeReasoning(request)
  const isReasoning = thinking !== undefined && thinking['type'] !== 'disabled'
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
    ...encodeSampling(request, isReasoning),
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
  // A model whose reasoning cannot be turned off gets its lowest effort instead; for all others `thinking` is disabled.
  if (asked === undefined || (asked === 'none' && takesDisabled)) return undefined
  return nearestEffort(asked, efforts)
}

function encodeSampling(request: Conversation, isReasoning: boolean): JsonObject {
  const { temperature, topP, topK, stop } = request.sampling
  const stop_sequences = stop
  // A model that reasons chooses its own sampling, and newer models accept only one of temperature and top_p.
  if (isReasoning || !claudeOf(request).takesSampling) return { stop_sequences }
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

const BUDGET_TOKENS_MIN = 1024
const DISPLAYS = { summary: 'summarized', omitted: 'omitted' } as const

function encodeReasoning(request: Conversation): JsonObject | undefined {
  const { reasoning } = request
  const { reasons, takesDisabled } = claudeOf(request)
  if (reasoning === undefined || !reasons) return undefined
  if (reasoning.effort === 'none') return takesDisabled ? { type: 'disabled' } : undefined
  if (hindranceOf(request) !== undefined) return undefined
  const display = reasoning.display && DISPLAYS[reasoning.display]
  const budget = budgetOf(request)
  return budget === undefined
    ? defined({ type: 'adaptive', display })
    : defined({ type: 'enabled', budget_tokens: budget, display })
}

/** Whether reasoning is requested and possible. */
function reasonsAsAsked(request: Conversation): boolean {
  return couldReason(request) && hindranceOf(request) === undefined
}

/** What prevents requested reasoning in a model that can reason. */
type Hindrance = 'forced tool' | 'small limit' | 'unreasoned turn'

export function hindranceOf(request: Conversation): Hindrance | undefined {
  if (!couldReason(request)) return undefined
  if (forcesTool(request) && !isForcedInWords(request)) return 'forced tool'
  const budget = budgetOf(request)
  if (budget === undefined) return undefined
  if (budget < BUDGET_TOKENS_MIN) return 'small limit'
  return goesOnUnreasoned(encodeTurns(request).messages) ? 'unreasoned turn' : undefined
}

function couldReason(request: Conversation): boolean {
  return asksForReasoning(request) && claudeOf(request).reasons
}

/** The thresholds of `contract/models.ts`, and larger budgets above `high`. */
const BUDGETS: Record<Effort, number> = {
  none: 0,
  minimal: BUDGET_TOKENS_MIN,
  low: BUDGET_TOKENS_MIN,
  medium: 2_048,
  high: 4_096,
  xhigh: 8_192,
  max: 16_384,
}

/** The client's budget, or one from the effort for models that are not adaptive. It must leave room for an answer. */
function budgetOf(request: Conversation): number | undefined {
  const { reasoning = {}, outputTokensMax = Infinity } = request
  const { effort = 'medium', tokensMax } = reasoning
  const tokens = tokensMax ?? (claudeOf(request).isAdaptive ? undefined : BUDGETS[effort])
  return tokens === undefined ? undefined : Math.min(tokens, outputTokensMax - 1)
}

function encodeTurns(request: Conversation) {
  const { system, turns } = takeTurns(withUniqueCallIds(request.messages), {
    blocks: ({ parts }) => encodeParts(parts),
    result: encodeResult,
  })
  if (request.outputFormat?.type === 'json') system.push(textBlock(JSON_ONLY))
  const forcing = forcingWords(request)
  if (forcing !== undefined) system.push(textBlock(forcing))
  return {
    system,
    messages: turns.map((turn, index) => encodeTurn(turn, index === turns.length - 1)),
  }
}

function encodeResult(message: ToolMessage): JsonObject {
  const content = encodeParts(message.parts)
  return defined({
    type: 'tool_result',
    tool_use_id: plainCallId(message.callId),
    content: content.length === 0 ? undefined : content,
    is_error: message.isError,
    cache_control: encodeCacheMark(message.cache),
  })
}

function encodeTurn({ role, results, blocks }: Turn, isLast: boolean): JsonObject {
  const content = [...results, ...blocks]
  const last = content.at(-1)
  // A final assistant turn is the beginning of the answer, and may not end in white space.
  if (isLast && role === 'assistant' && typeof last?.['text'] === 'string') {
    content[content.length - 1] = { ...last, text: last['text'].trimEnd() }
  }
  return { role, content: content.length === 0 ? [textBlock(NO_CONTENT)] : content }
}

function textBlock(text: string): JsonObject {
  return { type: 'text', text }
}

type Part = Message['parts'][number]

/** Blank texts are left out: providers refuse them. */
function encodeParts(parts: readonly Part[]): JsonObject[] {
  return parts.map(encodePart).filter((block) => block !== undefined)
}

function encodePart(part: Part): JsonObject | undefined {
  switch (part.type) {
    case 'text':
      return encodeText(part.text, encodeCacheMark(part.cache))
    case 'refusal':
      return encodeText(part.text, undefined)
    case 'image': {
      const cache_control = encodeCacheMark(part.cache)
      return defined({ type: 'image', source: encodeSource(part.source), cache_control })
    }
    case 'file': {
      const { source, name: title, cache } = part
      const cache_control = encodeCacheMark(cache)
      return defined({ type: 'document', source: encodeFileSource(source), title, cache_control })
    }
    case 'reasoning':
      return encodeReasoningPart(part)
    case 'tool-call':
      return encodeToolCall(part)
    case 'audio':
      return undefined
  }
}

function encodeText(text: string, cache_control: JsonObject | undefined): JsonObject | undefined {
  return text.trim() === '' ? undefined : defined({ type: 'text', text, cache_control })
}

function encodeFileSource(source: FilePart['source']): JsonObject {
  if (source.type === 'text') return plainText(source.text)
  const isText = source.type === 'base64' && isTextType(source.mediaType)
  return isText ? plainText(Buffer.from(source.data, 'base64').toString()) : encodeSource(source)
}

function plainText(data: string): JsonObject {
  return { type: 'text', media_type: 'text/plain', data }
}

function encodeSource(source: ImagePart['source']): JsonObject {
  if (source.type === 'url') return { type: 'url', url: source.url }
  return { type: 'base64', media_type: source.mediaType, data: source.data }
}

/** A provider takes back only its own reasoning. */
function encodeReasoningPart({ text, opaque }: ReasoningPart): JsonObject | undefined {
  if (opaque?.format !== 'messages') return undefined
  return opaque.kind === 'redacted'
    ? { type: 'redacted_thinking', data: opaque.value }
    : { type: 'thinking', thinking: text, signature: opaque.value }
}

function encodeToolCall(call: ToolCallPart): JsonObject {
  return defined({
    type: 'tool_use',
    id: plainCallId(call.id),
    name: call.name,
    input: toolInput(call),
    cache_control: encodeCacheMark(call.cache),
  })
}

function encodeCacheMark(mark: CacheMark | undefined): JsonObject | undefined {
  if (mark === undefined) return undefined
  // Same price class as the client's lifetime, because that is what the hold covers.
  const isLong = lifetimeOf(mark.ttl, 'cache_control.ttl') === 'long'
  return isLong ? { type: 'ephemeral', ttl: '1h' } : { type: 'ephemeral' }
}

const CACHE_MARKS_MAX = 4

/** Other formats allow more marks. The last ones cover the most of the prompt, so the first ones are removed. */
function withFewCacheMarks(request: Conversation): Conversation {
  let surplus = cacheMarksIn(request) - CACHE_MARKS_MAX
  if (surplus <= 0) return request
  const thin = <Holder extends Cached>(holder: Holder): Holder => {
    if (surplus <= 0 || !isCacheMarked(holder)) return holder
    surplus--
    const { cache: _, ...rest } = holder
    return rest as Holder
  }
  return {
    ...request,
    tools: request.tools.map(thin),
    messages: request.messages.map((message) =>
      thin({ ...message, parts: (message.parts as readonly Cached[]).map(thin) } as Message),
    ),
  }
}

// What a messages provider, and each of its Claude models, cannot be sent.

const NEWER_CLAUDE = 'Opus since 4.7 and all others since 5 take none'
const DESCRIBED = 'no model is bound to it; it is in the description instead'

export const MESSAGES_LOSSES: Losses = {
  ...usual('choices', 'temperature_above_one', 'frequency_penalty', 'presence_penalty', 'seed'),
  ...usual('logit_bias', 'logprobs', 'verbosity', 'metadata', 'cache_key', 'participant_name'),
  ...usual('audio', 'image_detail', 'tool_input_format', 'schema_name'),
  ...foreignReasoning('messages'),
  blank_stop: refuse('a stop sequence must contain more than white space', ({ sampling }) =>
    (sampling.stop ?? []).some((text) => text.trim() === ''),
  ),
  temperature_while_reasoning: drop(
    'a model that reasons chooses its own temperature',
    (request) => differs(request.sampling.temperature, 1) && reasonsAsAsked(request),
  ),
  top_p_while_reasoning: drop(
    'a model that reasons chooses its own sampling',
    (request) => differs(request.sampling.topP, 1) && reasonsAsAsked(request),
  ),
  top_p_beside_temperature: drop(
    'only one of temperature and top_p can be set',
    ({ sampling }) => differs(sampling.topP, 1) && sampling.temperature !== undefined,
  ),
  temperature_of_newer_claude: drop(
    NEWER_CLAUDE,
    (request) => differs(request.sampling.temperature, 1) && !claudeOf(request).takesSampling,
  ),
  top_p_of_newer_claude: drop(
    NEWER_CLAUDE,
    (request) => differs(request.sampling.topP, 1) && !claudeOf(request).takesSampling,
  ),
  cache_marks_beyond_four: drop(
    'the last four are sent, which cover the most',
    (request) => cacheMarksIn(request) > CACHE_MARKS_MAX,
  ),
  file_beyond_pdf: refuse(
    'only PDF and text files can be read',
    hasPart((part) => part.type === 'file' && !isPdfOrText(part)),
  ),
  forced_tool: drop(
    'Opus and Sonnet since 5.5 and Fable since 5.1 are told in words',
    isForcedInWords,
  ),
  reasoning_before_forced_tool: drop(
    'a model that must call a tool cannot reason first',
    (request) => hindranceIn(request) === 'forced tool',
  ),
  reasoning_within_small_limit: drop(
    'Claude before 4.6 reasons only within more than 1,024 tokens',
    (request) => hindranceIn(request) === 'small limit',
  ),
  reasoning_in_unreasoned_turn: drop(
    'Claude before 4.6 reasons after a call only if it reasoned before it',
    (request) => hindranceIn(request) === 'unreasoned turn',
  ),
  ...usualBut('reasoning', {
    isUsed: (request) => asksForReasoning(request) && !claudeOf(request).reasons,
  }),
  ...usualBut('reasoning_off', { isUsed: reasonsAnyway }),
  schema_constraints: drop(DESCRIBED, unenforcedInAnswer),
  tool_constraints: drop(DESCRIBED, ({ tools }) =>
    tools.flatMap((tool) =>
      tool.type === 'function' && tool.strict === true ? unenforcedIn(tool.schema) : [],
    ),
  ),
}

const hindrances = new WeakMap<Conversation, { readonly is: ReturnType<typeof hindranceOf> }>()

/** Found once for all three: it may have to encode all turns. */
function hindranceIn(request: Conversation): ReturnType<typeof hindranceOf> {
  const known = hindrances.get(request) ?? { is: hindranceOf(request) }
  hindrances.set(request, known)
  return known.is
}

function reasonsAnyway(request: Conversation): boolean {
  const { reasons, takesDisabled } = claudeOf(request)
  return asksForNoReasoning(request) && reasons && !takesDisabled
}

/** Whether a file can be a document of the format: a PDF, or any kind of text. */
function isPdfOrText({ source }: FilePart): boolean {
  if (source.type !== 'base64' || source.mediaType === 'application/pdf') return true
  return isTextType(source.mediaType)
}
