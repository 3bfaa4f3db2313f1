// Who is calling, and what they may call. From a request's headers to a key of the store, kept in memory, or a 401 that
// names what is wrong: reads only the header that the endpoint's family uses, unless the operator allows either; other
// credentials are ignored. Then the key's endpoints and models, with one answer for a model that does not exist and for
// one that is not allowed, so that nobody can find out what others may call.
import { UNKNOWN_ABILITIES, type Catalog, type Model } from '../catalog/models.ts'
import type { Clock } from '../core/clock.ts'
import type { AuthHeaders, Endpoint, Family, ModelKind } from '../core/endpoints.ts'
import { GatewayError } from '../core/errors.ts'
import type { KeyMode, WhenTight } from '../core/limits.ts'
import type { Call } from '../core/request.ts'
import { hashSecret, isWellFormedSecret, maskSecret } from '../core/secret.ts'
import { closest } from '../core/text.ts'
import { sandboxTarget } from '../providers/sandbox/models.ts'
import type { Store } from '../store/database/store.ts'
import { callableModels, findKey, findKeyBySecretHash, type CalledKey } from '../store/keys/keys.ts'
import type { ForeignSecret, Used } from '../store/keys/secrets.ts'
import { archivedGroup, expiredKey, pausedKey, revokedKey, StaleKey } from './refusal.ts'

export type Authenticator = {
  readonly clock: Clock
  /** As configured now. */
  readonly settings: { readonly authHeaders: AuthHeaders }
  readonly directory: Pick<KeyDirectory, 'findBySecretHash' | 'forget'>
  readonly foreign: Pick<ForeignSecrets, 'has'>
}

export type Credentials = {
  readonly family: Family
  readonly authorization: string | undefined
  readonly apiKey: string | undefined
}

export async function authenticate(
  { clock, settings, directory, foreign }: Authenticator,
  credentials: Credentials,
  trace: { keyId?: string; groupId?: string | null },
): Promise<Caller> {
  const isKey = (text: string): boolean => isWellFormedSecret(text) || foreign.has(text)
  const secret = secretOf(credentials, settings.authHeaders, isKey)
  // The checksum refuses typing errors and guesses before anything is looked up.
  if (!isKey(secret)) throw /^tg[ps]_/.test(secret) ? adminToken() : unknownKey()
  const caller = await directory.findBySecretHash(hashSecret(secret))
  const now = clock.now()
  const isOver = (caller?.secretValidUntil ?? Infinity) <= now
  if (caller === undefined || isOver) {
    throw unknownKey(isWellFormedSecret(secret) ? maskSecret(secret) : undefined)
  }
  // Also for a refused key: its id in the log helps to find out why.
  trace.keyId = caller.keyId
  trace.groupId = caller.groupId
  assertUsable(caller, now)
  return caller
}

/** If a key exists but may not be used, the error says why: its owner must know what to do. */
export function assertUsable(caller: Caller, now: number): void {
  if (caller.status === 'revoked') throw revokedKey()
  if (caller.expiresAt !== null && caller.expiresAt <= now) throw expiredKey()
  if (caller.status === 'paused') throw pausedKey()
  if (caller.isGroupArchived) throw archivedGroup(caller)
}

/** Runs a handler, and runs it again if the key was changed after it was looked up. `forget`: what is out of date. */
export function withCurrentKey(handle: () => Promise<void>, forget: () => void): Promise<void> {
  // Not awaited: an async function suspended while a stream is open adds half a kilobyte to each stream.
  return handle().catch((thrown: unknown) => {
    if (!(thrown instanceof StaleKey)) throw thrown
    forget()
    return handle()
  })
}

const BEARER = 'Authorization: Bearer <API_KEY>'
const API_KEY = 'x-api-key: <API_KEY>'

type IsKey = (text: string) => boolean

function secretOf(credentials: Credentials, headers: AuthHeaders, isKey: IsKey): string {
  const isMessages = credentials.family === 'messages'
  const own = isMessages ? apiKeyOf(credentials) : bearerOf(credentials)
  if (headers === 'strict') {
    if (own !== undefined) return own
    throw wrongHeader([isMessages ? API_KEY : BEARER])
  }
  const other = isMessages ? bearerOf(credentials) : apiKeyOf(credentials)
  // Nearly always there is one: then there is nothing to choose from.
  if (own !== undefined && other === undefined) return own
  const [key, another] = new Set([own, other].filter((each) => each !== undefined && isKey(each)))
  if (another !== undefined) throw twoKeys()
  // If neither can be a key, the refusal is about what the client most likely meant as one.
  const found = key ?? own ?? other
  if (found !== undefined) return found
  throw wrongHeader(isMessages ? [API_KEY, BEARER] : [BEARER, API_KEY])
}

