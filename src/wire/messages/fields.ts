// Every known field of a messages request, and what translation does with it. What is removed or refused for every
// provider is decided earlier, in `removals.ts` and `call.ts`.
import type { FieldTable } from '../fields.ts'

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
