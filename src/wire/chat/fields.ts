// Every known field of a chat completions request, what translation does with it, and the members that are known inside.
// Fields that no request may carry are in `contract/fields.ts`.
import type { JsonObject } from '../../core/json.ts'
import { typeOf } from '../../core/json.ts'
import type { Shape } from '../contract/fields.ts'
import { fieldTable, known, shapesOf } from '../contract/fields.ts'
import { isHosted } from './tools.ts'

export const CHAT_FIELDS = fieldTable({
  read: `model messages stream stream_options max_completion_tokens max_tokens n
    temperature top_p frequency_penalty presence_penalty stop seed logprobs top_logprobs logit_bias
    tools tool_choice parallel_tool_calls functions function_call response_format reasoning_effort verbosity
    prompt_cache_key safety_identifier user metadata service_tier`,
  ignore: 'modalities',
  drop: {
    prompt_cache_options: 'the provider chooses how long a prompt is kept',
    prompt_cache_retention: 'the provider chooses how long a prompt is kept',
    store: 'chat completions cannot be fetched later',
    moderation: 'only the provider that offers it can moderate',
    web_search_options: 'hosted tools have no price here',
  },
})

const MARKS: Shape = {
  prompt_cache_breakpoint: known('mode ttl'),
  cache_control: known('type ttl'),
}

const PARTS: ReadonlyMap<string, Shape> = shapesOf({
  text: known('type text', MARKS),
  image_url: known('type', { image_url: known('url detail'), ...MARKS }),
  file: known('type', { file: known('file_data file_id filename'), ...MARKS }),
  input_audio: known('type', { input_audio: known('data format') }),
  refusal: known('type refusal'),
})

const SPOKEN: Shape = known('role name', { content: (part) => PARTS.get(typeOf(part)) })
// The `name` of a tool's result only repeats the name of the called function.
const RESULT: Shape = known('tool_call_id', SPOKEN)

/** `parsed` and `parsed_arguments` are written by the SDK's helpers and repeat the fields beside them. */
const ASSISTANT: Shape = known(
  'refusal audio reasoning reasoning_content reasoning_details parsed',
  {
    ...SPOKEN,
    function_call: known('name arguments'),
    tool_calls: known('id type index', {
      function: known('name arguments parsed_arguments'),
      custom: known('name input'),
    }),
  },
)

function messageShape({ role }: JsonObject): Shape {
  if (role === 'assistant') return ASSISTANT
  return role === 'tool' ? RESULT : SPOKEN
}

const FUNCTION: Shape = known('name description parameters strict')
const TOOL: Shape = known('type', {
  function: FUNCTION,
  // Only the inner object of a grammar is carried over; any other format is carried over whole.
  custom: known('name description', {
    format: (format) => (typeOf(format) === 'grammar' ? known('type grammar') : undefined),
  }),
  ...MARKS,
})
const CHOSEN: Shape = known('type', { function: known('name'), custom: known('name') })

export const CHAT_SHAPE: Shape = {
  messages: messageShape,
  // A tool that the provider would run is named as a whole.
  tools: (tool) => (isHosted(tool) ? undefined : TOOL),
  functions: FUNCTION,
  tool_choice: { ...CHOSEN, allowed_tools: known('mode', { tools: CHOSEN }) },
  function_call: known('name'),
  response_format: known('type', { json_schema: known('name description schema strict') }),
  stream_options: known('include_usage include_obfuscation'),
}
