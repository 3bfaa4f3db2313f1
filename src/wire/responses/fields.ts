// Every known top-level field of a responses request, and what translation does with it. Fields that no request may
// carry are in `wire/refused-fields.ts`.
import type { FieldTable } from '../fields.ts'

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
