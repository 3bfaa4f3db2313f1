// The provider's half of Amazon Bedrock's Converse format, which no client speaks. Its stream is binary; the adapter
// turns each frame into an event with the frame's name.
import { stringOf } from '../../core/json.ts'
import type { UpstreamCodec } from '../codec.ts'
import { decodeEvents, decodeResponse } from './events-decode.ts'
import { encodeRequest } from './request-encode.ts'

export const converseCodec: UpstreamCodec = {
  format: 'converse',
  encodeRequest,
  decodeEvents,
  decodeResponse,
  decodeError: ({ message, Message: other }) => {
    const told = stringOf(message) ?? stringOf(other)
    return told === undefined ? {} : { message: told }
  },
}
