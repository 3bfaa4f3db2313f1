// What a request loses on its way to a target: the features it uses, checked against the table of what the target's
// format cannot express.
import type { ChatFormat, TargetFormat } from '../core/endpoints.ts'
import { unsupportedParameter } from '../core/errors.ts'
import { defined } from '../core/json.ts'
import type { Conversation, FilePart, Message, ModelTraits } from '../core/request.ts'
import { marksIn } from './content/caching.ts'
import { isTextType } from './content/media.ts'
import { unenforcedByGemini, unenforcedIn } from './content/schemas.ts'
import { takesCustomTools } from './content/tools.ts'
import type { Feature } from './contract/features.ts'
import { FEATURES, LOSSES } from './contract/features.ts'
import {
  canBeKeptFromThinking,
  canBeToldEffort,
  documentFormat,
} from './converse/request-encode.ts'
import { calledTools } from './converse/tools.ts'
import { CACHE_MARKS_MAX, hindranceOf, thinksAsAsked } from './messages/request-encode.ts'
import { isForcedInWords } from './messages/tools.ts'
import { claudeOf } from './models/claude.ts'
import { asksForThinking, effortOf, isPlain, takesSampling, toldEffort } from './models/effort.ts'
import type { Thinker } from './models/effort.ts'
import { geminiOf, takesUrl } from './models/gemini.ts'
import { openAiOf } from './models/openai.ts'

/** The model that is called, by its provider's name for it, and the format in which it is called. */
export type Listener = {
  readonly format: TargetFormat
  readonly model: string
  readonly traits?: ModelTraits
}

/**
 * What the request loses on its way to `target`, by the client's own names, or a refusal that names the field. Encoders
 * can therefore just leave out what their format lacks.
 */
export function lossesOf(request: Conversation, client: ChatFormat, target: Listener): string[] {
  const dropped = new Set(request.dropped)
  for (const feature of featuresOf(request, target)) {
    const loss = LOSSES[target.format][feature]
    if (loss === undefined) continue
    const names: Partial<Record<ChatFormat, string>> = FEATURES[feature]
    const name = names[client]
    if (loss.rule === 'refuse') {
      throw unsupportedParameter(
        name ?? feature,
        `${name ?? feature} cannot be used with the model ${request.model}: ${loss.why} in the format its provider speaks`,
      )
    }
    // A feature that the client's format lacks was added by its decoder: the client never sent it.
    if (name === undefined) continue
    for (const keyword of constraintsIn(request, feature, target.format)) {
      dropped.add(name.replace('…', keyword))
    }
  }
  return [...dropped]
}

/** The keywords of its schemas that a request loses; for all other features, one name that is not used. */
function constraintsIn(
  { outputFormat, tools }: Conversation,
  feature: Feature,
  format: TargetFormat,
): readonly string[] {
  if (feature !== 'schema_constraints' && feature !== 'tool_constraints') return ['']
  if (LOSSES[format][feature] === undefined) return []
  if (feature === 'tool_constraints') {
    return tools.flatMap((tool) =>
      tool.type === 'function' && tool.strict === true ? unenforcedIn(tool.schema) : [],
    )
  }
  if (outputFormat?.type !== 'json-schema') return []
  const { schema } = outputFormat
  return format === 'gemini' ? unenforcedByGemini(schema) : unenforcedIn(schema)
}

