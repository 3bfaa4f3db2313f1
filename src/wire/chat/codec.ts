// The chat completions codec: the client's half, the provider's half, and passthrough.
import type { Codec } from '../codec.ts'
import { decodeErrorBody } from '../provider-errors.ts'
import { affinityOf } from './affinity.ts'
import { readCall } from './call.ts'
import { decodeEvents, decodeResponse } from './events-decode.ts'
import { encodeEvents, encodeResponse } from './events-encode.ts'
import { forwardEvents, forwardRequest, forwardResponse } from './forward.ts'
import { decodeRequest } from './request-decode.ts'
import { encodeRequest } from './request-encode.ts'
import { withoutThoughts } from './thoughts.ts'

export const chatCodec: Codec = {
  format: 'chat',
  family: 'chat',
  readCall,
  affinityOf,
  decodeRequest,
  withoutThoughts,
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
