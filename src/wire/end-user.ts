// Who a client of the chat family acts for. `user` is what `safety_identifier` was called before: where both are there
// and differ, only the newer one can be told.
import type { JsonObject } from '../core/json.ts'
import { expectText, optional } from './expect.ts'

export function decodeEndUser(body: JsonObject, dropped: Set<string>): string | undefined {
  const identifier = optional(body['safety_identifier'], 'safety_identifier', expectText)
  const user = optional(body['user'], 'user', expectText)
  if (identifier !== undefined && user !== undefined && user !== identifier) dropped.add('user')
  return identifier ?? user
}