function bearerOf({ authorization }: Credentials): string | undefined {
  // Other schemes separate their parameters by commas.
  if (authorization === undefined || !/(?:^|,)\s*bearer /i.test(authorization)) return undefined
  const match = /^bearer +(\S+)$/i.exec(valueOf('Authorization', authorization))
  return match?.[1]
}

function apiKeyOf({ apiKey }: Credentials): string | undefined {
  if (apiKey === undefined) return undefined
  const value = valueOf('x-api-key', apiKey)
  return value === '' ? undefined : value
}

/** A header that is sent again arrives as a list. Anthropic's Python library before 1.0 repeats a default header. */
function valueOf(name: string, header: string): string {
  if (!header.includes(',')) return header.trim()
  const [value = '', ...again] = header.split(',').map((each) => each.trim())
  if (again.every((each) => each === value)) return value
  throw new GatewayError(
    'invalid_api_key',
    `the header ${name} has several values: send it once, with one API key`,
  )
}

function wrongHeader(right: readonly string[]): GatewayError {
  const headers = right.map((header) => `"${header}"`).join(' or ')
  return new GatewayError(
    'invalid_api_key',
    `no API key was found: this endpoint reads it only from the header ${headers}`,
  )
}

function twoKeys(): GatewayError {
  return new GatewayError(
    'invalid_api_key',
    'this request has two different API keys, in Authorization and in x-api-key: send one of them',
  )
}

function adminToken(): GatewayError {
  return new GatewayError(
    'invalid_api_key',
    'this is an access token, which works only with the admin API: use an API key here',
  )
}

function unknownKey(masked?: string): GatewayError {
  return new GatewayError(
    'invalid_api_key',
    'this API key is unknown: check that you copied all of it, and that it belongs to this gateway',
    masked === undefined ? {} : { masked },
  )
}

/** As much of an external key as a request needs. A plain value, made once and passed forward. */
export type Caller = {
  readonly keyId: string
  readonly name: string
  readonly mode: KeyMode
  readonly status: 'active' | 'paused' | 'revoked'
  /** Milliseconds since 1970; null = never. */
  readonly expiresAt: number | null
  /** When the secret it called with stops working, after a rotation; null = it is the newest one. */
  readonly secretValidUntil: number | null
  /** The hash of the secret it called with, during a rotation: the operator waits for the old secret to fall idle. */
  readonly secretHash: string | null
  /** What it may call: its allowlist, as far as the ceiling of its group goes. */
  readonly models: ReadonlySet<string>
  readonly permissions: ReadonlySet<Endpoint>
  /** Compared by the ledger when it reserves, so that no request passes with settings that have since changed. */
  readonly allowVersion: number
  /** Its group and the version of its settings, compared likewise; null and 0 without one. */
  readonly groupId: string | null
  readonly groupVersion: number
  /** As people know it. */
  readonly groupName: string | null
  readonly isGroupArchived: boolean
  readonly whenTight: WhenTight
}

export async function loadCaller(store: Store, secretHash: string): Promise<Caller | undefined> {
  const found = await findKeyBySecretHash(store, secretHash)
  if (found === undefined) return undefined
  const { key, secretValidUntil, isRotating } = found
  return callerOf(key, { secretValidUntil, secretHash: isRotating ? secretHash : null })
}

/** A key used without its secret, because a person tries it out. */
export async function callerOfKey(store: Store, keyId: string): Promise<Caller> {
  return callerOf(await findKey(store, keyId), { secretValidUntil: null, secretHash: null })
}

function callerOf(key: CalledKey, secret: Pick<Caller, 'secretValidUntil' | 'secretHash'>): Caller {
  return {
    keyId: key.id,
    name: key.name,
    mode: key.mode,
    // Expiry depends on the time of each request, not of this look-up.
    status: key.status === 'expired' ? 'active' : key.status,
    expiresAt: key.expiresAt,
    ...secret,
    models: new Set(callableModels(key)),
    permissions: new Set(key.permissions),
    allowVersion: key.allowVersion,
    groupId: key.groupId,
    groupVersion: key.groupVersion,
    groupName: key.group?.name ?? null,
    isGroupArchived: key.group?.status === 'archived',
    whenTight: key.whenTight,
  }
}

