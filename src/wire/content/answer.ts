// What the decoders of all formats read in a provider's answer: JSON, token counts, probabilities, vectors. Whatever is
// not as it must be is the provider's failure.
import { GatewayError } from '../../core/errors.ts'
import type { CanonicalEvent, TokenLogprob, Usage, UsageEvent } from '../../core/events.ts'
import { NO_USAGE, SERVICE_TIERS } from '../../core/events.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { isArray, isGiven, isObject, numberOf, parseObject, stringOf } from '../../core/json.ts'
import type { JsonAnswer } from '../contract/codec.ts'
import type { SseEvent } from '../contract/sse.ts'

/** A whole answer, of any length. */
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

/** A token count. Undefined if there is none; NaN if it is not a number, so that every sum with it is NaN too. */
export function countIn(counts: JsonObject, name: string): number | undefined {
  const count = counts[name]
  return isGiven(count) ? (numberOf(count) ?? NaN) : undefined
}

/** The usage, if all its counts are numbers: half of them would charge half. */
export function readable(usage: Usage): Usage | undefined {
  return Object.values(usage).some(Number.isNaN) ? undefined : usage
}

/** The usage of an answer, served in the tier that the provider calls `given`. All formats name special tiers alike. */
export function usageEvent(usage: Usage, given: Json | undefined): UsageEvent {
  const tier = SERVICE_TIERS.find((each) => each === given)
  return tier === undefined ? { type: 'usage', usage } : { type: 'usage', usage, tier }
}

/** How likely each token and its alternatives were. The chat and responses formats write this alike. */
export function decodeLogprobs(value: Json | undefined): readonly TokenLogprob[] | undefined {
  if (!isArray(value) || value.length === 0) return undefined
  return value.filter(isObject).map((entry) => ({
    ...decodeToken(entry),
    top: isArray(entry['top_logprobs'])
      ? entry['top_logprobs'].filter(isObject).map(decodeToken)
      : [],
  }))
}

function decodeToken(entry: JsonObject): Omit<TokenLogprob, 'top'> {
  const { bytes } = entry
  return {
    token: stringOf(entry['token']) ?? '',
    logprob: numberOf(entry['logprob']) ?? 0,
    bytes: isArray(bytes) ? bytes.filter((byte) => typeof byte === 'number') : null,
  }
}

type Told = {
  readonly model: string
  /** Undefined if the provider did not count them. */
  readonly inputTokens: number | undefined
}

/** An answer of vectors, in any embeddings format: it comes at once, and each vector is one event. */
export function embeddingAnswer(
  vectors: readonly CanonicalEvent[],
  { model, inputTokens }: Told,
): readonly CanonicalEvent[] {
  if (vectors.length === 0) {
    throw new GatewayError('provider_failed', 'the provider sent an answer without vectors')
  }
  return [
    { type: 'response-start', id: '', model },
    ...vectors,
    ...(inputTokens === undefined
      ? []
      : [{ type: 'usage' as const, usage: { ...NO_USAGE, inputTokens } }]),
    { type: 'response-end' },
  ]
}

export function noVector(): GatewayError {
  return new GatewayError('provider_failed', 'the provider sent something that is not a vector')
}

/** Requests for streamed embeddings are refused earlier, so a call of this function is a bug. */
export function neverStreamed(): never {
  throw new Error('embeddings are never streamed')
}
