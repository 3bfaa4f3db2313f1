// The provider's half of Amazon Bedrock's Converse format, which no client speaks. Its stream is binary; the adapter
// turns each frame into an event with the frame's name.
import type { UpstreamCodec } from '../contract/codec.ts'
import { decodeError, decodeEvents, decodeResponse } from './answer-decode.ts'
import { CONVERSE_LOSSES, encodeRequest } from './request-encode.ts'

export const converseCodec: UpstreamCodec = {
  format: 'converse',
  losses: CONVERSE_LOSSES,
  encodeRequest,
  decodeEvents,
  decodeResponse,
  decodeError,
}
