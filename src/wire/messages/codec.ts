// The messages codec: the client's half, the provider's half, and passthrough.
import type { Codec } from '../codec.ts'
import { affinityOf } from './affinity.ts'
import { readCall } from './call.ts'
import { decodeError } from './error-decode.ts'
import { decodeEvents, decodeResponse } from './events-decode.ts'
import { encodeEvents, encodeResponse } from './events-encode.ts'
import { forwardEvents, forwardRequest, forwardResponse } from './forward.ts'
import { decodeRequest } from './request-decode.ts'
import { encodeRequest } from './request-encode.ts'
import { withoutThoughts } from './thoughts.ts'

export const messagesCodec: Codec = {
  format: 'messages',
  family: 'messages',
  readCall,
  affinityOf,
  decodeRequest,
  withoutThoughts,
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
