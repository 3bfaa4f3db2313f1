// What a conversation loses on its way to a provider of another format: first the names of all features that some format
// lacks, in each format that has them. Each format lists in its `request-encode.ts` the features that it lacks: what
// happens then, why, and how to tell that a request uses them. Encoders can therefore just leave out what their format
// lacks. What a client's format has and no other is in its `fields.ts`. A test checks `docs/translation.md` against both.
import type { ChatFormat, Format, TargetFormat, UpstreamFormat } from '../../core/endpoints.ts'
import { unsupportedParameter } from '../../core/errors.ts'
import { defined } from '../../core/json.ts'
import type { CanonicalRequest, Conversation, Message, TargetModel } from '../../core/request.ts'
import { cacheMarksIn } from '../../core/request.ts'
import { ignoresEffort, mayReason, reasonsAnyway, takesSampling } from './models.ts'

const TEMPERATURE = {
  chat: 'temperature',
  responses: 'temperature',
  messages: 'temperature',
} as const
const CACHE_MARK = 'prompt_cache_breakpoint'

/** The client's name for each feature, in the formats that have it; the order in which losses are reported. */
export const FEATURES = {
  choices: { chat: 'n' },
  stop: { chat: 'stop', messages: 'stop_sequences' },
  stop_beyond_four: { chat: 'stop', messages: 'stop_sequences' },
  stop_beyond_five: { chat: 'stop', messages: 'stop_sequences' },
  blank_stop: { chat: 'stop' },
  temperature_above_one: TEMPERATURE,
  temperature_while_reasoning: { chat: 'temperature', responses: 'temperature' },
  top_p_while_reasoning: { chat: 'top_p', responses: 'top_p' },
  top_p_beside_temperature: { chat: 'top_p', responses: 'top_p' },
  temperature_of_newer_claude: { chat: 'temperature', responses: 'temperature' },
  top_p_of_newer_claude: { chat: 'top_p', responses: 'top_p' },
  temperature_of_reasoner: TEMPERATURE,
  top_p_of_reasoner: { chat: 'top_p', responses: 'top_p', messages: 'top_p' },
  logprobs_of_reasoner: { chat: 'logprobs', responses: 'top_logprobs' },
  top_k: { messages: 'top_k' },
  frequency_penalty: { chat: 'frequency_penalty', responses: 'frequency_penalty' },
  presence_penalty: { chat: 'presence_penalty', responses: 'presence_penalty' },
  seed: { chat: 'seed' },
  logit_bias: { chat: 'logit_bias' },
  logprobs: { chat: 'logprobs', responses: 'top_logprobs' },
  verbosity: { chat: 'verbosity', responses: 'text.verbosity' },
  metadata: { chat: 'metadata', responses: 'metadata' },
  cache_key: { chat: 'prompt_cache_key', responses: 'prompt_cache_key' },
  cache_marks: { chat: CACHE_MARK, responses: CACHE_MARK, messages: 'cache_control' },
  cache_marks_beyond_four: { chat: CACHE_MARK, responses: CACHE_MARK },
  end_user: { chat: 'user', responses: 'user', messages: 'metadata.user_id' },
  participant_name: { chat: 'messages.name' },
  audio: { chat: 'messages.content.input_audio', responses: 'input.content.input_audio' },
  image_detail: { chat: 'image_url.detail', responses: 'input_image.detail' },
  image_url: {
    chat: 'image_url.url',
    responses: 'input_image.image_url',
    messages: 'image.source.url',
  },
  single_tool_call: {
    chat: 'parallel_tool_calls',
    responses: 'parallel_tool_calls',
    messages: 'tool_choice.disable_parallel_tool_use',
  },
  file_url: { responses: 'input_file.file_url', messages: 'document.source.url' },
  file_beyond_documents: {
    chat: 'messages.content.file',
    responses: 'input.content.input_file',
    messages: 'document.source',
  },
  forced_tool: { chat: 'tool_choice', responses: 'tool_choice' },
  forbidden_tools: { chat: 'tool_choice', responses: 'tool_choice', messages: 'tool_choice' },
  strict_tool: {
    chat: 'tools.function.strict',
    responses: 'tools.strict',
    messages: 'tools.strict',
  },
  tool_input_format: { chat: 'tools.custom.format', responses: 'tools.format' },
  file_beyond_pdf: { chat: 'messages.content.file', responses: 'input.content.input_file' },
  reasoning_before_forced_tool: { chat: 'reasoning_effort', responses: 'reasoning.effort' },
  reasoning_within_small_limit: { chat: 'reasoning_effort', responses: 'reasoning' },
  reasoning_in_unreasoned_turn: { chat: 'reasoning_effort', responses: 'reasoning' },
  effort_beside_budget: { messages: 'output_config.effort' },
  reasoning_budget: { messages: 'thinking.budget_tokens' },
  reasoning_display: { responses: 'reasoning.summary', messages: 'thinking.display' },
  foreign_reasoning: {
    chat: 'messages.reasoning_details',
    responses: 'input.reasoning',
    messages: 'messages.content.thinking',
  },
  reasoning: { chat: 'reasoning_effort', responses: 'reasoning', messages: 'thinking' },
  reasoning_off: { chat: 'reasoning_effort', responses: 'reasoning', messages: 'thinking' },
  unasked_reasoning: { messages: 'thinking' },
  schema_name: { chat: 'response_format.json_schema.name', responses: 'text.format.name' },
  // The keyword takes the place of the dots.
  schema_constraints: {
    chat: 'response_format.json_schema.schema.…',
    responses: 'text.format.schema.…',
    messages: 'output_config.format.schema.…',
  },
  tool_constraints: { chat: 'tools.function.parameters.…', responses: 'tools.parameters.…' },
  loose_schema: { messages: 'output_config.format' },
} as const satisfies Record<string, Partial<Record<ChatFormat, string>>>

