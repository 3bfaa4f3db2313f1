// The members that are known inside a responses request. Reasoning settings are read one by one (`request-decode.ts`).
import type { JsonObject } from '../../core/json.ts'
import { typeOf } from '../../core/json.ts'
import type { Shape } from '../shape.ts'
import { shapesOf } from '../shape.ts'
import { itemType } from './item-type.ts'
import { OWN_SETTINGS } from './tools-decode.ts'

const MARK: Shape = { prompt_cache_breakpoint: { mode: 'known', ttl: 'known' } }

/** Logprobs of earlier answers mean nothing to a model. SDK helpers write `parsed`, which repeats the text. */
const TEXT: Shape = { type: 'known', text: 'known', logprobs: 'known', parsed: 'known', ...MARK }

const PARTS: ReadonlyMap<string, Shape> = shapesOf({
  input_text: TEXT,
  output_text: TEXT,
  input_image: {
    type: 'known',
    image_url: 'known',
    file_id: 'known',
    detail: 'known',
    ...MARK,
  },
  input_file: {
    type: 'known',
    file_data: 'known',
    file_url: 'known',
    file_id: 'known',
    filename: 'known',
    ...MARK,
  },
  input_audio: { type: 'known', input_audio: { data: 'known', format: 'known' } },
  refusal: { type: 'known', refusal: 'known', parsed: 'known' },
})

const partShape = (part: JsonObject): Shape | undefined => PARTS.get(typeOf(part))

const ITEM: Shape = { type: 'known', id: 'known', status: 'known' }
const CALL: Shape = { ...ITEM, call_id: 'known', name: 'known', namespace: 'known' }
const THOUGHT: Shape = { type: 'known', text: 'known' }

const FUNCTION: Shape = {
  type: 'known',
  name: 'known',
  description: 'known',
  parameters: 'known',
  strict: 'known',
  ...Object.fromEntries(OWN_SETTINGS.map((name) => [name, 'known'])),
}
const TOOLS: ReadonlyMap<string, Shape> = shapesOf({
  function: FUNCTION,
  custom: { ...FUNCTION, format: 'known' },
  namespace: { type: 'known', name: 'known', description: 'known', tools: toolShape },
})

/** Undefined for tools that no other format has, which are named as a whole. */
function toolShape(tool: JsonObject): Shape | undefined {
  return TOOLS.get(typeOf(tool))
}

export const MESSAGE: Shape = { ...ITEM, role: 'known', phase: 'known', content: partShape }

const ITEMS: ReadonlyMap<string, Shape> = shapesOf({
  message: MESSAGE,
  function_call: { ...CALL, arguments: 'known', parsed_arguments: 'known' },
  custom_tool_call: { ...CALL, input: 'known' },
  function_call_output: { ...CALL, output: partShape },
  custom_tool_call_output: { ...CALL, output: partShape },
  reasoning: { ...ITEM, summary: THOUGHT, content: THOUGHT, encrypted_content: 'known' },
  additional_tools: { ...ITEM, role: 'known', tools: toolShape },
})

const CHOSEN: Shape = { type: 'known', name: 'known', namespace: 'known' }

export const RESPONSES_SHAPE: Shape = {
  input: (item) => ITEMS.get(itemType(item)),
  tools: toolShape,
  tool_choice: {
    ...CHOSEN,
    mode: 'known',
    // Choices of tools that no other format has are named as a whole.
    tools: (tool) => (TOOLS.has(typeOf(tool)) ? CHOSEN : undefined),
  },
  text: {
    format: {
      type: 'known',
      name: 'known',
      description: 'known',
      schema: 'known',
      strict: 'known',
    },
    verbosity: 'known',
  },
  // Usage is always reported; some clients ask for it all the same, as in chat.
  stream_options: { include_obfuscation: 'known', include_usage: 'known' },
}
