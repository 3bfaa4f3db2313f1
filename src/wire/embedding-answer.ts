// An answer of vectors, in any embeddings format: it comes at once, and each vector is one event.
import { GatewayError } from '../core/errors.ts'
import type { CanonicalEvent } from '../core/events.ts'
import { NO_USAGE } from '../core/events.ts'

type Told = {
  readonly model: string
  /** Undefined if the provider did not count them. */
  readonly inputTokens: number | undefined
}

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
