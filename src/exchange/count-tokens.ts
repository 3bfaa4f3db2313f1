// POST /v1/messages/count_tokens: what a request would be read as, by the provider's own count where it tells, else
// counted here. Costs nothing, so an exhausted budget does not refuse it; the rate limits count it.
import { permitModel } from '../access/permit.ts'
import { likelyInput, likelyTokens } from '../catalog/tokens.ts'
import type { Call } from '../core/call.ts'
import type { JsonObject } from '../core/json.ts'
import { readJsonBody } from '../wire/json.ts'
import { readCountCall } from '../wire/messages/call.ts'
import { textsOf } from '../wire/texts.ts'
import { identify } from './asking.ts'
import { countAt } from './count-input.ts'
import type { Incoming, Parts } from './exchange.ts'
import { answerFree } from './free.ts'
import { prepare } from './prepare.ts'
import type { Reply } from './reply.ts'

export async function countTokens(parts: Parts, incoming: Incoming, reply: Reply): Promise<void> {
  const { codec, trace } = incoming
  const caller = await identify(parts, incoming)
  const body = readJsonBody(await incoming.readBody())
  const call = readCountCall(body.value)
  const model = permitModel(parts.catalog(), caller, { call, kind: 'chat' })
  trace.model = model.id
  const { destinations } = parts.route(caller, model, {
    affinity: codec.affinityOf(body.value),
  })
  const [first] = prepare({ codec, body, call }, destinations)
  const asked = { asking: incoming, caller, model: call.model, reply }
  await answerFree(parts, asked, async () => {
    const headers = incoming.providerHeaders
    const told = first === undefined ? undefined : await countAt(first, headers, reply.closed)
    const tokens = told ?? (await countHere(parts, call, body.value))
    return JSON.stringify({ input_tokens: tokens })
  })
}

async function countHere({ tokenizer }: Parts, call: Call, body: JsonObject): Promise<number> {
  const { textBytes, jsonBytes } = call.input
  const counted = await tokenizer.count(textsOf(body))
  return likelyInput(call.input, counted ?? likelyTokens(textBytes + jsonBytes))
}
