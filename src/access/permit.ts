// What a key may call: its endpoints and its models. One answer for a model that does not exist and for one that is not
// allowed, so that nobody can find out what others may call.
import { UNKNOWN_ABILITIES, type Catalog, type Model } from '../catalog/models.ts'
import type { Endpoint, ModelKind } from '../core/endpoints.ts'
import { GatewayError } from '../core/errors.ts'
import type { Call } from '../core/request.ts'
import { closest } from '../core/text.ts'
import { sandboxTarget } from '../providers/sandbox/models.ts'
import type { Caller } from './authenticate.ts'

export function permitEndpoint(caller: Caller, endpoint: Endpoint): void {
  if (caller.permissions.has(endpoint)) return
  throw new GatewayError(
    'endpoint_not_allowed',
    `the key "${caller.name}" may not call this endpoint: it needs the permission "${endpoint}"`,
  )
}

/** The model a call asks for, if the key may call it and it has the abilities the call needs. */
export function permitModel(
  catalog: Catalog,
  caller: Caller,
  { call, kind }: { readonly call: Pick<Call, 'model' | 'needs'>; readonly kind: ModelKind },
): Model {
  if (!caller.models.has(call.model)) throw modelNotAllowed(caller, call.model)
  const listed = catalog.get(call.model)
  const model = caller.mode === 'test' ? sandboxModel(call.model, kind, listed) : listed
  if (model === undefined) throw modelNotThere(caller, call.model)
  if (model.kind !== kind) throw wrongKind(model)
  if (!model.available && caller.mode === 'live') {
    throw notAvailable(`the model ${model.id} is not`, model.reason)
  }
  const missing = call.needs.find((ability) => model.abilities[ability] === false)
  if (missing !== undefined) {
    throw new GatewayError(
      'ability_missing',
      `the model ${model.id} cannot do what this request needs: ${missing.replace('_', ' ')}`,
      { facts: { ability: missing } },
    )
  }
  return model
}

/** The refusal of a key without permissions, at any endpoint. */
export function noEndpointAllowed(): GatewayError {
  return new GatewayError(
    'endpoint_not_allowed',
    'this key may not call any endpoint: it has no permissions',
  )
}

/** The refusal of a key with an empty allowlist, or with none of the models of its group, for any model. */
export function noModelAllowed(groupName: string | null): GatewayError {
  const why =
    groupName === null
      ? 'its allowlist is empty'
      : `its allowlist has none that its group "${groupName}" may call`
  return new GatewayError('model_not_allowed', `this key may not call any model: ${why}`)
}

/** The refusal of a key none of whose models can be called; undefined = at least one can. */
export function noModelCallable(catalog: Catalog, caller: Caller): GatewayError | undefined {
  if (caller.models.size === 0) return noModelAllowed(caller.groupName)
  // The sandbox plays whatever a test key may call.
  if (caller.mode === 'test') return undefined
  const listed = [...caller.models].flatMap((id) => catalog.get(id) ?? [])
  if (listed.some(({ available }) => available)) return undefined
  if (listed.length > 0) return notAvailable('none of the models that this key may call is')
  return new GatewayError(
    'model_not_allowed',
    'right now this gateway has none of the models that this key may call: ask an administrator',
  )
}

/** No model has a longer name, so the rest cannot matter. */
const NAME_CHARACTERS = 200

function modelNotAllowed(caller: Caller, asked: string): GatewayError {
  const name = asked.slice(0, NAME_CHARACTERS)
  const close = closest(name, caller.models)
  const help =
    close === undefined
      ? 'ask an administrator to allow it'
      : `the closest allowed one is "${close}"`
  return new GatewayError(
    'model_not_allowed',
    `the key "${caller.name}" may not call a model named "${name}": ${help}`,
    { param: 'model', modelAsked: asked },
  )
}

/** A test key's models need not exist on this gateway: the sandbox plays what the key may call, as far as it can. */
function sandboxModel(id: string, kind: ModelKind, listed: Model | undefined): Model {
  if (listed?.available) return listed
  const target = sandboxTarget(id)
  return {
    id,
    kind: listed?.kind ?? kind,
    targets: [target],
    fallbacks: [],
    price: null,
    context: target.context,
    maxOutput: target.maxOutput,
    defaultOutput: null,
    abilities: listed?.abilities ?? UNKNOWN_ABILITIES,
    available: false,
    leftOut: [],
    reason: null,
  }
}

function modelNotThere(caller: Caller, asked: string): GatewayError {
  return new GatewayError(
    'model_not_allowed',
    `the key "${caller.name}" may call "${asked}", but this gateway does not have that model right now: ask an administrator`,
    { param: 'model', modelAsked: asked },
  )
}

function notAvailable(what: string, cause?: string | null): GatewayError {
  return new GatewayError(
    'provider_failed',
    `${what} available right now: an administrator can see why with "tollgate models"`,
    { shouldRetry: false, cause },
  )
}

function wrongKind(model: Model): GatewayError {
  return new GatewayError(
    'wrong_model_kind',
    model.kind === 'embedding'
      ? `${model.id} is an embedding model: call it through /v1/embeddings`
      : `${model.id} is a chat model: it cannot create embeddings`,
    { param: 'model' },
  )
}
