// The response object, with every key that clients and the Open Responses suite look for in every state of an answer,
// and how a stream reports that it will not be completed. It echoes the client's settings; those the client left out get
// the format's defaults.
import type { GatewayError } from '../../core/errors.ts'
import type { Usage, UsageEvent } from '../../core/events.ts'
import { NO_USAGE } from '../../core/events.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { isArray, isObject, objectOf } from '../../core/json.ts'
import type { AnswerContext } from '../contract/codec.ts'
import { encodeError } from '../contract/errors.ts'
import { usableTools } from './tools.ts'

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

function encodeUsage(usage: Usage): JsonObject {
  const { cacheWriteTokens, cacheWriteLongTokens } = usage
  const lifetimes =
    cacheWriteTokens === 0
      ? {}
      : {
          cache_write_tokens_details: {
            ttl_30m_tokens: cacheWriteTokens - cacheWriteLongTokens,
            ttl_12h_tokens: cacheWriteLongTokens,
          },
        }
  return {
    input_tokens: usage.inputTokens,
    input_tokens_details: {
      cached_tokens: usage.cachedTokens,
      cache_write_tokens: cacheWriteTokens,
      ...lifetimes,
    },
    output_tokens: usage.outputTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    total_tokens: usage.inputTokens + usage.outputTokens,
  }
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

/** An event of the stream; the writer adds which item it belongs to. */
export type Step = { readonly type: string } & JsonObject

/** An error, then the failed response. No success follows. */
export function failureSteps(
  error: GatewayError,
  answer: AnswerContext,
  respond: (told: JsonObject) => JsonObject,
): readonly Step[] {
  const body = encodeError('chat', error, answer.requestId)
  const code = openAiCode(error)
  const told = { ...objectOf(body['error']), code, tollgate_code: error.publicCode }
  // The published type of this event is flat, but first-party servers and Open Responses nest it. Clients read either.
  const { message = '', param = null, tollgate_code } = told as JsonObject
  return [
    { type: 'error', code, message, param, tollgate_code, error: told },
    { type: 'response.failed', response: respond(told) },
  ]
}

/** The codes of a failed response. The list is closed: clients generated from OpenAI's description refuse others. */
const OPENAI_CODES: ReadonlySet<string> = new Set(
  `server_error rate_limit_exceeded invalid_prompt data_residency_mismatch bio_policy misalignment_policy_violation
  vector_store_timeout invalid_image invalid_image_format invalid_base64_image invalid_image_url image_too_large
  image_too_small image_parse_error image_content_policy_violation invalid_image_mode image_file_too_large
  unsupported_image_media_type empty_image_file failed_to_download_image image_file_not_found`.split(
    /\s+/,
  ),
)

/** The provider's own code if it is on the list, else the one that tells a client whom to blame and when to return. */
function openAiCode(error: GatewayError): string {
  if (OPENAI_CODES.has(error.publicCode)) return error.publicCode
  switch (error.status) {
    case 400:
    case 413:
    case 422:
      return 'invalid_prompt'
    case 429:
      return 'rate_limit_exceeded'
    default:
      return 'server_error'
  }
}
