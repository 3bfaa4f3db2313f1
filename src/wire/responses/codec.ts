// The responses format, both halves and the passage between equals.
import type { EdgeCodec } from '../codec.ts'
import { readCall } from './call.ts'
import { encodeEvents, encodeResponse } from './events-encode.ts'
import { decodeRequest } from './request-decode.ts'

export const responsesCodec: EdgeCodec = {
  format: 'responses',
  family: 'chat',
  readCall,
  decodeRequest,
  encodeEvents,
  encodeResponse,
}
