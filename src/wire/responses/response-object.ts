// The response object, with every key that clients and the Open Responses suite look for in every state of an answer.
// It echoes the client's settings; those the client left out get the format's defaults.
import type { UsageEvent } from '../../core/events.ts'
import { NO_USAGE } from '../../core/events.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { isArray, isObject, objectOf } from '../../core/json.ts'
import type { AnswerContext } from '../codec.ts'
import { usableTools } from './usable-tools.ts'
import { encodeUsage } from './usage.ts'

export type ResponseState =
  | { readonly status: 'in_progress' }
  | { readonly status: 'completed'; readonly counted: UsageEvent | undefined }
  | {
      readonly status: 'incomplete'
      readonly counted: UsageEvent | undefined
      readonly reason: 'max_output_tokens' | 'content_filter'
    }
  | { readonly status: 'failed'; readonly error: JsonObject }

/** Makes the response object of one answer, in each of its states. */
export function responseObjects(
  answer: AnswerContext,
  id: string,
): (state: ResponseState, output: readonly JsonObject[]) => JsonObject {
  const asked = echo(answer.body)
  return (state, output) => ({
    id,
    object: 'response',
    created_at: answer.createdAt,
    completed_at: state.status === 'completed' ? answer.now() : null,
    status: state.status,
    error: state.status === 'failed' ? state.error : null,
    incomplete_details: state.status === 'incomplete' ? { reason: state.reason } : null,
    model: answer.model,
    output,
    // Some clients consider an answer with null usage incomplete. If the provider reports none, the counts are zero.
    usage: 'counted' in state ? encodeUsage(state.counted?.usage ?? NO_USAGE) : null,
    ...asked,
    ...('counted' in state && state.counted?.tier && { service_tier: state.counted.tier }),
  })
}

function echo(body: JsonObject): JsonObject {
  const { tools, toolChoice } = usableTools(body)
  const text = objectOf(body['text'])
  const reasoning = objectOf(body['reasoning'])
  return {
    instructions: body['instructions'] ?? null,
    previous_response_id: body['previous_response_id'] ?? null,
    tools: tools.map(echoTool),
    tool_choice: toolChoice ?? 'auto',
    parallel_tool_calls: body['parallel_tool_calls'] ?? true,
    text: { ...text, format: text['format'] ?? { type: 'text' } },
    reasoning: {
      ...reasoning,
      effort: reasoning['effort'] ?? null,
      summary: reasoning['summary'] ?? null,
    },
    temperature: body['temperature'] ?? 1,
    top_p: body['top_p'] ?? 1,
    presence_penalty: body['presence_penalty'] ?? 0,
    frequency_penalty: body['frequency_penalty'] ?? 0,
    top_logprobs: body['top_logprobs'] ?? 0,
    truncation: body['truncation'] ?? 'disabled',
    max_output_tokens: body['max_output_tokens'] ?? null,
    max_tool_calls: body['max_tool_calls'] ?? null,
    store: body['store'] ?? true,
    background: false,
    service_tier: 'default',
    metadata: body['metadata'] ?? {},
    safety_identifier: body['safety_identifier'] ?? null,
    prompt_cache_key: body['prompt_cache_key'] ?? null,
    access_programs: null,
    // Unlike the others, this key may be missing but not null.
    ...(typeof body['user'] === 'string' ? { user: body['user'] } : {}),
  }
}

function echoTool(tool: Json): Json {
  if (!isObject(tool)) return tool
  if (tool['type'] === 'namespace' && isArray(tool['tools'])) {
    return { ...tool, tools: tool['tools'].map(echoTool) }
  }
  if (tool['type'] !== 'function') return tool
  return {
    ...tool,
    description: tool['description'] ?? null,
    parameters: tool['parameters'] ?? null,
    strict: tool['strict'] ?? null,
  }
}