export type Feature = keyof typeof FEATURES

const FEATURE_NAMES = Object.keys(FEATURES) as readonly Feature[]

/** What the clients of each format call citations in an answer, the only part of one that may be lost. */
export const CITATIONS: Record<Format, string> = {
  chat: 'choices.message.annotations',
  responses: 'output.content.annotations',
  messages: 'content.citations',
  embeddings: 'citations',
}

/** The client's name for what the provider calls `name`; undefined = the client's format lacks it and never sent it. */
export function clientName(
  name: string,
  { from, to }: { readonly from: UpstreamFormat; readonly to: Format },
): string | undefined {
  if (from === to) return name
  const all: readonly Partial<Record<string, string>>[] = Object.values(FEATURES)
  const names = all.find((each) => each[from] === name)
  return names === undefined ? name : names[to]
}

export type Losses = Readonly<Partial<Record<Feature, Loss>>>

type Loss = {
  /** drop = the request goes on without it and the client is told; refuse = a 400 that names it. */
  readonly rule: 'drop' | 'refuse'
  readonly why: string
  readonly isUsed: Uses
}

/** Whether a request to the provider's model uses a feature; of keywords in schemas, which ones. */
type Uses = (request: Conversation) => boolean | readonly string[]

/** What the request loses, by the client's own names, or a refusal that names the field. */
export function lossesOf(
  request: CanonicalRequest,
  client: Format,
  target: TargetModel & { readonly losses: Losses },
): string[] {
  const dropped = new Set(request.dropped)
  if (request.kind !== 'chat') return [...dropped]
  const told: Conversation = defined({ ...request, model: target.model, traits: target.traits })
  for (const feature of FEATURE_NAMES) {
    const loss = target.losses[feature]
    const used = loss?.isUsed(told) ?? false
    const keywords = typeof used === 'boolean' ? (used ? [''] : []) : used
    if (loss === undefined || keywords.length === 0) continue
    const names: Partial<Record<Format, string>> = FEATURES[feature]
    const name = names[client]
    if (loss.rule === 'refuse') {
      throw unsupportedParameter(
        name ?? feature,
        `${name ?? feature} cannot be used with the model ${request.model}: ${loss.why} in the format its provider speaks`,
      )
    }
    // A feature that the client's format lacks was added by its decoder: the client never sent it.
    if (name === undefined) continue
    for (const keyword of keywords) dropped.add(name.replace('…', keyword))
  }
  return [...dropped]
}

export function drop(why: string, isUsed: Uses): Loss {
  return { rule: 'drop', why, isUsed }
}

export function refuse(why: string, isUsed: Uses): Loss {
  return { rule: 'refuse', why, isUsed }
}

/** These losses, as most formats have them. */
export function usual(...features: readonly (keyof typeof USUAL)[]): Losses {
  return Object.fromEntries(features.map((feature) => [feature, USUAL[feature]]))
}

/** One of them, for another reason, or used in other cases. */
export function usualBut(feature: keyof typeof USUAL, difference: Partial<Loss>): Losses {
  return { [feature]: { ...USUAL[feature], ...difference } }
}

/** The reasoning of another format's provider. */
export function foreignReasoning(format: TargetFormat): Losses {
  const isForeign = (part: Part): boolean =>
    part.type === 'reasoning' && part.opaque?.format !== format
  return {
    foreign_reasoning: drop(
      'reasoning can be returned only to the provider that made it',
      hasPart(isForeign),
    ),
  }
}

type Part = Message['parts'][number]

export function hasPart(isMeant: (part: Part) => boolean): (request: Conversation) => boolean {
  return ({ messages }) =>
    messages.some(({ parts }: { readonly parts: readonly Part[] }) => parts.some(isMeant))
}

