// POST /v1/messages/count_tokens and /v1/responses/input_tokens: the input tokens of a request, by the provider's own
// count where it gives one, else counted here. Costs nothing, so an exhausted budget does not refuse it; the rate limits
// count it.
import { permitModel } from '../../access/permit.ts'
import { likelyInput } from '../../catalog/worst-case.ts'
import type { EdgeCodec } from '../../wire/contract/codec.ts'
import { textsOf } from '../../wire/contract/measure.ts'
import { readCountCall } from '../../wire/messages/call.ts'
import type { Handler, Parts } from '../exchange.ts'
import { countAt, prepare } from '../prepare.ts'
import { readRequest, type ClientRequest } from '../request.ts'
import { answerFree } from './free.ts'

export const countTokens: Handler<Parts> = async (parts, inbound, reply) => {
  const { caller, codec, trace, providerHeaders } = inbound
  const isMessages = codec.format === 'messages'
  // In the messages format, a request whose tokens are only counted needs no output limit.
  const readCall = isMessages ? readCountCall : codec.readCall
  const request = await readRequest(parts, inbound, readCall)
  const { call } = request
  const model = permitModel(parts.registry.catalog, caller, { call, kind: 'chat' })
  trace.model = model.id
  const { routes } = parts.registry.route(caller, model, request)
  const [first] = await prepare(request, routes)
  const asked = { inbound, model: call.model, dropped: first?.dropped ?? [], reply }
  await answerFree(parts, asked, async () => {
    const told = first && (await countAt(first, providerHeaders, reply.closed))
    const input_tokens = told ?? (await countHere(parts, request, readCall))
    return JSON.stringify(
      isMessages ? { input_tokens } : { object: 'response.input_tokens', input_tokens },
    )
  })
}

async function countHere(
  { tokenizer }: Parts,
  request: ClientRequest,
  readCall: EdgeCodec['readCall'],
): Promise<number> {
  await request.nextStep()
  const counted = await tokenizer.count(textsOf(readCall, request.content.value))
  return likelyInput(request.call.input, counted?.likely)
}
