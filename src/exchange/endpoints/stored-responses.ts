// GET and DELETE /v1/responses/{id}, and the list of its input items: a key's own stored responses and no others.
import { createHash } from 'node:crypto'
import { GatewayError, invalidRequest, unsupportedParameter } from '../../core/errors.ts'
import { objectOf, stringOf, type Json, type JsonObject } from '../../core/json.ts'
import { itemType } from '../../wire/responses/fields.ts'
import type { Handler } from '../exchange.ts'
import type { InboundRequest } from '../request.ts'
import type { ResponsesState, StoredResponse } from '../responses/state.ts'
import { findResponse, forgetResponse } from '../responses/state.ts'
import { answerFree, type FreeParts } from './free.ts'

type StoredParts = FreeParts & { readonly responses: ResponsesState }

export const showResponse: Handler<StoredParts> = (parts, inbound, reply) => {
  const work = async (): Promise<string> => {
    // The events are not kept, and a client that expects a stream would read a plain answer as an empty one.
    if (inbound.query.get('stream') === 'true') {
      throw unsupportedParameter('stream', 'a stored response is returned whole: leave stream out')
    }
    const { response } = await storedAt(parts, inbound)
    return JSON.stringify(response)
  }
  return answerFree(parts, { inbound, model: '', reply, look: work }, work)
}

export const listInputItems: Handler<StoredParts> = (parts, inbound, reply) => {
  const work = async (): Promise<string> =>
    JSON.stringify(pageOfItems(await storedAt(parts, inbound), inbound.query))
  return answerFree(parts, { inbound, model: '', reply, look: work }, work)
}

export const deleteResponse: Handler<StoredParts> = (parts, inbound, reply) => {
  const { id, caller } = inbound
  const look = () => storedAt(parts, inbound)
  return answerFree(parts, { inbound, model: '', reply, look }, async () => {
    const isForgotten = await forgetResponse(parts.responses, { keyId: caller.keyId, id })
    if (!isForgotten) throw notFound(id)
    return JSON.stringify({ id, object: 'response', deleted: true })
  })
}

async function storedAt(
  { responses }: StoredParts,
  { id, caller }: InboundRequest,
): Promise<StoredResponse> {
  const stored = await findResponse(responses, { keyId: caller.keyId, id })
  if (stored === undefined) throw notFound(id)
  return stored
}

function notFound(id: string): GatewayError {
  return new GatewayError(
    'response_not_found',
    `this key has no stored response "${id.slice(0, 100)}"`,
  )
}

const LIMIT_DEFAULT = 20
const LIMIT_MAX = 100

type Stored = { readonly id: string; readonly input: readonly Json[] }

/** One page of the input, every item in its long form, newest first unless asked otherwise. */
export function pageOfItems(stored: Stored, query: URLSearchParams): JsonObject {
  const limit = limitOf(query.get('limit'))
  const listed = listedItems(stored)
  const ordered = orderOf(query.get('order')) === 'asc' ? listed : listed.toReversed()
  const start = startOf(ordered, query.get('after'))
  const data = ordered.slice(start, start + limit)
  return {
    object: 'list',
    data,
    first_id: data.at(0)?.['id'] ?? null,
    last_id: data.at(-1)?.['id'] ?? null,
    has_more: start + limit < ordered.length,
  }
}

function limitOf(text: string | null): number {
  if (text === null) return LIMIT_DEFAULT
  const limit = Number(text)
  if (Number.isInteger(limit) && limit >= 1 && limit <= LIMIT_MAX) return limit
  throw invalidRequest('limit', `limit must be a whole number from 1 to ${LIMIT_MAX}`)
}

function orderOf(text: string | null): 'asc' | 'desc' {
  if (text === null || text === 'desc') return 'desc'
  if (text === 'asc') return 'asc'
  throw invalidRequest('order', 'order must be asc or desc')
}

function startOf(items: readonly JsonObject[], after: string | null): number {
  if (after === null) return 0
  const index = items.findIndex((item) => item['id'] === after)
  if (index >= 0) return index + 1
  throw invalidRequest('after', 'after must be the id of an item of this response')
}

const PREFIXES: ReadonlyMap<string, string> = new Map([
  ['message', 'msg'],
  ['reasoning', 'rs'],
  ['function_call', 'fc'],
  ['function_call_output', 'fco'],
  ['custom_tool_call', 'ctc'],
  ['custom_tool_call_output', 'ctco'],
])

/** Some providers give every answer the same id: the first item keeps it, the others get a derived one. */
function listedItems({ id, input }: Stored): readonly JsonObject[] {
  const ids = new Set<string>()
  return input.map((item, index) => {
    const given = objectOf(item)
    const own = stringOf(given['id'])
    const isFirst = own !== undefined && !ids.has(own)
    if (isFirst) ids.add(own)
    return listedItem(given, isFirst ? own : derivedId(given, `${id}/${index}`))
  })
}

/** Derived from the item's position, so it is the same on every page and need not be stored. */
function derivedId(item: JsonObject, position: string): string {
  const digest = createHash('sha256').update(position).digest('hex').slice(0, 26)
  return `${PREFIXES.get(itemType(item)) ?? 'item'}_${digest}`
}

function listedItem(given: JsonObject, id: string): JsonObject {
  const type = itemType(given)
  if (type !== 'message') return { ...given, id }
  return { ...given, id, type, status: given['status'] ?? 'completed', content: contentOf(given) }
}

function contentOf(message: JsonObject): Json {
  const { role, content } = message
  if (typeof content !== 'string') return content ?? []
  return role === 'assistant'
    ? [{ type: 'output_text', text: content, annotations: [], logprobs: [] }]
    : [{ type: 'input_text', text: content }]
}
