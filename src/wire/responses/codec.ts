// The responses codec: the client's half, the provider's half, and passthrough.
import type { Codec } from '../contract/codec.ts'
import { decodeErrorBody } from '../contract/errors.ts'
import { decodeEvents, decodeResponse } from './answer-decode.ts'
import { encodeEvents, encodeResponse } from './answer-encode.ts'
import { affinityOf, readCall } from './call.ts'
import { forwardEvents, forwardRequest, forwardResponse } from './forward.ts'
import { withoutReasoning } from './reasoning.ts'
import { decodeRequest } from './request-decode.ts'
import { RESPONSES_LOSSES } from './losses.ts'
import { encodeRequest } from './request-encode.ts'

export const responsesCodec: Codec = {
  format: 'responses',
  family: 'chat',
  losses: RESPONSES_LOSSES,
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
