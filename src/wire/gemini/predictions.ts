// Embeddings as Vertex AI's predict takes and gives them: one instance a text, one prediction an instance.
import type { CanonicalEvent } from '../../core/events.ts'
import { NO_USAGE } from '../../core/events.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { defined, isArray, isObject, numberOf } from '../../core/json.ts'
import type { CanonicalRequest } from '../../core/request.ts'
import { decodeEmbedding, textsOf } from './embeddings.ts'

export function encodePredictions(request: CanonicalRequest): JsonObject {
  const { texts, outputDimensionality } = textsOf(request)
  return {
    instances: texts.map((content) => ({ content })),
    // A text that is too long is the client's to shorten, not cut without a word.
    parameters: defined({ autoTruncate: false, outputDimensionality }),
  }
}

export function decodePredictions(body: JsonObject): readonly CanonicalEvent[] {
  const predictions = isArray(body['predictions']) ? body['predictions'] : []
  const embeddings = predictions.map((each) => (isObject(each) ? (each['embeddings'] ?? {}) : {}))
  const counts = embeddings.map(tokensOf)
  const isCounted = counts.length > 0 && counts.every((count) => count !== undefined)
  const inputTokens = counts.reduce<number>((sum, count) => sum + (count ?? 0), 0)
  return [
    { type: 'response-start', id: '', model: '' },
    ...embeddings.map(decodeEmbedding),
    ...(isCounted ? [{ type: 'usage' as const, usage: { ...NO_USAGE, inputTokens } }] : []),
    { type: 'response-end' },
  ]
}

function tokensOf(embedding: Json): number | undefined {
  const statistics = isObject(embedding) ? embedding['statistics'] : undefined
  return isObject(statistics) ? numberOf(statistics['token_count']) : undefined
}
