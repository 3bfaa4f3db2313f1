// The messages format, as the codec that the rest of Tollgate asks for.
import type { EdgeCodec } from '../codec.ts'
import { readCall } from './call.ts'
import { encodeEvents, encodeResponse } from './events-encode.ts'
import { decodeRequest } from './request-decode.ts'

export const messagesCodec: EdgeCodec = {
  format: 'messages',
  family: 'messages',
  readCall,
  decodeRequest,
  encodeEvents,
  encodeResponse,
}
