// The embeddings codec. The format has no streams, so the streaming functions are never called.
import { neverStreamed } from '../content/answer.ts'
import type { Codec } from '../contract/codec.ts'
import { decodeErrorBody } from '../contract/errors.ts'
import { rewriteMembers } from '../json/body.ts'
import { decodeResponse, encodeResponse, forwardResponse } from './answer.ts'
import { affinityOf, decodeRequest, encodeRequest, readCall } from './request.ts'

export const embeddingsCodec: Codec = {
  format: 'embeddings',
  family: 'chat',
  losses: {},
  readCall,
  affinityOf,
  decodeRequest,
  encodeRequest,
  encodeResponse,
  decodeResponse,
  decodeError: decodeErrorBody,
  forwardRequest: (body, { model, adapt }) => rewriteMembers(body, () => ({ model }), adapt),
  forwardResponse,
  encodeEvents: neverStreamed,
  decodeEvents: neverStreamed,
  forwardEvents: neverStreamed,
}
