// GET /v1/models and /v1/models/{id}: the models of the calling key and no others, in entries that the SDKs of both
// families can read.
import type { Caller } from '../../access/authenticate.ts'
import type { Model } from '../../catalog/models.ts'
import type { ModelKind } from '../../core/endpoints.ts'
import { GatewayError, invalidRequest } from '../../core/errors.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Handler, Registry } from '../exchange.ts'
import { answerFree, type FreeParts } from './free.ts'

type ListingParts = FreeParts & { readonly registry: Pick<Registry, 'catalog'> }

export const listModels: Handler<ListingParts> = (parts, inbound, reply) => {
  return answerFree(parts, { inbound, model: '', reply }, () => {
    const { models, hasMore } = pageOf(modelsOf(parts, inbound.caller), inbound.query)
    return JSON.stringify({
      object: 'list',
      data: models.map(entryOf),
      has_more: hasMore,
      first_id: models.at(0)?.id ?? null,
      last_id: models.at(-1)?.id ?? null,
    })
  })
}

const LIMIT_MAX = 1000

type Page = { readonly models: readonly Listed[]; readonly hasMore: boolean }

/** The models that the query asks for, as Anthropic pages them; all of them, as OpenAI lists them, if it asks for none. */
function pageOf(models: readonly Listed[], query: URLSearchParams): Page {
  const most = limitOf(query.get('limit')) ?? models.length
  const [after, before] = [query.get('after_id'), query.get('before_id')]
  if (after !== null && before !== null) {
    throw invalidRequest('before_id', 'send after_id or before_id, not both')
  }
  if (before !== null) {
    const end = positionOf(before, { models, param: 'before_id' })
    const start = Math.max(0, end - most)
    return { models: models.slice(start, end), hasMore: start > 0 }
  }
  const start = after === null ? 0 : positionOf(after, { models, param: 'after_id' }) + 1
  const end = start + most
  return { models: models.slice(start, end), hasMore: end < models.length }
}

function limitOf(text: string | null): number | undefined {
  if (text === null) return undefined
  if (/^[1-9]\d{0,3}$/.test(text) && Number(text) <= LIMIT_MAX) return Number(text)
  throw invalidRequest('limit', `limit must be a whole number from 1 to ${LIMIT_MAX}`)
}

type Sought = { readonly models: readonly Listed[]; readonly param: string }

function positionOf(id: string, { models, param }: Sought): number {
  const position = models.findIndex((model) => model.id === id)
  if (position >= 0) return position
  throw invalidRequest(param, `${param} must be the id of a model in this list`)
}

export const showModel: Handler<ListingParts> = async (parts, inbound, reply) => {
  const name = parts.registry.catalog.aliases.get(inbound.id) ?? inbound.id
  const model = modelsOf(parts, inbound.caller).find(({ id }) => id === name)
  if (model === undefined) {
    throw new GatewayError(
      'model_not_found',
      `this key has no model named "${inbound.id.slice(0, 200)}": GET /v1/models lists those it may call`,
      { param: 'model' },
    )
  }
  const asked = { inbound, model: model.id, reply }
  await answerFree(parts, asked, () => JSON.stringify(entryOf(model)))
}

/** A model that only a test key's allowlist names is known by name alone: the sandbox plays it as any kind. */
type Listed = Pick<Model, 'id' | 'targets' | 'fallbacks' | 'context' | 'maxOutput'> & {
  readonly kind: ModelKind | null
}

const UNKNOWN = { kind: null, targets: [], fallbacks: [], context: null, maxOutput: null }

function modelsOf({ registry }: ListingParts, caller: Caller): readonly Listed[] {
  const known = registry.catalog.list().filter(({ id }) => caller.models.has(id))
  if (caller.mode === 'live') return known.filter(({ available }) => available)
  const names = new Set(known.map(({ id }) => id))
  const played = [...caller.models].filter((id) => !names.has(id))
  return [...known, ...played.map((id) => ({ ...UNKNOWN, id }))]
}

/** Publication dates are not known here; both families only require that there is one. */
const CREATED = 1_700_000_000

function entryOf(model: Listed): JsonObject {
  return {
    id: model.id,
    object: 'model',
    created: CREATED,
    owned_by: (model.targets[0] ?? model.fallbacks[0])?.provider ?? 'tollgate',
    type: 'model',
    kind: model.kind,
    display_name: model.id,
    created_at: new Date(CREATED * 1000).toISOString(),
    lifecycle: 'active',
    max_input_tokens: model.context,
    max_tokens: model.maxOutput,
  }
}
