// Every known field of a messages request, what translation does with it, and the members that are known inside. What is
// removed or refused for every provider is decided earlier (`call.ts`).
import type { JsonObject } from '../../core/json.ts'
import { typeOf } from '../../core/json.ts'
import type { Shape } from '../contract/fields.ts'
import { fieldTable, known, shapesOf } from '../contract/fields.ts'
import { isVendorTool, OWN_SETTINGS } from './tools.ts'

export const MESSAGES_FIELDS = fieldTable({
  read: `model messages system max_tokens stream stop_sequences temperature top_p top_k tools tool_choice
    thinking output_config output_format metadata service_tier cache_control`,
  // Only their default values get this far, and those change nothing.
  ignore: 'speed mcp_servers',
  drop: {
    context_management: 'the provider has no such setting: the client’s history is sent as it is',
    user_profile_id: 'it names a profile at another provider',
    workspace_id: 'it names a workspace at another provider',
  },
})

const MARK: Shape = { cache_control: known('type ttl') }
const CITABLE: Shape = known('type', { citations: known('enabled'), ...MARK })
const SOURCE: Shape = known('type media_type data url')

const BLOCKS: ReadonlyMap<string, Shape> = shapesOf({
  text: known('type text citations', MARK),
  image: known('type', { source: SOURCE, ...MARK }),
  document: known('title context', { ...CITABLE, source: { ...SOURCE, content: blockShape } }),
  search_result: known('source title', { ...CITABLE, content: blockShape }),
  // `caller` is ignored: with hosted tools removed, every call is direct.
  tool_use: known('type id name input caller', MARK),
  tool_result: known('type tool_use_id is_error', { content: blockShape, ...MARK }),
  tool_reference: known('type tool_name', MARK),
  thinking: known('type thinking signature'),
  redacted_thinking: known('type data'),
})

/** Undefined for the blocks of hosted tools, which are named as a whole. */
function blockShape(block: JsonObject): Shape | undefined {
  return BLOCKS.get(typeOf(block))
}

// `eager_input_streaming` is ignored: other providers always stream a call's input as it is written.
const TOOL: Shape = known(
  `type name description input_schema strict defer_loading eager_input_streaming ${OWN_SETTINGS.join(' ')}`,
  MARK,
)
const FORMAT: Shape = known('type schema')

export const MESSAGE: Shape = known('role', { content: blockShape })

export const MESSAGES_SHAPE: Shape = {
  system: blockShape,
  messages: MESSAGE,
  tools: (tool) => (isVendorTool(tool) ? undefined : TOOL),
  tool_choice: known('type name disable_parallel_tool_use'),
  thinking: known('type budget_tokens display'),
  output_config: known('effort', { format: FORMAT }),
  output_format: FORMAT,
  metadata: known('user_id'),
  ...MARK,
}
