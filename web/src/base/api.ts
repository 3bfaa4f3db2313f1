// The only place that calls the gateway: a route of the contract goes in, its validated answer comes out.
import {
  adminError,
  type AdminErrorCode,
  type AdminErrorJson,
  type Conflict,
} from '../../../src/admin/contract/errors.ts'
import {
  addressOf as addressBelow,
  type AnswerOf,
  type EVENT_STREAM,
  PERMISSIONS_HEADER,
  type AdminRoute,
  type Sent as SentTo,
  type SentParts,
} from '../../../src/admin/contract/route.ts'
import { type Refusal, said } from '../i18n/i18n.ts'
import { askedAhead, forgetAhead } from './ahead.ts'

type Readiness = 'ready' | 'not-ready' | 'unreachable'

/** No whole answer came; none came in time; it is none that this admin API gives. */
type ApiErrorCode = AdminErrorCode | 'unreachable' | 'unanswered' | 'not_understood'

/** How long an answer may take. */
const answerMsMax = 30_000
/** For answers that wait for a model: the longest that a provider may take by default. */
export const modelAnswerMsMax = 30 * 60_000

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

type Options = {
  /** The version the change is based on. */
  readonly ifMatch?: string
  /** The same for every retry of one action, so that a lost answer does not create something twice. */
  readonly idempotencyKey?: string
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

type Sent<R extends AdminRoute> = SentTo<R> & Options
type Envelope = SentParts & Options

type Received = { readonly status: number; readonly isOk: boolean; readonly text: string }

export async function call<R extends AdminRoute>(route: R, sent: Sent<R>): Promise<AnswerOf<R>> {
  const envelope = sent as Envelope
  const { status, isOk, text } = await send(route, envelope)
  if (!isOk) throw errorOf(status, text)
  const parsed = route.answer.safeParse(route.media ? text : readJson(text))
  if (!parsed.success) throw new ApiError('not_understood', status)
  return parsed.data as AnswerOf<R>
}

/** The events of a route that answers with them, as they come. `signal` ends what it does, too. */
export async function* follow<R extends AdminRoute & { readonly media: typeof EVENT_STREAM }>(
  route: R,
  sent: Sent<R>,
): AsyncGenerator<AnswerOf<R>> {
  const { signal } = sent as Envelope
  const deadline = new AbortController()
  let timer = 0
  const wait = () => {
    window.clearTimeout(timer)
    timer = window.setTimeout(() => deadline.abort(), answerMsMax)
  }
  try {
    wait()
    const response = await request(route, sent as Envelope, deadline.signal)
    if (!response.ok || response.body === null)
      throw errorOf(response.status, await response.text())
    for await (const data of eventsIn(response.body)) {
      wait()
      const parsed = route.answer.safeParse(readJson(data))
      if (!parsed.success) throw new ApiError('not_understood', response.status)
      yield parsed.data as AnswerOf<R>
    }
  } catch (error) {
    if (signal?.aborted || error instanceof ApiError) throw error
    throw unanswered(deadline.signal)
  } finally {
    window.clearTimeout(timer)
  }
}

/** Each event has one line of data. Not every browser iterates over a stream by itself. */
async function* eventsIn(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    const lines = (rest + value).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line.startsWith('data: ')) yield line.slice('data: '.length)
  }
}

/** The URL of a route, for download links. A filter that is empty is none. */
export function addressOf<R extends AdminRoute>(route: R, sent: Sent<R>): string {
  const { query = {}, ...same } = sent as Envelope
  const given = Object.entries(query).map(([name, value]) => [
    name,
    [value].flat().filter((each) => each !== ''),
  ])
  return addressBelow(route, { ...same, query: Object.fromEntries(given) })
}

export function newIdempotencyKey(): string {
  // crypto.randomUUID() exists over HTTPS only.
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('')
}

/** Whether the gateway answers at all. */
export async function isReachable(): Promise<boolean> {
  const answer = await fetch('/healthz', { cache: 'no-store' }).catch(() => undefined)
  return answer !== undefined
}

/** Whether the page could be loaded again: otherwise the browser's own error page would take its place. */
export async function isPageServed(): Promise<boolean> {
  const answer = await fetch(location.href, { cache: 'no-store' }).catch(() => undefined)
  return answer?.ok === true
}

export async function fetchReadiness(): Promise<Readiness> {
  try {
    const response = await fetch('/readyz', { cache: 'no-store' })
    return response.ok ? 'ready' : 'not-ready'
  } catch {
    return 'unreachable'
  }
}

type PermissionsListener = (now: readonly string[]) => void

let onPermissions: PermissionsListener = () => {}

/** Called with every answer: what the reader may do now. */
export function watchPermissions(listener: PermissionsListener): void {
  onPermissions = listener
}

async function send(route: AdminRoute, envelope: Envelope): Promise<Received> {
  const { timeoutMs = answerMsMax, signal } = envelope
  const deadline = new AbortController()
  const timer = setTimeout(() => deadline.abort(), timeoutMs)
  try {
    const response = await request(route, envelope, deadline.signal)
    return { status: response.status, isOk: response.ok, text: await response.text() }
  } catch (error) {
    if (signal?.aborted) throw error
    throw unanswered(deadline.signal)
  } finally {
    clearTimeout(timer)
  }
}

function unanswered(deadline: AbortSignal): ApiError {
  return new ApiError(deadline.aborted ? 'unanswered' : 'unreachable', 0)
}

async function request(
  route: AdminRoute,
  envelope: Envelope,
  deadline: AbortSignal,
): Promise<Response> {
  const { body, ifMatch, idempotencyKey, signal } = envelope
  const headers = new Headers({ accept: route.media ?? 'application/json' })
  if (body !== undefined) headers.set('content-type', 'application/json')
  if (ifMatch !== undefined) headers.set('if-match', ifMatch)
  if (idempotencyKey !== undefined) headers.set('idempotency-key', idempotencyKey)
  const address = addressOf(route, envelope as Sent<AdminRoute>)
  const ended = AbortSignal.any(signal ? [signal, deadline] : [deadline])
  if (route.method !== 'GET') forgetAhead()
  const response =
    (await askedAhead(address, ended)) ??
    (await fetch(address, {
      method: route.method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
      signal: ended,
      cache: 'no-store',
    }))
  const permissions = response.headers.get(PERMISSIONS_HEADER)
  if (permissions !== null) onPermissions(permissions.split(' '))
  return response
}

function errorOf(status: number, text: string): ApiError {
  const parsed = adminError.safeParse(readJson(text))
  if (!parsed.success) return new ApiError('not_understood', status)
  return new ApiError(parsed.data.error.code, status, parsed.data.error)
}

/** Undefined, which no route answers with, if it is no JSON. */
function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The gateway's message about one field of a request. */
export function problemOf(error: Error | null, field: string): string | undefined {
  if (!(error instanceof ApiError)) return undefined
  const problem = error.problems.find((each) => each.field.split('.')[0] === field)
  return problem && said(problem)
}

/** The error, unless all its problems already show beside these fields. */
export function unplaced(error: Error | null, fields: readonly string[]): Error | null {
  if (!(error instanceof ApiError) || error.problems.length === 0) return error
  const isPlaced = error.problems.every(({ field }) => fields.includes(field.split('.')[0] ?? ''))
  return isPlaced ? null : error
}
