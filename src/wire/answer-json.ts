// JSON from a provider: a whole answer, or one event of a stream. It must be an object, of any length; anything else is
// the provider's failure.
import { GatewayError } from '../core/errors.ts'
import type { JsonObject } from '../core/json.ts'
import { parseObject } from '../core/json.ts'
import type { JsonAnswer } from './codec.ts'
import type { SseEvent } from './sse.ts'

export function readJsonAnswer(bytes: Buffer): JsonAnswer {
  const text = bytes.toString('utf8')
  return { text, value: parse(text, 'the provider answered with something that is not JSON') }
}

export function readJsonEvent({ data }: SseEvent): JsonObject {
  return parse(data, 'the provider sent an event that is no JSON object')
}

function parse(text: string, failure: string): JsonObject {
  const value = parseObject(text)
  if (value !== undefined) return value
  // Without the parser's message: it quotes the answer, which only the client may read.
  throw new GatewayError('provider_failed', failure)
}
