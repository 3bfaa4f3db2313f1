// The provider's half of Amazon Bedrock's Converse format, which no client speaks. Its stream is binary; the adapter
// turns each frame into an event with the frame's name.
import type { UpstreamCodec } from '../codec.ts'
import { decodeError } from './error-decode.ts'
import { decodeEvents, decodeResponse } from './events-decode.ts'
import { encodeRequest } from './request-encode.ts'

export const converseCodec: UpstreamCodec = {
  format: 'converse',
  encodeRequest,
  decodeEvents,
  decodeResponse,
  decodeError,
}
