// GET and DELETE /v1/responses/{id}, and the list of its input items: a key's own stored responses and no others.
import { GatewayError, unsupportedParameter } from '../core/errors.ts'
import type { ResponseName } from '../store/responses.ts'
import type { Asking, IdentifyParts } from './asking.ts'
import { identify } from './asking.ts'
import { answerFree } from './free.ts'
import type { FreeParts } from './free.ts'
import { pageOfItems } from './input-items.ts'
import type { Reply } from './reply.ts'
import type { ResponsesState, StoredResponse } from './responses-state.ts'
import { findResponse, forgetResponse } from './responses-state.ts'

type StoredParts = IdentifyParts & FreeParts & { readonly responses: ResponsesState }

/** A request about one stored response. */
type AskingForStored = Asking & { readonly id: string; readonly query: URLSearchParams }

export async function showResponse(
  parts: StoredParts,
  asking: AskingForStored,
  reply: Reply,
): Promise<void> {
  await answerAbout(parts, { asking, reply }, async (name) => {
    if (asking.query.get('stream') === 'true') throw notStreamed()
    const { response } = await storedAs(parts, name)
    return JSON.stringify(response)
  })
}

export async function listInputItems(
  parts: StoredParts,
  asking: AskingForStored,
  reply: Reply,
): Promise<void> {
  await answerAbout(parts, { asking, reply }, async (name) => {
    const stored = await storedAs(parts, name)
    return JSON.stringify(pageOfItems(stored, asking.query))
  })
}

export async function deleteResponse(
  parts: StoredParts,
  asking: AskingForStored,
  reply: Reply,
): Promise<void> {
  const look = (name: ResponseName) => storedAs(parts, name)
  await answerAbout(parts, { asking, reply, look }, async (name) => {
    if (!(await forgetResponse(parts.responses, name))) throw notFound(name)
    return JSON.stringify({ id: name.id, object: 'response', deleted: true })
  })
}

type About = {
  readonly asking: AskingForStored
  readonly reply: Reply
  /** What a dry run does instead of work that changes something. */
  readonly look?: (name: ResponseName) => Promise<unknown>
}

async function answerAbout(
  parts: StoredParts,
  { asking, reply, look }: About,
  work: (name: ResponseName) => Promise<string>,
): Promise<void> {
  const caller = await identify(parts, asking)
  const name = { keyId: caller.keyId, id: asking.id }
  const call = { asking, caller, model: '', reply, look: () => (look ?? work)(name) }
  await answerFree(parts, call, () => work(name))
}

async function storedAs(parts: StoredParts, name: ResponseName): Promise<StoredResponse> {
  const stored = await findResponse(parts.responses, name)
  if (stored === undefined) throw notFound(name)
  return stored
}

function notFound({ id }: ResponseName): GatewayError {
  return new GatewayError(
    'response_not_found',
    `this key has no stored response "${id.slice(0, 100)}"`,
  )
}

/** The events are not kept, and a client that expects a stream would read a plain answer as an empty one. */
function notStreamed(): GatewayError {
  return unsupportedParameter('stream', 'a stored response is returned whole: leave stream out')
}