const KEYS_MAX = 100_000
/** Unknown secrets are remembered for a while, so that repeated guesses do not reach the database each time. */
const UNKNOWN_MAX = 10_000

/** The calling keys, in memory: a bounded copy of what the store has, dropped at once when the store changes. */
export class KeyDirectory {
  readonly #load: (hash: string) => Promise<Caller | undefined>
  readonly #callers = new Map<string, Caller>()
  readonly #unknown = new Set<string>()
  /** Grows with every change, so that a look-up that began before a change does not put back what it read. */
  #version = 0

  constructor(load: (hash: string) => Promise<Caller | undefined>) {
    this.#load = load
  }

  findBySecretHash(hash: string): Promise<Caller | undefined> | Caller {
    return this.#callers.get(hash) ?? this.#find(hash)
  }

  /** Something in the store changed: what is remembered may be out of date. */
  forget(): void {
    this.#version++
    this.#callers.clear()
    this.#unknown.clear()
  }

  async #find(hash: string): Promise<Caller | undefined> {
    if (this.#unknown.has(hash)) return undefined
    const version = this.#version
    const caller = await this.#load(hash)
    if (version !== this.#version) return caller
    if (caller === undefined) {
      if (this.#unknown.size >= UNKNOWN_MAX) this.#unknown.clear()
      this.#unknown.add(hash)
    } else {
      const oldest = this.#callers.keys().next()
      if (this.#callers.size >= KEYS_MAX && !oldest.done) this.#callers.delete(oldest.value)
      this.#callers.set(hash, caller)
    }
    return caller
  }
}

/**
 * The hashes of secrets that other gateways made, in memory. Such a secret has no checksum, so without this every guess
 * would reach the database.
 */
export class ForeignSecrets {
  readonly #source: ForeignSource
  readonly #hashes = new Set<string>()
  #since = 0

  constructor(source: ForeignSource) {
    this.#source = source
  }

  has(secret: string): boolean {
    return this.#hashes.size > 0 && this.#source.isOn() && this.#hashes.has(hashSecret(secret))
  }

  /** Takes over what was added. One that no longer opens a key stays: its look-up says so. */
  async refresh(): Promise<void> {
    if (!this.#source.isOn()) return
    for (const { hash, createdAt } of await this.#source.read(this.#since)) {
      this.#hashes.add(hash)
      this.#since = Math.max(this.#since, createdAt)
    }
  }
}

type ForeignSource = {
  /** Whether such secrets open keys (`keys.foreign`). */
  readonly isOn: () => boolean
  /** Those that were added at a time or later. */
  readonly read: (since: number) => Promise<readonly ForeignSecret[]>
}

const WRITE_EVERY_MS = 5_000

/**
 * When each key was last used, and each of its secrets during a rotation. Gathered, and written every few seconds: it
 * helps people find unused keys, and is not worth a write per request.
 */
export class LastUse {
  readonly #clock: Clock
  readonly #write: (used: Used) => Promise<void>
  readonly #timer: NodeJS.Timeout
  #keys = new Map<string, number>()
  #secrets = new Map<string, number>()

  constructor(clock: Clock, write: (used: Used) => Promise<void>) {
    this.#clock = clock
    this.#write = write
    this.#timer = setInterval(() => void this.#flush(), WRITE_EVERY_MS)
    this.#timer.unref()
  }

  note({ keyId, secretHash }: Pick<Caller, 'keyId' | 'secretHash'>): void {
    const now = this.#clock.now()
    this.#keys.set(keyId, now)
    if (secretHash !== null) this.#secrets.set(secretHash, now)
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#flush()
  }

  async #flush(): Promise<void> {
    if (this.#keys.size === 0) return
    const used = { keys: this.#keys, secrets: this.#secrets }
    this.#keys = new Map()
    this.#secrets = new Map()
    try {
      await this.#write(used)
    } catch {
      // The database is away. Keys in use will be noted again; of the others these few seconds of use go unrecorded.
    }
  }
}

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
