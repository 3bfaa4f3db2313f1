// How a responses stream reports that it will not be completed: an error, then the failed response. No success follows.
import type { GatewayError } from '../../core/errors.ts'
import type { JsonObject } from '../../core/json.ts'
import { objectOf } from '../../core/json.ts'
import type { AnswerContext } from '../codec.ts'
import { encodeError } from '../errors.ts'
import type { Step } from './open-item.ts'

export function failureSteps(
  error: GatewayError,
  answer: AnswerContext,
  respond: (told: JsonObject) => JsonObject,
): readonly Step[] {
  const body = encodeError('chat', error, answer.requestId)
  const told = objectOf(body['error'])
  // The published type of this event is flat, but first-party servers and Open Responses nest it. Clients read either.
  const { code = null, message = '', param = null } = told
  return [
    { type: 'error', code, message, param, error: told },
    { type: 'response.failed', response: respond(told) },
  ]
}
