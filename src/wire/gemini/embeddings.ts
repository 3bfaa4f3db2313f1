// Embeddings through batchEmbedContents: one request per text, one vector per request.
import assert from 'node:assert/strict'

import { unsupportedParameter } from '../../core/errors.ts'
import type { CanonicalEvent } from '../../core/events.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { defined, isArray, isObject, listOf, objectOf } from '../../core/json.ts'
import type { CanonicalRequest } from '../../core/request.ts'
import { embeddingAnswer, noVector } from '../embedding-answer.ts'
import { streamError } from '../provider-errors.ts'
import { decodeError } from './error-decode.ts'
import { decodeUsage } from './usage.ts'

export function encodeEmbeddings(request: CanonicalRequest): JsonObject {
  const { texts, outputDimensionality } = textsOf(request)
  const model = `models/${request.model}`
  return {
    requests: texts.map((text) =>
      defined({ model, content: { parts: [{ text }] }, outputDimensionality }),
    ),
  }
}

/** The texts to embed. Token numbers are refused: clients' numbers come from other tokenizers than Google's. */
export function textsOf(request: CanonicalRequest) {
  assert(request.kind === 'embedding')
  const { model, inputs, dimensions: outputDimensionality } = request
  const texts = inputs.map((input) => {
    if (typeof input === 'string') return input
    throw unsupportedParameter('input', `${model} takes texts, not token numbers`)
  })
  return { texts, outputDimensionality }
}

export function decodeEmbeddings(body: JsonObject): readonly CanonicalEvent[] {
  if (isObject(body['error'])) throw streamError(decodeError(body))
  const { embeddings, usageMetadata } = body
  const usage = isObject(usageMetadata) ? decodeUsage(usageMetadata) : undefined
  const vectors = listOf(embeddings).map(decodeEmbedding)
  return embeddingAnswer(vectors, { model: '', inputTokens: usage?.inputTokens })
}

export function decodeEmbedding(entry: Json, index: number): CanonicalEvent {
  const { values } = objectOf(entry)
  if (!isArray(values) || !values.every((value) => typeof value === 'number')) {
    throw noVector()
  }
  return { type: 'embedding', index, vector: values }
}
