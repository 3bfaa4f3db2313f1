// Every known field of a responses request, what translation does with it, and the members that are known inside. Fields
// that no request may carry are in `contract/fields.ts`; reasoning settings are read one by one (`request-decode.ts`).
import type { JsonObject } from '../../core/json.ts'
import { stringOf, typeOf } from '../../core/json.ts'
import type { Shape } from '../contract/fields.ts'
import { fieldTable, known, shapesOf } from '../contract/fields.ts'
import { OWN_SETTINGS } from './tools.ts'

export const RESPONSES_FIELDS = fieldTable({
  read: `model input instructions stream max_output_tokens temperature top_p presence_penalty frequency_penalty
    top_logprobs include tools tool_choice parallel_tool_calls text reasoning metadata safety_identifier user
    service_tier prompt_cache_key`,
  // Tollgate keeps the state itself; no model reads padding against eavesdroppers, or the client's own notes.
  ignore: 'store previous_response_id background stream_options client_metadata',
  drop: {
    truncation: 'the provider refuses a prompt that is too long',
    max_tool_calls: 'it limits hosted tools, and there are none',
    context_management: 'only this format has compaction',
    prompt_cache_options: 'the provider chooses what it caches',
    prompt_cache_retention: 'the provider chooses what it caches',
    image: 'there is no such setting',
    access_programs: 'there is no such setting',
    moderation: 'there is no such setting',
  },
})

/** Extras that a request can ask for in `include`. */
export const ENCRYPTED_REASONING = 'reasoning.encrypted_content'
export const LOGPROBS = 'message.output_text.logprobs'

/** Separates the parts of a summary, in requests and in answers. */
export const BETWEEN_SUMMARIES = '\n\n'

/** The type of an input item: the short forms of messages and references omit it. */
export function itemType(item: JsonObject): string {
  return stringOf(item['type']) ?? (item['role'] === undefined ? 'item_reference' : 'message')
}

const MARK: Shape = { prompt_cache_breakpoint: known('mode ttl') }

/** Logprobs of earlier answers mean nothing to a model. SDK helpers write `parsed`, which repeats the text. */
const TEXT: Shape = known('type text logprobs parsed', MARK)

const PARTS: ReadonlyMap<string, Shape> = shapesOf({
  input_text: TEXT,
  output_text: TEXT,
  input_image: known('type image_url file_id detail', MARK),
  input_file: known('type file_data file_url file_id filename', MARK),
  input_audio: known('type', { input_audio: known('data format') }),
  refusal: known('type refusal parsed'),
})

const partShape = (part: JsonObject): Shape | undefined => PARTS.get(typeOf(part))

const FUNCTION = `type name description parameters strict ${OWN_SETTINGS.join(' ')}`
const TOOLS: ReadonlyMap<string, Shape> = shapesOf({
  function: known(FUNCTION),
  custom: known(`${FUNCTION} format`),
  namespace: known('type name description', { tools: toolShape }),
})

/** Undefined for tools that no other format has, which are named as a whole. */
function toolShape(tool: JsonObject): Shape | undefined {
  return TOOLS.get(typeOf(tool))
}

export const MESSAGE: Shape = known('type id status role phase', { content: partShape })

const CALL = 'type id status call_id name namespace'
const REASONING_TEXT: Shape = known('type text')
const ITEMS: ReadonlyMap<string, Shape> = shapesOf({
  message: MESSAGE,
  function_call: known(`${CALL} arguments parsed_arguments`),
  custom_tool_call: known(`${CALL} input`),
  function_call_output: known(CALL, { output: partShape }),
  custom_tool_call_output: known(CALL, { output: partShape }),
  reasoning: known('type id status encrypted_content', {
    summary: REASONING_TEXT,
    content: REASONING_TEXT,
  }),
  additional_tools: known('type id status role', { tools: toolShape }),
})

const CHOSEN: Shape = known('type name namespace')

export const RESPONSES_SHAPE: Shape = {
  input: (item) => ITEMS.get(itemType(item)),
  tools: toolShape,
  // Choices of tools that no other format has are named as a whole.
  tool_choice: known('mode', {
    ...CHOSEN,
    tools: (tool) => (toolShape(tool) ? CHOSEN : undefined),
  }),
  text: known('verbosity', { format: known('type name description schema strict') }),
  // Usage is always reported; some clients ask for it all the same, as in chat.
  stream_options: known('include_obfuscation include_usage'),
}
