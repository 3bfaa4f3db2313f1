// The provider's half of Google's formats, which no client speaks: generateContent for conversations; for embeddings
// batchEmbedContents (one request per text) and Vertex AI's predict (one instance per text).
import assert from 'node:assert/strict'
import { unsupportedParameter } from '../../core/errors.ts'
import type { CanonicalEvent } from '../../core/events.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { defined, isArray, isObject, listOf, numberOf, objectOf } from '../../core/json.ts'
import type { CanonicalRequest } from '../../core/request.ts'
import { embeddingAnswer, neverStreamed, noVector } from '../content/answer.ts'
import type { UpstreamCodec } from '../contract/codec.ts'
import { streamError } from '../contract/errors.ts'
import { decodeError, decodeEvents, decodeResponse, decodeUsage } from './answer-decode.ts'
import { encodeRequest, GEMINI_LOSSES } from './request-encode.ts'

export const geminiCodec: UpstreamCodec = {
  format: 'gemini',
  losses: GEMINI_LOSSES,
  encodeRequest,
  decodeEvents,
  decodeResponse,
  decodeError,
}

export const geminiEmbeddingsCodec: UpstreamCodec = {
  format: 'gemini_embeddings',
  losses: {},
  encodeRequest: encodeEmbeddings,
  decodeEvents: neverStreamed,
  decodeResponse: decodeEmbeddings,
  decodeError,
}

export const vertexEmbeddingsCodec: UpstreamCodec = {
  format: 'vertex_embeddings',
  losses: {},
  encodeRequest: encodePredictions,
  decodeEvents: neverStreamed,
  decodeResponse: decodePredictions,
  decodeError,
}

function encodeEmbeddings(request: CanonicalRequest): JsonObject {
  const { texts, outputDimensionality } = textsOf(request)
  const model = `models/${request.model}`
  return {
    requests: texts.map((text) =>
      defined({ model, content: { parts: [{ text }] }, outputDimensionality }),
    ),
  }
}

/** The texts to embed. Token numbers are refused: clients' numbers come from other tokenizers than Google's. */
function textsOf(request: CanonicalRequest) {
  assert(request.kind === 'embedding')
  const { model, inputs, dimensions: outputDimensionality } = request
  const texts = inputs.map((input) => {
    if (typeof input === 'string') return input
    throw unsupportedParameter('input', `${model} takes texts, not token numbers`)
  })
  return { texts, outputDimensionality }
}

function decodeEmbeddings(body: JsonObject): readonly CanonicalEvent[] {
  if (isObject(body['error'])) throw streamError(decodeError(body))
  const { embeddings, usageMetadata } = body
  const usage = isObject(usageMetadata) ? decodeUsage(usageMetadata) : undefined
  const vectors = listOf(embeddings).map(decodeEmbedding)
  return embeddingAnswer(vectors, { model: '', inputTokens: usage?.inputTokens })
}

function decodeEmbedding(entry: Json, index: number): CanonicalEvent {
  const { values } = objectOf(entry)
  if (!isArray(values) || !values.every((value) => typeof value === 'number')) {
    throw noVector()
  }
  return { type: 'embedding', index, vector: values }
}

function encodePredictions(request: CanonicalRequest): JsonObject {
  const { texts, outputDimensionality } = textsOf(request)
  return {
    instances: texts.map((content) => ({ content })),
    // The client must shorten a text that is too long; it is never cut silently.
    parameters: defined({ autoTruncate: false, outputDimensionality }),
  }
}

function decodePredictions(body: JsonObject): readonly CanonicalEvent[] {
  const predictions = listOf(body['predictions'])
  const embeddings = predictions.map((each) => objectOf(objectOf(each)['embeddings']))
  const counts = embeddings.map(({ statistics }) => numberOf(objectOf(statistics)['token_count']))
  const isCounted = counts.length > 0 && counts.every((count) => count !== undefined)
  const inputTokens = isCounted ? counts.reduce((sum, count) => sum + count, 0) : undefined
  return embeddingAnswer(embeddings.map(decodeEmbedding), { model: '', inputTokens })
}
