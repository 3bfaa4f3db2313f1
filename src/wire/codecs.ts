// The codec of each wire format.
import type { Format } from '../core/endpoints.ts'
import { chatCodec } from './chat/codec.ts'
import type { Codec } from './codec.ts'
import { embeddingsCodec } from './embeddings/codec.ts'
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
