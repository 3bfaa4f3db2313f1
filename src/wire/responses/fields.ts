// Every known top-level field of a responses request, and what translation does with it. Fields that no request may
// carry are in `wire/contract/fields.ts`.
import type { JsonObject } from '../../core/json.ts'
import { stringOf, typeOf } from '../../core/json.ts'
import type { FieldTable, Shape } from '../contract/fields.ts'
import { shapesOf } from '../contract/fields.ts'
import { OWN_SETTINGS } from './tools.ts'

export const RESPONSES_FIELDS: FieldTable = {
  model: 'read',
  input: 'read',
  instructions: 'read',
  stream: 'read',
  max_output_tokens: 'read',
  temperature: 'read',
  top_p: 'read',
  presence_penalty: 'read',
  frequency_penalty: 'read',
  top_logprobs: 'read',
  include: 'read',
  tools: 'read',
  tool_choice: 'read',
  parallel_tool_calls: 'read',
  text: 'read',
  reasoning: 'read',
  metadata: 'read',
  safety_identifier: 'read',
  user: 'read',
  service_tier: 'read',
  prompt_cache_key: 'read',
  // Tollgate keeps the state itself, whatever the provider.
  store: 'ignore',
  previous_response_id: 'ignore',
  // Padding against eavesdroppers, and the client's own notes: no model reads either.
  stream_options: 'ignore',
  client_metadata: 'ignore',
  truncation: { drop: 'the provider refuses a prompt that is too long' },
  max_tool_calls: { drop: 'it limits hosted tools, and there are none' },
  context_management: { drop: 'only this format has compaction' },
  prompt_cache_options: { drop: 'the provider chooses what it caches' },
  prompt_cache_retention: { drop: 'the provider chooses what it caches' },
  image: { drop: 'there is no such setting' },
  access_programs: { drop: 'there is no such setting' },
  moderation: { drop: 'there is no such setting' },
  background: 'ignore',
}

// Extras that a request can ask for in `include`, by the format's names.

export const ENCRYPTED_REASONING = 'reasoning.encrypted_content'
export const LOGPROBS = 'message.output_text.logprobs'

// The type of an input item: the short forms of messages and references omit it.

export function itemType(item: JsonObject): string {
  return stringOf(item['type']) ?? (item['role'] === undefined ? 'item_reference' : 'message')
}

// The members that are known inside a responses request. Reasoning settings are read one by one (`request-decode.ts`).

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