/** The features a request uses. */
export function featuresOf(request: Conversation, target: Listener): Feature[] {
  const { sampling, messages, outputFormat } = request
  const parts = messages.flatMap((message): readonly Part[] => message.parts)
  const told: Conversation = defined({ ...request, model: target.model, traits: target.traits })
  const claude = claudeOf(told)
  const isClaudes = target.format === 'messages'
  const thinks = isClaudes && thinksAsAsked(told)
  const isFree = takesSampling(told)
  const uses: Record<Feature, boolean> = {
    choices: request.choices > 1,
    stop: sampling.stop !== undefined,
    stop_beyond_four: (sampling.stop?.length ?? 0) > 4,
    stop_beyond_five: (sampling.stop?.length ?? 0) > 5,
    blank_stop: sampling.stop?.some((text) => text.trim() === '') ?? false,
    temperature_above_one: (sampling.temperature ?? 0) > 1,
    temperature_while_thinking: thinks && differs(sampling.temperature, 1),
    top_p_while_thinking: thinks && differs(sampling.topP, 1),
    top_p_beside_temperature: differs(sampling.topP, 1) && sampling.temperature !== undefined,
    temperature_of_newer_claude: !claude.takesSampling && differs(sampling.temperature, 1),
    top_p_of_newer_claude: !claude.takesSampling && differs(sampling.topP, 1),
    temperature_of_reasoner: !isFree && differs(sampling.temperature, 1),
    top_p_of_reasoner: !isFree && differs(sampling.topP, 1),
    logprobs_of_reasoner: !isFree && sampling.logprobs !== undefined,
    top_k: sampling.topK !== undefined,
    frequency_penalty: differs(sampling.frequencyPenalty, 0),
    presence_penalty: differs(sampling.presencePenalty, 0),
    seed: sampling.seed !== undefined,
    logit_bias: !isEmpty(sampling.logitBias),
    logprobs: sampling.logprobs !== undefined,
    verbosity: differs(request.verbosity, 'medium'),
    metadata: !isEmpty(request.metadata),
    cache_key: request.cacheKey !== undefined,
    cache_marks: marksIn(request) > 0,
    cache_marks_beyond_four: marksIn(request) > CACHE_MARKS_MAX,
    end_user: request.endUser !== undefined,
    participant_name: messages.some((message) => 'name' in message && message.name !== undefined),
    audio: parts.some((part) => part.type === 'audio'),
    image_detail: parts.some((part) => part.type === 'image' && differs(part.detail, 'auto')),
    image_url: parts.some((part) => part.type === 'image' && isOutOfReach(part.source, target)),
    single_tool_call: request.parallelToolCalls === false && request.tools.length > 0,
    file_url: parts.some((part) => part.type === 'file' && isOutOfReach(part.source, target)),
    file_beyond_documents: parts.some(
      (part) => part.type === 'file' && documentFormat(part.source) === undefined,
    ),
    forced_tool: isForcedInWords(told),
    forbidden_tools: request.toolChoice?.type === 'none' && calledTools(request).length > 0,
    strict_tool: request.tools.some((tool) => tool.type === 'function' && tool.strict === true),
    tool_input_format:
      !(target.format === 'chat' && takesCustomTools(told)) &&
      request.tools.some(
        (tool) => tool.type === 'custom' && differs(tool.inputFormat?.['type'], 'text'),
      ),
    file_beyond_pdf: parts.some((part) => part.type === 'file' && !isPdfOrText(part)),
    ...thinkingUses(told, parts, target.format),
    schema_name: outputFormat?.type === 'json-schema',
    schema_constraints: constraintsIn(request, 'schema_constraints', target.format).length > 0,
    tool_constraints: constraintsIn(request, 'tool_constraints', target.format).length > 0,
    loose_schema: outputFormat?.type === 'json-schema' && outputFormat.strict !== true,
  }
  return (Object.keys(uses) as Feature[]).filter((feature) => uses[feature])
}

type ThinkingFeature =
  | 'thinking_before_forced_tool'
  | 'thinking_within_small_limit'
  | 'thinking_in_unthinking_turn'
  | 'effort_beside_budget'
  | 'thinking_budget'
  | 'thinking_display'
  | 'foreign_thinking'
  | 'reasoning'
  | 'thinking_off'
  | 'unasked_thoughts'

