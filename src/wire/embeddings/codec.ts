// The embeddings codec. The format has no streams, so the streaming functions are never called.
import type { Codec } from '../codec.ts'
import { neverStreamed } from '../embedding-answer.ts'
import { changeMembers } from '../json.ts'
import { decodeErrorBody } from '../provider-errors.ts'
import { decodeResponse, encodeResponse, forwardResponse } from './answer.ts'
import { affinityOf, decodeRequest, encodeRequest, readCall } from './request.ts'

export const embeddingsCodec: Codec = {
  format: 'embeddings',
  family: 'chat',
  readCall,
  affinityOf,
  decodeRequest,
  encodeRequest,
  encodeResponse,
  decodeResponse,
  decodeError: decodeErrorBody,
  forwardRequest: (body, change) => changeMembers(body, { model: change.model }),
  forwardResponse,
  encodeEvents: neverStreamed,
  decodeEvents: neverStreamed,
  forwardEvents: neverStreamed,
}
