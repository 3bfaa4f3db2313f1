// Chat completions, whole: the client's half, the provider's half, and passing through.
import type { EdgeCodec } from '../codec.ts'
import { readCall } from './call.ts'
import { encodeEvents, encodeResponse } from './events-encode.ts'
import { decodeRequest } from './request-decode.ts'

export const chatCodec: EdgeCodec = {
  format: 'chat',
  family: 'chat',
  readCall,
  decodeRequest,
  encodeEvents,
  encodeResponse,
}