/** Whether a field differs from its default, which many clients send explicitly. */
export function differs<Value>(value: Value | undefined, usualValue: Value): boolean {
  return value !== undefined && value !== usualValue
}

function isEmpty(entries: object = {}): boolean {
  return Object.keys(entries).length === 0
}

const NO_SETTING = 'there is no such setting'
const NO_FIELD = 'there is no field for it; it is kept in the usage record'
const REASONERS =
  'OpenAI’s reasoning models choose it themselves, since GPT-5.1 only while they reason'

/** What several formats lack alike. */
export const USUAL = {
  choices: refuse('only one answer can be requested', ({ choices }) => choices > 1),
  stop_beyond_four: refuse(
    'at most four stop sequences can be sent',
    ({ sampling }) => (sampling.stop?.length ?? 0) > 4,
  ),
  temperature_above_one: drop(
    'the temperature is lowered to 1, the highest there is',
    ({ sampling }) => (sampling.temperature ?? 0) > 1,
  ),
  temperature_of_reasoner: drop(
    REASONERS,
    (request) => differs(request.sampling.temperature, 1) && !takesSampling(request),
  ),
  top_p_of_reasoner: drop(
    REASONERS,
    (request) => differs(request.sampling.topP, 1) && !takesSampling(request),
  ),
  logprobs_of_reasoner: drop(
    REASONERS,
    (request) => request.sampling.logprobs !== undefined && !takesSampling(request),
  ),
  top_k: drop(NO_SETTING, ({ sampling }) => sampling.topK !== undefined),
  frequency_penalty: drop(NO_SETTING, ({ sampling }) => differs(sampling.frequencyPenalty, 0)),
  presence_penalty: drop(NO_SETTING, ({ sampling }) => differs(sampling.presencePenalty, 0)),
  seed: drop(NO_SETTING, ({ sampling }) => sampling.seed !== undefined),
  logit_bias: drop(NO_SETTING, ({ sampling }) => !isEmpty(sampling.logitBias)),
  logprobs: drop(
    'probabilities are not reported',
    ({ sampling }) => sampling.logprobs !== undefined,
  ),
  verbosity: drop(NO_SETTING, ({ verbosity }) => differs(verbosity, 'medium')),
  metadata: drop(NO_FIELD, ({ metadata }) => !isEmpty(metadata)),
  cache_key: drop('the provider chooses where it caches', ({ cacheKey }) => cacheKey !== undefined),
  cache_marks: drop('the provider chooses what it caches', (request) => cacheMarksIn(request) > 0),
  end_user: drop(
    'there is no field for it, under any name; it is kept in the usage record',
    ({ endUser }) => endUser !== undefined,
  ),
  participant_name: drop('messages carry no names', ({ messages }) =>
    messages.some((message) => 'name' in message && message.name !== undefined),
  ),
  audio: refuse(
    'there is no audio input',
    hasPart(({ type }) => type === 'audio'),
  ),
  image_detail: drop(
    NO_SETTING,
    hasPart((part) => part.type === 'image' && differs(part.detail, 'auto')),
  ),
  single_tool_call: drop(
    'a model may call any number of tools at once',
    ({ parallelToolCalls, tools }) => parallelToolCalls === false && tools.length > 0,
  ),
  file_url: refuse(
    'files cannot be sent by URL',
    hasPart((part) => part.type === 'file' && part.source.type === 'url'),
  ),
  strict_tool: drop('no model is bound to the schema of a tool', ({ tools }) =>
    tools.some((tool) => tool.type === 'function' && tool.strict === true),
  ),
  tool_input_format: drop('the format is given in the tool’s description instead', ({ tools }) =>
    tools.some((tool) => tool.type === 'custom' && differs(tool.inputFormat?.['type'], 'text')),
  ),
  reasoning_budget: drop(
    'it is turned into the nearest reasoning effort',
    ({ reasoning }) => reasoning?.tokensMax !== undefined,
  ),
  reasoning_display: drop(
    'the provider decides how reasoning is shown',
    ({ reasoning }) => reasoning?.display !== undefined,
  ),
  reasoning: drop('only a reasoning model takes it', ignoresEffort),
  reasoning_off: drop(
    'a model that cannot be stopped from reasoning reasons as little as it can',
    reasonsAnyway,
  ),
  unasked_reasoning: drop(
    'a model may reason, but a client that does not ask for reasoning is shown none',
    (request) => request.hidesReasoning === true && mayReason(request),
  ),
  schema_name: drop(
    'schemas have no names',
    ({ outputFormat }) => outputFormat?.type === 'json-schema',
  ),
  loose_schema: drop(
    'the model reads every schema, but is bound only to closed objects without optional properties',
    ({ outputFormat }) => outputFormat?.type === 'json-schema' && outputFormat.strict !== true,
  ),
} satisfies Losses
