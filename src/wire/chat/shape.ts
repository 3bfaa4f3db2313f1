// The members that are known inside a chat completions request.
import type { JsonObject } from '../../core/json.ts'
import { typeOf } from '../../core/json.ts'
import type { Shape } from '../shape.ts'
import { shapesOf } from '../shape.ts'
import { isHosted } from './usable-tools.ts'

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
