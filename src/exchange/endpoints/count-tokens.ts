// POST /v1/messages/count_tokens and /v1/responses/input_tokens: the input tokens of a request, by the provider's own
// count where it gives one, else counted here. Costs nothing, so an exhausted budget does not refuse it; the rate limits
// count it.
import { permitModel } from '../../access/permit.ts'
import { likelyInput } from '../../catalog/worst-case.ts'
import type { JsonObject } from '../../core/json.ts'
import type { EdgeCodec } from '../../wire/contract/codec.ts'
import { textsOf } from '../../wire/contract/measure.ts'
import { readCountCall } from '../../wire/messages/call.ts'
import type { Parts } from '../exchange.ts'
import { countAt, prepare } from '../prepare.ts'
import type { Reply } from '../reply.ts'
import { readRequest } from '../request.ts'
import type { ClientRequest, InboundRequest } from '../request.ts'
import { answerFree } from './free.ts'

/** In the messages format, where a request whose tokens are only counted needs no output limit. */
export function countMessageTokens(
  parts: Parts,
  inbound: InboundRequest,
  reply: Reply,
): Promise<void> {
  return count(
    parts,
    { inbound, readCall: readCountCall, answerOf: (tokens) => ({ input_tokens: tokens }) },
    reply,
  )
}

/** In the responses format: also of the conversation behind a request, which it may name by an id. */
export function countResponseTokens(
  parts: Parts,
  inbound: InboundRequest,
  reply: Reply,
): Promise<void> {
  const answerOf = (tokens: number) => ({ object: 'response.input_tokens', input_tokens: tokens })
  return count(parts, { inbound, readCall: inbound.codec.readCall, answerOf }, reply)
}

type Counting = {
  readonly inbound: InboundRequest
  readonly readCall: EdgeCodec['readCall']
  readonly answerOf: (tokens: number) => JsonObject
}

async function count(
  parts: Parts,
  { inbound, readCall, answerOf }: Counting,
  reply: Reply,
): Promise<void> {
  const { caller, trace, providerHeaders } = inbound
  const request = await readRequest(parts, inbound, readCall)
  const { call } = request
  const model = permitModel(parts.registry.catalog, caller, { call, kind: 'chat' })
  trace.model = model.id
  const { routes } = parts.registry.route(caller, model, request)
  const [first] = await prepare(request, routes)
  const asked = { inbound, model: call.model, dropped: first?.dropped ?? [], reply }
  await answerFree(parts, asked, async () => {
    const told = first && (await countAt(first, providerHeaders, reply.closed))
    return JSON.stringify(answerOf(told ?? (await countHere(parts, request, readCall))))
  })
}

async function countHere(
  { tokenizer }: Parts,
  request: ClientRequest,
  readCall: EdgeCodec['readCall'],
): Promise<number> {
  const { call, content } = request
  await request.nextStep()
  const counted = await tokenizer.count(textsOf(readCall, content.value))
  return likelyInput(call.input, counted?.likely)
}
