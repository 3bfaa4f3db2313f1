// Embeddings through Vertex AI's predict: one instance per text, one prediction per instance.
import type { CanonicalEvent } from '../../core/events.ts'
import type { JsonObject } from '../../core/json.ts'
import { defined, listOf, numberOf, objectOf } from '../../core/json.ts'
import type { CanonicalRequest } from '../../core/request.ts'
import { embeddingAnswer } from '../embedding-answer.ts'
import { decodeEmbedding, textsOf } from './embeddings.ts'

export function encodePredictions(request: CanonicalRequest): JsonObject {
  const { texts, outputDimensionality } = textsOf(request)
  return {
    instances: texts.map((content) => ({ content })),
    // The client must shorten a text that is too long; it is never cut silently.
    parameters: defined({ autoTruncate: false, outputDimensionality }),
  }
}

export function decodePredictions(body: JsonObject): readonly CanonicalEvent[] {
  const predictions = listOf(body['predictions'])
  const embeddings = predictions.map((each) => objectOf(objectOf(each)['embeddings']))
  const counts = embeddings.map(tokensOf)
  const isCounted = counts.length > 0 && counts.every((count) => count !== undefined)
  const inputTokens = isCounted ? counts.reduce((sum, count) => sum + count, 0) : undefined
  return embeddingAnswer(embeddings.map(decodeEmbedding), { model: '', inputTokens })
}

function tokensOf({ statistics }: JsonObject): number | undefined {
  return numberOf(objectOf(statistics)['token_count'])
}
