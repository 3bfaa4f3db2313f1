// POST /v1/messages/count_tokens: the input tokens of a request, by the provider's own count where it gives one, else
// counted here. Costs nothing, so an exhausted budget does not refuse it; the rate limits count it.
import { permitModel } from '../access/permit.ts'
import { likelyInput } from '../catalog/tokens.ts'
import type { Call } from '../core/call.ts'
import type { JsonObject } from '../core/json.ts'
import { readJsonBody } from '../wire/json.ts'
import { readCountCall } from '../wire/messages/call.ts'
import { textsOf } from '../wire/texts.ts'
import { identify } from './asking.ts'
import { countAt } from './count-input.ts'
import type { Incoming } from './client-request.ts'
import { ClientRequest } from './client-request.ts'
import type { Parts } from './exchange.ts'
import { answerFree } from './free.ts'
import { prepare } from './prepare.ts'
import type { Reply } from './reply.ts'
import { withoutState } from './responses-state.ts'

export async function countTokens(parts: Parts, incoming: Incoming, reply: Reply): Promise<void> {
  const { trace } = incoming
  const caller = await identify(parts, incoming)
  const sent = readJsonBody(await incoming.readBody(caller.keyId))
  const call = readCountCall(sent.value)
  const request = new ClientRequest(incoming, withoutState(sent), { call, clock: parts.clock })
  const model = permitModel(parts.catalog(), caller, { call, kind: 'chat' })
  trace.model = model.id
  const { destinations } = parts.route(caller, model, request)
  const [first] = prepare(request, destinations)
  const dropped = first?.dropped ?? []
  const asked = { asking: incoming, caller, model: call.model, dropped, reply }
  await answerFree(parts, asked, async () => {
    const headers = incoming.providerHeaders
    const told = first === undefined ? undefined : await countAt(first, headers, reply.closed)
    const tokens = told ?? (await countHere(parts, call, sent.value))
    return JSON.stringify({ input_tokens: tokens })
  })
}

async function countHere({ tokenizer }: Parts, call: Call, body: JsonObject): Promise<number> {
  const count = await tokenizer.count(textsOf(readCountCall, body))
  return likelyInput(call.input, count?.likely)
}
