// What one format can express and another cannot. One row per feature, with its name in each format that has it, and
// for each format the features it lacks and what happens then. Translation loses nothing that is not in this table; a
// test checks `docs/translation.md` against it.
import type { ChatFormat, Format, TargetFormat, UpstreamFormat } from '../../core/endpoints.ts'

/** The client's name for each feature, in the formats that have it. */
export const FEATURES = {
  choices: { chat: 'n' },
  stop: { chat: 'stop', messages: 'stop_sequences' },
  stop_beyond_four: { chat: 'stop', messages: 'stop_sequences' },
  stop_beyond_five: { chat: 'stop', messages: 'stop_sequences' },
  blank_stop: { chat: 'stop' },
  temperature_above_one: {
    chat: 'temperature',
    responses: 'temperature',
    messages: 'temperature',
  },
  temperature_while_thinking: { chat: 'temperature', responses: 'temperature' },
  top_p_while_thinking: { chat: 'top_p', responses: 'top_p' },
  top_p_beside_temperature: { chat: 'top_p', responses: 'top_p' },
  temperature_of_newer_claude: { chat: 'temperature', responses: 'temperature' },
  top_p_of_newer_claude: { chat: 'top_p', responses: 'top_p' },
  temperature_of_reasoner: {
    chat: 'temperature',
    responses: 'temperature',
    messages: 'temperature',
  },
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
  cache_marks: {
    chat: 'prompt_cache_breakpoint',
    responses: 'prompt_cache_breakpoint',
    messages: 'cache_control',
  },
  cache_marks_beyond_four: {
    chat: 'prompt_cache_breakpoint',
    responses: 'prompt_cache_breakpoint',
  },
  end_user: { chat: 'user', responses: 'user', messages: 'metadata.user_id' },
  participant_name: { chat: 'messages.name' },
  audio: { chat: 'messages.content.input_audio', responses: 'input.content.input_audio' },
  image_detail: { chat: 'image_url.detail', responses: 'input_image.detail' },
  file_beyond_pdf: { chat: 'messages.content.file', responses: 'input.content.input_file' },
  file_beyond_documents: {
    chat: 'messages.content.file',
    responses: 'input.content.input_file',
    messages: 'document.source',
  },
  image_url: {
    chat: 'image_url.url',
    responses: 'input_image.image_url',
    messages: 'image.source.url',
  },
  file_url: { responses: 'input_file.file_url', messages: 'document.source.url' },
  single_tool_call: {
    chat: 'parallel_tool_calls',
    responses: 'parallel_tool_calls',
    messages: 'tool_choice.disable_parallel_tool_use',
  },
  forced_tool: { chat: 'tool_choice', responses: 'tool_choice' },
  forbidden_tools: { chat: 'tool_choice', responses: 'tool_choice', messages: 'tool_choice' },
  strict_tool: {
    chat: 'tools.function.strict',
    responses: 'tools.strict',
    messages: 'tools.strict',
  },
  tool_input_format: { chat: 'tools.custom.format', responses: 'tools.format' },
  thinking_before_forced_tool: { chat: 'reasoning_effort', responses: 'reasoning.effort' },
  thinking_within_small_limit: { chat: 'reasoning_effort', responses: 'reasoning' },
  thinking_in_unthinking_turn: { chat: 'reasoning_effort', responses: 'reasoning' },
  effort_beside_budget: { messages: 'output_config.effort' },
  thinking_budget: { messages: 'thinking.budget_tokens' },
  thinking_display: { responses: 'reasoning.summary', messages: 'thinking.display' },
  foreign_thinking: {
    chat: 'messages.reasoning_details',
    responses: 'input.reasoning',
    messages: 'messages.content.thinking',
  },
  reasoning: { chat: 'reasoning_effort', responses: 'reasoning', messages: 'thinking' },
  thinking_off: { chat: 'reasoning_effort', responses: 'reasoning', messages: 'thinking' },
  unasked_thoughts: { messages: 'thinking' },
  schema_name: { chat: 'response_format.json_schema.name', responses: 'text.format.name' },
  loose_schema: { messages: 'output_config.format' },
  // The keyword takes the place of the dots.
  schema_constraints: {
    chat: 'response_format.json_schema.schema.…',
    responses: 'text.format.schema.…',
    messages: 'output_config.format.schema.…',
  },
  tool_constraints: { chat: 'tools.function.parameters.…', responses: 'tools.parameters.…' },
} as const satisfies Record<string, Partial<Record<ChatFormat, string>>>

