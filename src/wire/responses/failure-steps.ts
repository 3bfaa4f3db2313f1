// How a responses stream reports that it will not be completed: an error, then the failed response. No success follows.
import type { GatewayError } from '../../core/errors.ts'
import type { JsonObject } from '../../core/json.ts'
import { objectOf } from '../../core/json.ts'
import type { AnswerContext } from '../codec.ts'
import { encodeError } from '../errors.ts'

/** An event of the stream; the writer adds which item it belongs to. */
export type Step = { readonly type: string } & JsonObject

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
const OPENAI_CODES: ReadonlySet<string> = new Set([
  'server_error',
  'rate_limit_exceeded',
  'invalid_prompt',
  'data_residency_mismatch',
  'bio_policy',
  'misalignment_policy_violation',
  'vector_store_timeout',
  'invalid_image',
  'invalid_image_format',
  'invalid_base64_image',
  'invalid_image_url',
  'image_too_large',
  'image_too_small',
  'image_parse_error',
  'image_content_policy_violation',
  'invalid_image_mode',
  'image_file_too_large',
  'unsupported_image_media_type',
  'empty_image_file',
  'failed_to_download_image',
  'image_file_not_found',
])

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
