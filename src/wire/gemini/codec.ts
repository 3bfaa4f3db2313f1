// Google's generateContent and batchEmbedContents, as far as a provider sees them: no client speaks these formats.
import type { UpstreamCodec } from '../codec.ts'
import { decodeEmbeddings, encodeEmbeddings } from './embeddings.ts'
import { decodeError } from './error-decode.ts'
import { decodeEvents, decodeResponse } from './events-decode.ts'
import { encodeRequest } from './request-encode.ts'

export const geminiCodec: UpstreamCodec = {
  format: 'gemini',
  encodeRequest,
  decodeEvents,
  decodeResponse,
  decodeError,
}

export const geminiEmbeddingsCodec: UpstreamCodec = {
  format: 'gemini_embeddings',
  encodeRequest: encodeEmbeddings,
  decodeEvents: () => {
    throw new Error('embeddings are never streamed')
  },
  decodeResponse: decodeEmbeddings,
  decodeError,
}
