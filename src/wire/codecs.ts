// The codec of each wire format.
import type { Format, UpstreamFormat } from '../core/endpoints.ts'
import { chatCodec } from './chat/codec.ts'
import type { Codec, UpstreamCodec } from './contract/codec.ts'
import { converseCodec } from './converse/codec.ts'
import { embeddingsCodec } from './embeddings/codec.ts'
import { geminiCodec, geminiEmbeddingsCodec, vertexEmbeddingsCodec } from './gemini/codec.ts'
import { messagesCodec } from './messages/codec.ts'
import { responsesCodec } from './responses/codec.ts'

export function codecOf(format: Format): Codec {
  switch (format) {
    case 'chat':
      return chatCodec
    case 'embeddings':
      return embeddingsCodec
    case 'messages':
      return messagesCodec
    case 'responses':
      return responsesCodec
  }
}

/** The provider's half, which is all that formats without clients have. */
export function upstreamCodecOf(format: UpstreamFormat): UpstreamCodec {
  switch (format) {
    case 'converse':
      return converseCodec
    case 'gemini':
      return geminiCodec
    case 'gemini_embeddings':
      return geminiEmbeddingsCodec
    case 'vertex_embeddings':
      return vertexEmbeddingsCodec
    case 'chat':
    case 'embeddings':
    case 'messages':
    case 'responses':
      return codecOf(format)
  }
}
