// The messages codec: the client's half, the provider's half, and passthrough.
import type { Codec } from '../contract/codec.ts'
import { decodeError, decodeEvents, decodeResponse } from './answer-decode.ts'
import { encodeEvents, encodeResponse } from './answer-encode.ts'
import { affinityOf, readCall, withoutReasoning } from './call.ts'
import { forwardEvents, forwardRequest, forwardResponse } from './forward.ts'
import { decodeRequest } from './request-decode.ts'
import { encodeRequest, MESSAGES_LOSSES } from './request-encode.ts'

export const messagesCodec: Codec = {
  format: 'messages',
  family: 'messages',
  losses: MESSAGES_LOSSES,
  readCall,
  affinityOf,
  decodeRequest,
  withoutReasoning,
  encodeRequest,
  encodeEvents,
  encodeResponse,
  decodeEvents,
  decodeResponse,
  decodeError,
  forwardRequest,
  forwardEvents,
  forwardResponse,
}
