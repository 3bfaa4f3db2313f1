// Bedrock's errors, whichever format the request was in: a message, whose name some of them capitalize.
import type { JsonObject } from '../../core/json.ts'
import { defined, stringOf } from '../../core/json.ts'
import type { ProviderComplaint } from '../codec.ts'

export function decodeError({ message, Message: other }: JsonObject): ProviderComplaint {
  return defined({ message: stringOf(message) ?? stringOf(other) })
}
