// The person for whom a client of the chat family acts. `user` is the old name of `safety_identifier`: if both are set
// and differ, only the newer one can be sent.
import type { JsonObject } from '../core/json.ts'
import { stringOf } from '../core/json.ts'
import { expectText, optional } from './expect.ts'

/** For the usage record. What is not a name is the provider's to refuse. */
export function endUserOf(body: JsonObject): string | undefined {
  return stringOf(body['safety_identifier']) ?? stringOf(body['user'])
}

export function decodeEndUser(body: JsonObject, dropped: Set<string>): string | undefined {
  const identifier = optional(body['safety_identifier'], 'safety_identifier', expectText)
  const user = optional(body['user'], 'user', expectText)
  if (identifier !== undefined && user !== undefined && user !== identifier) dropped.add('user')
  return identifier ?? user
}
