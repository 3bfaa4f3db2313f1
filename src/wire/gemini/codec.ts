// The provider's half of Google's generateContent, batchEmbedContents and predict, which no client speaks.
import { neverStreamed } from '../content/answer.ts'
import type { UpstreamCodec } from '../contract/codec.ts'
import { decodeError, decodeEvents, decodeResponse } from './answer-decode.ts'
import {
  decodeEmbeddings,
  decodePredictions,
  encodeEmbeddings,
  encodePredictions,
} from './embeddings.ts'
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
