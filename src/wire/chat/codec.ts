// The chat completions codec: the client's half, the provider's half, and passthrough.
import type { Codec } from '../contract/codec.ts'
import { decodeErrorBody } from '../contract/errors.ts'
import { decodeEvents, decodeResponse } from './answer-decode.ts'
import { encodeEvents, encodeResponse } from './answer-encode.ts'
import { affinityOf, readCall, withoutReasoning } from './call.ts'
import { forwardEvents, forwardRequest, forwardResponse } from './forward.ts'
import { decodeRequest } from './request-decode.ts'
import { CHAT_LOSSES, encodeRequest } from './request-encode.ts'

export const chatCodec: Codec = {
  format: 'chat',
  family: 'chat',
  losses: CHAT_LOSSES,
  readCall,
  affinityOf,
  decodeRequest,
  withoutReasoning,
  encodeEvents,
  encodeResponse,
  encodeRequest,
  decodeEvents,
  decodeResponse,
  decodeError: decodeErrorBody,
  forwardRequest,
  forwardEvents,
  forwardResponse,
}
