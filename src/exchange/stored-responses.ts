// GET and DELETE /v1/responses/{id}, and the list of its input items: what a key stored, and nobody else's.
import { GatewayError } from '../core/errors.ts'
import type { Asking, ListingParts } from './asking.ts'
import { admitFree, identify } from './asking.ts'
import { pageOfItems } from './input-items.ts'
import type { Reply } from './reply.ts'
import type { ResponsesState, ShelfName, StoredResponse } from './responses-state.ts'
import { findResponse, forgetResponse } from './responses-state.ts'

export type StoredParts = ListingParts & { readonly responses: ResponsesState }

/** A request about one stored response. */
export type AskingForStored = Asking & { readonly id: string; readonly query: URLSearchParams }

export async function showResponse(
  parts: StoredParts,
  asking: AskingForStored,
  reply: Reply,
): Promise<void> {
  const { response } = await storedFor(parts, asking, reply)
  await reply.end(JSON.stringify(response))
}

export async function listInputItems(
  parts: StoredParts,
  asking: AskingForStored,
  reply: Reply,
): Promise<void> {
  const stored = await storedFor(parts, asking, reply)
  await reply.end(JSON.stringify(pageOfItems(stored, asking.query)))
}

export async function deleteResponse(
  parts: StoredParts,
  asking: AskingForStored,
  reply: Reply,
): Promise<void> {
  const { id } = asking
  const name = await nameFor(parts, asking, reply)
  if (!(await forgetResponse(parts.responses, name))) throw notFound(id)
  await reply.end(JSON.stringify({ id, object: 'response', deleted: true }))
}

async function storedFor(
  parts: StoredParts,
  asking: AskingForStored,
  reply: Reply,
): Promise<StoredResponse> {
  const name = await nameFor(parts, asking, reply)
  const stored = await findResponse(parts.responses, name)
  if (stored === undefined) throw notFound(asking.id)
  return stored
}

async function nameFor(
  parts: StoredParts,
  asking: AskingForStored,
  reply: Reply,
): Promise<ShelfName> {
  const caller = await identify(parts, asking)
  await admitFree(parts, caller, { asking, model: '', reply })
  return { keyId: caller.keyId, id: asking.id }
}

function notFound(id: string): GatewayError {
  return new GatewayError(
    'response_not_found',
    `this key has no stored response "${id.slice(0, 100)}"`,
  )
}
