// Every known field of a chat completions request, and what translation does with it. Fields that no request may carry
// are in `wire/contract/fields.ts`.
import type { JsonObject } from '../../core/json.ts'
import { typeOf } from '../../core/json.ts'
import type { FieldTable, Shape } from '../contract/fields.ts'
import { shapesOf } from '../contract/fields.ts'
import { isHosted } from './tools.ts'

export const CHAT_FIELDS: FieldTable = {
  model: 'read',
  messages: 'read',
  stream: 'read',
  stream_options: 'read',
  max_completion_tokens: 'read',
  max_tokens: 'read',
  n: 'read',
  temperature: 'read',
  top_p: 'read',
  frequency_penalty: 'read',
  presence_penalty: 'read',
  stop: 'read',
  seed: 'read',
  logprobs: 'read',
  top_logprobs: 'read',
  logit_bias: 'read',
  tools: 'read',
  tool_choice: 'read',
  parallel_tool_calls: 'read',
  functions: 'read',
  function_call: 'read',
  response_format: 'read',
  reasoning_effort: 'read',
  verbosity: 'read',
  prompt_cache_key: 'read',
  safety_identifier: 'read',
  user: 'read',
  metadata: 'read',
  service_tier: 'read',
  modalities: 'ignore',
  prompt_cache_options: { drop: 'the provider chooses how long a prompt is kept' },
  prompt_cache_retention: { drop: 'the provider chooses how long a prompt is kept' },
  store: { drop: 'chat completions cannot be fetched later' },
  moderation: { drop: 'only the provider that offers it can moderate' },
  web_search_options: { drop: 'hosted tools have no price here' },
}

// The members that are known inside a chat completions request.

const MARKS: Shape = {
  prompt_cache_breakpoint: { mode: 'known', ttl: 'known' },
  cache_control: { type: 'known', ttl: 'known' },
}

const PARTS: ReadonlyMap<string, Shape> = shapesOf({
  text: { type: 'known', text: 'known', ...MARKS },
  image_url: { type: 'known', image_url: { url: 'known', detail: 'known' }, ...MARKS },
  file: {
    type: 'known',
    file: { file_data: 'known', file_id: 'known', filename: 'known' },
    ...MARKS,
  },
  input_audio: { type: 'known', input_audio: { data: 'known', format: 'known' } },
  refusal: { type: 'known', refusal: 'known' },
})

const partShape = (part: JsonObject): Shape | undefined => PARTS.get(typeOf(part))

const SPOKEN: Shape = { role: 'known', content: partShape, name: 'known' }

/** `parsed` and `parsed_arguments` are written by the SDK's helpers and repeat the fields beside them. */
const ASSISTANT: Shape = {
  ...SPOKEN,
  refusal: 'known',
  audio: 'known',
  reasoning: 'known',
  reasoning_content: 'known',
  reasoning_details: 'known',
  parsed: 'known',
  function_call: { name: 'known', arguments: 'known' },
  tool_calls: {
    id: 'known',
    type: 'known',
    index: 'known',
    function: { name: 'known', arguments: 'known', parsed_arguments: 'known' },
    custom: { name: 'known', input: 'known' },
  },
}

const messageShape = ({ role }: JsonObject): Shape => {
  if (role === 'assistant') return ASSISTANT
  // The `name` of a tool's result only repeats the name of the called function.
  return role === 'tool' ? { ...SPOKEN, tool_call_id: 'known' } : SPOKEN
}

const FUNCTION: Shape = {
  name: 'known',
  description: 'known',
  parameters: 'known',
  strict: 'known',
}
const NAMED: Shape = { name: 'known' }
const CHOSEN: Shape = { type: 'known', function: NAMED, custom: NAMED }

export const CHAT_SHAPE: Shape = {
  messages: messageShape,
  // A tool that the provider would run is named as a whole.
  tools: (tool) => (isHosted(tool) ? undefined : TOOL),
  functions: FUNCTION,
  tool_choice: { ...CHOSEN, allowed_tools: { mode: 'known', tools: CHOSEN } },
  function_call: NAMED,
  response_format: {
    type: 'known',
    json_schema: { name: 'known', description: 'known', schema: 'known', strict: 'known' },
  },
  stream_options: { include_usage: 'known', include_obfuscation: 'known' },
}

/** Only the inner object of a grammar is carried over; any other format is carried over whole. */
const formatShape = (format: JsonObject): Shape | undefined =>
  typeOf(format) === 'grammar' ? { type: 'known', grammar: 'known' } : undefined

const TOOL: Shape = {
  type: 'known',
  function: FUNCTION,
  custom: { name: 'known', description: 'known', format: formatShape },
  ...MARKS,
}
