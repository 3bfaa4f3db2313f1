// The codec of each wire format.
import type { Format, UpstreamFormat } from '../core/endpoints.ts'
import { chatCodec } from './chat/codec.ts'
import type { Codec, UpstreamCodec } from './contract/codec.ts'
import { converseCodec } from './converse/codec.ts'
import { embeddingsCodec } from './embeddings/codec.ts'
import { geminiCodec, geminiEmbeddingsCodec, vertexEmbeddingsCodec } from './gemini/codec.ts'
import { messagesCodec } from './messages/codec.ts'
import { responsesCodec } from './responses/codec.ts'

export const CODECS: Record<Format, Codec> = {
  chat: chatCodec,
  responses: responsesCodec,
  messages: messagesCodec,
  embeddings: embeddingsCodec,
}

/** Also those of formats that no client speaks, which have the provider's half alone. */
export const UPSTREAM_CODECS: Record<UpstreamFormat, UpstreamCodec> = {
  ...CODECS,
  converse: converseCodec,
  gemini: geminiCodec,
  gemini_embeddings: geminiEmbeddingsCodec,
  vertex_embeddings: vertexEmbeddingsCodec,
}
