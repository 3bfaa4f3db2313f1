// Every known field of a messages request, and what translation does with it. What is removed or refused for every
// provider is decided earlier, in `removals.ts` and `call.ts`.
import type { JsonObject } from '../../core/json.ts'
import { typeOf } from '../../core/json.ts'
import type { FieldTable, Shape } from '../contract/fields.ts'
import { shapesOf } from '../contract/fields.ts'
import { isVendorTool, OWN_SETTINGS } from './tools.ts'

export const MESSAGES_FIELDS: FieldTable = {
  model: 'read',
  messages: 'read',
  system: 'read',
  max_tokens: 'read',
  stream: 'read',
  stop_sequences: 'read',
  temperature: 'read',
  top_p: 'read',
  top_k: 'read',
  tools: 'read',
  tool_choice: 'read',
  thinking: 'read',
  output_config: 'read',
  output_format: 'read',
  metadata: 'read',
  service_tier: 'read',
  cache_control: 'read',
  // Only their default values get this far, and those change nothing.
  speed: 'ignore',
  mcp_servers: 'ignore',
  context_management: {
    drop: 'the provider has no such setting: the client’s history is sent as it is',
  },
  user_profile_id: { drop: 'it names a profile at another provider' },
  workspace_id: { drop: 'it names a workspace at another provider' },
}

// The members that are known inside a messages request.

const MARK: Shape = { type: 'known', ttl: 'known' }
const CITABLE: Shape = { type: 'known', cache_control: MARK, citations: { enabled: 'known' } }
const SOURCE: Shape = { type: 'known', media_type: 'known', data: 'known', url: 'known' }

const BLOCKS: ReadonlyMap<string, Shape> = shapesOf({
  text: { type: 'known', text: 'known', cache_control: MARK, citations: 'known' },
  image: { type: 'known', source: SOURCE, cache_control: MARK },
  document: {
    ...CITABLE,
    source: { ...SOURCE, content: blockShape },
    title: 'known',
    context: 'known',
  },
  search_result: { ...CITABLE, source: 'known', title: 'known', content: blockShape },
  // `caller` is ignored: with hosted tools removed, every call is direct.
  tool_use: {
    type: 'known',
    id: 'known',
    name: 'known',
    input: 'known',
    caller: 'known',
    cache_control: MARK,
  },
  tool_result: {
    type: 'known',
    tool_use_id: 'known',
    content: blockShape,
    is_error: 'known',
    cache_control: MARK,
  },
  tool_reference: { type: 'known', tool_name: 'known', cache_control: MARK },
  thinking: { type: 'known', thinking: 'known', signature: 'known' },
  redacted_thinking: { type: 'known', data: 'known' },
})

/** Undefined for the blocks of hosted tools, which are named as a whole. */
function blockShape(block: JsonObject): Shape | undefined {
  return BLOCKS.get(typeOf(block))
}

const TOOL: Shape = {
  type: 'known',
  name: 'known',
  description: 'known',
  input_schema: 'known',
  strict: 'known',
  defer_loading: 'known',
  cache_control: MARK,
  // Ignored: other providers always stream a call's input as it is written.
  eager_input_streaming: 'known',
  ...Object.fromEntries(OWN_SETTINGS.map((name) => [name, 'known'])),
}
const FORMAT: Shape = { type: 'known', schema: 'known' }

export const MESSAGE: Shape = { role: 'known', content: blockShape }

export const MESSAGES_SHAPE: Shape = {
  system: blockShape,
  messages: MESSAGE,
  tools: (tool) => (isVendorTool(tool) ? undefined : TOOL),
  tool_choice: { type: 'known', name: 'known', disable_parallel_tool_use: 'known' },
  thinking: { type: 'known', budget_tokens: 'known', display: 'known' },
  output_config: { effort: 'known', format: FORMAT },
  output_format: FORMAT,
  metadata: { user_id: 'known' },
  cache_control: MARK,
}
