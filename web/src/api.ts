// The only place that calls the gateway: a route of the contract goes in, its validated answer comes out.
import { adminError } from '../../src/admin/contract/errors.ts'
import type { AdminErrorCode, AdminErrorJson, Conflict } from '../../src/admin/contract/errors.ts'
import { API_PREFIX } from '../../src/admin/contract/route.ts'
import type { Refusal } from './i18n/said.ts'
import type { AnswerOf, BodyOf, ParamsOf, QueryOf, Route } from '../../src/admin/contract/route.ts'

type Readiness = 'ready' | 'not-ready' | 'unreachable'

/** `unreachable`: no answer came. `not_understood`: the answer is none that this admin API gives. */
type ApiErrorCode = AdminErrorCode | 'unreachable' | 'not_understood'

type FieldProblem = Refusal & { readonly field: string }

export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly code: ApiErrorCode
  readonly status: number
  readonly requestId: string | undefined
  /** The name of the message in the catalogue, and the values it takes. */
  readonly reason: string | undefined
  readonly values: Refusal['values']
  /** Every invalid field, spelled as in the request body. */
  readonly problems: readonly FieldProblem[]
  readonly permission: string | undefined
  readonly conflict: Conflict | undefined

  constructor(code: ApiErrorCode, status: number, json?: AdminErrorJson['error']) {
    super(json?.message ?? code)
    this.code = code
    this.status = status
    this.requestId = json?.request_id
    this.reason = json?.reason
    this.values = json?.values
    const { field } = json ?? {}
    this.problems = json?.problems ?? (json && field ? [{ ...json, field }] : [])
    this.permission = json?.permission
    this.conflict = json?.conflict
  }
}

type Part<Name extends string, Value> = undefined extends Value
  ? object
  : object extends Value
    ? { readonly [N in Name]?: Value }
    : { readonly [N in Name]: Value }

/** The parts a route requires, and the options every request accepts. */
type Sent<R extends Route> = Part<'params', ParamsOf<R>> &
  Part<'query', QueryOf<R>> &
  Part<'body', BodyOf<R>> & {
    /** The version the change is based on. */
    readonly ifMatch?: string
    /** The same for every retry of one action, so that a lost answer does not create something twice. */
    readonly idempotencyKey?: string
    readonly signal?: AbortSignal
  }

/** `Sent` for any route. */
type Envelope = {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: unknown
  readonly ifMatch?: string
  readonly idempotencyKey?: string
  readonly signal?: AbortSignal
}

export async function call<R extends Route>(route: R, sent: Sent<R>): Promise<AnswerOf<R>> {
  const envelope = sent as Envelope
  const response = await send(route, envelope)
  if (!response.ok) throw await readError(response)
  const answer = route.media ? await response.text() : await readJson(response)
  const parsed = route.answer.safeParse(answer)
  if (!parsed.success) throw new ApiError('not_understood', response.status)
  return parsed.data as AnswerOf<R>
}

/** The URL of a route, for download links. */
export function addressOf<R extends Route>(route: R, sent: Sent<R>): string {
  const { params = {}, query = {} } = sent as Envelope
  const path = route.path.replace(/:(\w+)/g, (_, name: string) =>
    encodeURIComponent(params[name] ?? ''),
  )
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== '') search.set(name, String(value))
  return `${API_PREFIX}${path}${search.size > 0 ? `?${search}` : ''}`
}

export function newIdempotencyKey(): string {
  // crypto.randomUUID() exists over HTTPS only.
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('')
}

export async function fetchReadiness(): Promise<Readiness> {
  try {
    const response = await fetch('/readyz', { cache: 'no-store' })
    return response.ok ? 'ready' : 'not-ready'
  } catch {
    return 'unreachable'
  }
}

async function send(route: Route, envelope: Envelope): Promise<Response> {
  const headers = new Headers({ accept: route.media ?? 'application/json' })
  if (envelope.body !== undefined) headers.set('content-type', 'application/json')
  if (envelope.ifMatch !== undefined) headers.set('if-match', envelope.ifMatch)
  if (envelope.idempotencyKey !== undefined) headers.set('idempotency-key', envelope.idempotencyKey)
  try {
    return await fetch(addressOf(route, envelope as Sent<Route>), {
      method: route.method,
      headers,
      body: envelope.body === undefined ? null : JSON.stringify(envelope.body),
      signal: envelope.signal ?? null,
      cache: 'no-store',
    })
  } catch (error) {
    if (envelope.signal?.aborted) throw error
    throw new ApiError('unreachable', 0)
  }
}

async function readError(response: Response): Promise<ApiError> {
  const parsed = adminError.safeParse(await readJson(response).catch(() => undefined))
  if (!parsed.success) return new ApiError('not_understood', response.status)
  return new ApiError(parsed.data.error.code, response.status, parsed.data.error)
}

async function readJson(response: Response): Promise<unknown> {
  try {
    return await response.json()
  } catch {
    throw new ApiError('not_understood', response.status)
  }
}
