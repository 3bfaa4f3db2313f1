// The messages codec: the client's half, the provider's half, and passthrough.
import type { Codec } from '../contract/codec.ts'
import { decodeError, decodeEvents, decodeResponse } from './answer-decode.ts'
import { encodeEvents, encodeResponse } from './answer-encode.ts'
import { affinityOf, readCall } from './call.ts'
import { forwardEvents, forwardRequest, forwardResponse } from './forward.ts'
import { withoutReasoning } from './reasoning.ts'
import { decodeRequest } from './request-decode.ts'
import { MESSAGES_LOSSES } from './losses.ts'
import { encodeRequest } from './request-encode.ts'

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
