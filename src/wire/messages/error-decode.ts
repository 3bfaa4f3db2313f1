// Errors of a messages provider, in the body of a failed request or in a stream.
import type { JsonObject } from '../../core/json.ts'
import { defined, objectOf, stringOf } from '../../core/json.ts'
import type { ProviderComplaint } from '../codec.ts'
import { decodeComplaint } from '../provider-errors.ts'

/** In this format the code that distinguishes errors of one type is in the details. */
export function decodeError(body: JsonObject): ProviderComplaint {
  const { error } = body
  const code = stringOf(objectOf(objectOf(error)['details'])['error_code'])
  return { ...decodeComplaint(error), ...defined({ code }) }
}