/** Those that ask for thoughts, or carry some back. */
function thinkingUses(
  told: Conversation,
  parts: readonly Part[],
  format: TargetFormat,
): Record<ThinkingFeature, boolean> {
  const { reasoning } = told
  const hindrance = format === 'messages' ? hindranceOf(told) : undefined
  return {
    thinking_before_forced_tool: hindrance === 'forced tool',
    thinking_within_small_limit: hindrance === 'small limit',
    thinking_in_unthinking_turn: hindrance === 'unthinking turn',
    effort_beside_budget: reasoning?.effort !== undefined && reasoning.tokensMax !== undefined,
    thinking_budget: reasoning?.tokensMax !== undefined,
    thinking_display: reasoning?.display !== undefined,
    foreign_thinking: parts.some(
      (part) => part.type === 'thinking' && part.seal?.format !== format,
    ),
    reasoning: isDeafToEffort(told, format),
    thinking_off: thinksAnyway(told, format),
    unasked_thoughts: told.hidesThoughts === true && mayThink(told, format),
  }
}

/** Whether a field differs from its default, which many clients send explicitly. */
function differs<Value>(value: Value | undefined, usual: Value): boolean {
  return value !== undefined && value !== usual
}

function isEmpty(entries: object = {}): boolean {
  return Object.keys(entries).length === 0
}

type Part = Message['parts'][number]

/** Whether it is at a URL from which the target would have to fetch it, and does not. */
function isOutOfReach(source: FilePart['source'], { format, model }: Listener): boolean {
  return source.type === 'url' && !(format === 'gemini' && takesUrl(model, source.url))
}

/** Whether a file can be a document of the messages format: a PDF, or any kind of text. */
function isPdfOrText({ source }: FilePart): boolean {
  if (source.type !== 'base64' || source.mediaType === 'application/pdf') return true
  return isTextType(source.mediaType)
}

/** Whether a request for thinking, or for a certain effort, has no effect on the model. */
function isDeafToEffort(thinker: Thinker, format: TargetFormat): boolean {
  if (!asksForThinking(thinker)) return false
  switch (format) {
    case 'chat':
    case 'responses': {
      const asked = effortOf(thinker.reasoning)
      return isPlain(thinker) || (asked !== undefined && toldEffort(thinker) === undefined)
    }
    case 'messages':
      return !claudeOf(thinker).thinks
    case 'gemini':
      return !geminiOf(thinker).thinks
    case 'converse':
      return !canBeToldEffort(thinker.model)
  }
}

/** Whether a model may think, although nothing says that it must. */
function mayThink(thinker: Thinker, format: TargetFormat): boolean {
  if (thinker.reasoning?.effort === 'none') return thinksAnyway(thinker, format)
  if (thinker.traits?.reasons === false) return false
  switch (format) {
    case 'chat':
    case 'responses':
      if (isPlain(thinker)) return false
      return asksForThinking(thinker) || (openAiOf(thinker)?.reasonsUnasked ?? true)
    case 'messages':
      return asksForThinking(thinker) && claudeOf(thinker).thinks
    case 'gemini':
      return geminiOf(thinker).thinks
    case 'converse':
      return thinker.traits?.reasons === true || canBeToldEffort(thinker.model)
  }
}

/** Whether a model that is asked not to think may think anyway. */
function thinksAnyway(thinker: Thinker, format: TargetFormat): boolean {
  if (thinker.reasoning?.effort !== 'none' || thinker.traits?.reasons === false) return false
  switch (format) {
    case 'chat':
    case 'responses':
      return !isPlain(thinker) && toldEffort(thinker) !== 'none'
    case 'messages': {
      const { thinks, takesDisabled } = claudeOf(thinker)
      return thinks && !takesDisabled
    }
    case 'gemini': {
      const { thinks, takesDisabled } = geminiOf(thinker)
      return thinks && !takesDisabled
    }
    case 'converse':
      return !canBeKeptFromThinking(thinker.model)
  }
}
