// Google's errors: `{error: {code, status, message, details}}`, in a body or in a stream.
import type { JsonObject } from '../../core/json.ts'
import { defined, isObject, listOf, stringOf } from '../../core/json.ts'
import type { ProviderComplaint } from '../codec.ts'

export function decodeError(body: JsonObject): ProviderComplaint {
  const { error } = body
  if (!isObject(error)) return {}
  const details = listOf(error['details']).filter(isObject)
  const reason = details.map((detail) => stringOf(detail['reason'])).find(Boolean)
  return defined({
    message: stringOf(error['message']),
    // The reason distinguishes an invalid key from an invalid request.
    code: reason ?? stringOf(error['status']),
    type: typeof error['code'] === 'number' ? String(error['code']) : undefined,
    retryAfterSeconds: details.map(retryDelay).find((seconds) => seconds !== undefined),
  })
}

/** `{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.07s"}` */
function retryDelay({ retryDelay: delay }: JsonObject): number | undefined {
  const seconds = typeof delay === 'string' ? Number.parseFloat(delay) : Number.NaN
  return Number.isFinite(seconds) ? seconds : undefined
}
