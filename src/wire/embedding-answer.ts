// An answer of vectors, as every format of embeddings has it: it comes at once, and each vector is one event.
import { GatewayError } from '../core/errors.ts'
import type { CanonicalEvent } from '../core/events.ts'
import { NO_USAGE } from '../core/events.ts'

type Told = {
  readonly model: string
  /** Undefined where the provider did not count them. */
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

/** No request for embeddings asks for a stream, because none is let in, so whoever comes here has a fault. */
export function neverStreamed(): never {
  throw new Error('embeddings are never streamed')
}