export type Feature = keyof typeof FEATURES

/** drop = the request goes on without it and the client is told; refuse = a 400 that names it. */
export type Loss = { readonly rule: 'drop' | 'refuse'; readonly why: string }

const drop = (why: string): Loss => ({ rule: 'drop', why })
const refuse = (why: string): Loss => ({ rule: 'refuse', why })

const REASONERS =
  'OpenAI’s reasoning models choose it themselves, since GPT-5.1 only while they reason'

const LOOSE =
  'the model reads every schema, but is bound only to closed objects without optional properties'

const URLS = 'Gemini before 2.5 takes nothing by URL, and no model a film'

const DESCRIBED = 'no model is bound to it; it is in the description instead'

const PLAIN = 'only a reasoning model takes it'
const UNASKED = 'a model may think, but a client that does not ask for thoughts is shown none'
const ANYWAY = 'a model that cannot be stopped from thinking thinks as little as it can'

/** What each format cannot express. */
export const LOSSES: Record<TargetFormat, Partial<Record<Feature, Loss>>> = {
  chat: {
    stop_beyond_four: refuse('at most four stop sequences can be sent'),
    temperature_of_reasoner: drop(REASONERS),
    top_p_of_reasoner: drop(REASONERS),
    logprobs_of_reasoner: drop(REASONERS),
    top_k: drop('there is no such setting'),
    metadata: drop('it is accepted only for stored answers; it is kept in the usage record'),
    file_url: refuse('files cannot be sent by URL'),
    tool_input_format: drop(
      'only OpenAI’s models take it; others read it in the tool’s description',
    ),
    cache_marks: drop('the provider chooses what it caches'),
    thinking_budget: drop('it is turned into the nearest reasoning effort'),
    thinking_display: drop('the provider decides how thoughts are shown'),
    foreign_thinking: drop('thoughts can be returned only to the provider that made them'),
    reasoning: drop(PLAIN),
    thinking_off: drop(ANYWAY),
    unasked_thoughts: drop(UNASKED),
    loose_schema: drop(LOOSE),
  },
  responses: {
    choices: refuse('only one answer can be requested'),
    stop: refuse('there are no stop sequences'),
    temperature_of_reasoner: drop(REASONERS),
    top_p_of_reasoner: drop(REASONERS),
    logprobs_of_reasoner: drop(REASONERS),
    top_k: drop('there is no such setting'),
    frequency_penalty: drop('there is no such setting'),
    presence_penalty: drop('there is no such setting'),
    seed: drop('there is no such setting'),
    logit_bias: drop('there is no such setting'),
    participant_name: drop('messages carry no names'),
    audio: refuse('there is no audio input'),
    cache_marks: drop('the provider chooses what it caches'),
    thinking_budget: drop('it is turned into the nearest reasoning effort'),
    foreign_thinking: drop('thoughts can be returned only to the provider that made them'),
    reasoning: drop(PLAIN),
    thinking_off: drop(ANYWAY),
    unasked_thoughts: drop(UNASKED),
    loose_schema: drop(LOOSE),
  },
  messages: {
    choices: refuse('only one answer can be requested'),
    blank_stop: refuse('a stop sequence must contain more than white space'),
    temperature_above_one: drop('the temperature is lowered to 1, the highest there is'),
    temperature_while_thinking: drop('a model that thinks chooses its own temperature'),
    top_p_while_thinking: drop('a model that thinks chooses its own sampling'),
    top_p_beside_temperature: drop('only one of temperature and top_p can be set'),
    temperature_of_newer_claude: drop('Opus since 4.7 and all others since 5 take none'),
    top_p_of_newer_claude: drop('Opus since 4.7 and all others since 5 take none'),
    frequency_penalty: drop('there is no such setting'),
    presence_penalty: drop('there is no such setting'),
    seed: drop('there is no such setting'),
    logit_bias: drop('there is no such setting'),
    logprobs: drop('probabilities are not reported'),
    verbosity: drop('there is no such setting'),
    metadata: drop('there is no field for it; it is kept in the usage record'),
    cache_key: drop('the provider chooses where it caches'),
    cache_marks_beyond_four: drop('the last four are sent, which cover the most'),
    participant_name: drop('messages carry no names'),
    audio: refuse('there is no audio input'),
    image_detail: drop('there is no such setting'),
    file_beyond_pdf: refuse('only PDF and text files can be read'),
    forced_tool: drop('Opus and Sonnet since 5.5 and Fable since 5.1 are told in words'),
    thinking_before_forced_tool: drop('a model that must call a tool cannot think first'),
    thinking_within_small_limit: drop(
      'Claude before 4.6 thinks only within more than 1,024 tokens',
    ),
    thinking_in_unthinking_turn: drop(
      'Claude before 4.6 thinks after a call only if it thought before it',
    ),
    tool_input_format: drop('the format is given in the tool’s description instead'),
    foreign_thinking: drop('thoughts can be returned only to the provider that made them'),
    reasoning: drop(PLAIN),
    thinking_off: drop(ANYWAY),
    schema_name: drop('schemas have no names'),
    schema_constraints: drop(DESCRIBED),
    tool_constraints: drop(DESCRIBED),
  },
  gemini: {
    choices: refuse('only one answer can be requested'),
    stop_beyond_five: refuse('at most five stop sequences can be sent'),
    frequency_penalty: drop('its models have no such setting'),
    presence_penalty: drop('its models have no such setting'),
    logit_bias: drop('there is no such setting'),
    logprobs: drop('probabilities are not reported'),
    verbosity: drop('there is no such setting'),
    metadata: drop('there is no field for it; it is kept in the usage record'),
    cache_key: drop('the provider chooses where it caches'),
    cache_marks: drop('the provider chooses what it caches'),
    end_user: drop('there is no field for it, under any name; it is kept in the usage record'),
    participant_name: drop('messages carry no names'),
    image_detail: drop('there is no such setting'),
    image_url: refuse(URLS),
    file_url: refuse(URLS),
    single_tool_call: drop('a model may call any number of tools at once'),
    strict_tool: drop('no model is bound to the schema of a tool'),
    tool_input_format: drop('the format is given in the tool’s description instead'),
    effort_beside_budget: drop('a thinking budget is sent instead'),
    foreign_thinking: drop('thoughts can be returned only to the provider that made them'),
    reasoning: drop(PLAIN),
    thinking_off: drop(ANYWAY),
    unasked_thoughts: drop(UNASKED),
    schema_name: drop('schemas have no names'),
    schema_constraints: drop('no model is bound to it'),
  },
  converse: {
    choices: refuse('only one answer can be requested'),
    stop_beyond_four: refuse('at most four stop sequences can be sent'),
    temperature_above_one: drop('the temperature is lowered to 1, the highest there is'),
    top_k: drop('there is no such setting'),
    frequency_penalty: drop('there is no such setting'),
    presence_penalty: drop('there is no such setting'),
    seed: drop('there is no such setting'),
    logit_bias: drop('there is no such setting'),
    logprobs: drop('probabilities are not reported'),
    verbosity: drop('there is no such setting'),
    metadata: drop('there is no field for it; it is kept in the usage record'),
    cache_key: drop('the provider chooses where it caches'),
    cache_marks: drop('not all its models take them'),
    end_user: drop('there is no field for it, under any name; it is kept in the usage record'),
    participant_name: drop('messages carry no names'),
    audio: refuse('there is no audio input'),
    image_detail: drop('there is no such setting'),
    file_beyond_documents: refuse('only documents, spreadsheets and text can be read'),
    image_url: refuse('images cannot be sent by URL'),
    file_url: refuse('files cannot be sent by URL'),
    single_tool_call: drop('a model may call any number of tools at once'),
    forbidden_tools: drop('tools that were called before must be offered again'),
    strict_tool: drop('no model is bound to the schema of a tool'),
    tool_input_format: drop('the format is given in the tool’s description instead'),
    reasoning: drop('only Nova 2 and gpt-oss take it'),
    thinking_off: drop('only Nova 2 can be stopped from thinking'),
    unasked_thoughts: drop(UNASKED),
    thinking_budget: drop('it is turned into the nearest reasoning effort'),
    thinking_display: drop('the provider decides how thoughts are shown'),
    foreign_thinking: drop('thoughts can be returned only to the provider that made them'),
    schema_constraints: drop(DESCRIBED),
  },
}

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
