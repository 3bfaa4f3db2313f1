// What a provider of the messages format says went wrong, in the body of a failed request or in a stream.
import type { JsonObject } from '../../core/json.ts'
import { defined, objectOf, stringOf } from '../../core/json.ts'
import type { ProviderComplaint } from '../codec.ts'
import { decodeComplaint } from '../provider-errors.ts'

/** The code that tells errors of one type apart stands in the details here. */
export function decodeError(body: JsonObject): ProviderComplaint {
  const { error } = body
  const code = stringOf(objectOf(objectOf(error)['details'])['error_code'])
  return { ...decodeComplaint(error), ...defined({ code }) }
}
