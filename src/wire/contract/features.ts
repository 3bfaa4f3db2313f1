// The names of what one format can express and another cannot, in each format that has it. What becomes of a feature that
// a format lacks is in its `request-encode.ts`; what a client's format has and no other, in its `fields.ts`. A test checks
// `docs/translation.md` against both.
import type { ChatFormat, Format, UpstreamFormat } from '../../core/endpoints.ts'

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
