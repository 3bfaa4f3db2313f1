// An HTTP request to the data plane, turned into what the flow takes. The flow sees no more of HTTP than this.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Caller, Credentials } from '../access/authenticate.ts'
import type { Endpoint, Family } from '../core/endpoints.ts'
import { GatewayError } from '../core/errors.ts'
import type { InboundRequest } from '../exchange/request.ts'
import { SCRIPT_HEADER } from '../providers/sandbox/script.ts'
import type { Trace, TraceHeaders } from '../telemetry/trace.ts'
import type { Codec } from '../wire/contract/codec.ts'
import type { Body } from './body.ts'
import type { Operation } from './operations.ts'

/** The client's headers that a provider may see. All others stay here, its credentials above all. */
const PROVIDER_HEADERS = ['anthropic-version', 'anthropic-beta', 'openai-beta', SCRIPT_HEADER]

/** The client's headers that refer to something in a provider account, which all keys share. */
const ACCOUNT_HEADERS = ['anthropic-user-profile-id', 'anthropic-workspace-id']

/** Betas that open a larger window than holds assume: only an operator sets them, for all (`providers.NAME.betas`). */
const WIDER_WINDOW = /^context-1m\b/i

/** Where clients name the conversation that a request belongs to. */
const SESSION_HEADERS = ['x-session-id', 'session_id', 'session-id', 'x-litellm-session-id']

/** Where LiteLLM's clients name the end user, and tags, beside the body. */
const END_USER_HEADERS = ['x-litellm-end-user-id', 'x-litellm-customer-id']
const TAGS_HEADER = 'x-litellm-tags'

export type Received = { readonly message: IncomingMessage; readonly body: Body }

export function credentialsOf({ headers }: IncomingMessage, family: Family): Credentials {
  return { family, authorization: headers.authorization, apiKey: single(headers['x-api-key']) }
}

export function traceHeadersOf({ headers }: IncomingMessage): TraceHeaders {
  const { traceparent, tracestate } = headers
  return { traceparent: single(traceparent), tracestate: single(tracestate) }
}

/** Of the first of these headers that is not empty. */
function firstOf(headers: IncomingHttpHeaders, names: readonly string[]): string | undefined {
  const found = names.find((name) => headers[name])
  return found && single(headers[found])
}

/** What is known of a request before its handler runs. */
type Known = Pick<InboundRequest, 'caller' | 'id' | 'startedMs' | 'trace'> & {
  readonly operation: Operation
}

/** The parts of a request that the flow is given. */
export class HttpRequest implements InboundRequest {
  readonly requestId: string
  readonly caller: Caller
  readonly endpoint: Endpoint
  readonly codec: Codec
  readonly id: string
  readonly providerHeaders: ReadonlyMap<string, string>
  readonly dropped: readonly string[]
  readonly session: string | undefined
  readonly endUser: string | undefined
  readonly tags: string | undefined
  readonly startedMs: number
  readonly trace: Trace
  readonly #received: Received

  constructor(received: Received, { caller, id, startedMs, trace, operation }: Known) {
    const { headers } = received.message
    this.requestId = trace.requestId
    this.caller = caller
    this.endpoint = operation.endpoint
    this.codec = operation.codec
    this.id = id
    const betas = betasOf(single(headers['anthropic-beta']))
    const account = ACCOUNT_HEADERS.filter((name) => headers[name] !== undefined)
    this.dropped = account.length === 0 ? betas.dropped : [...betas.dropped, ...account]
    this.providerHeaders = providerHeadersOf(headers, betas.kept)
    this.session = firstOf(headers, SESSION_HEADERS)
    this.endUser = firstOf(headers, END_USER_HEADERS)
    this.tags = single(headers[TAGS_HEADER])
    this.startedMs = startedMs
    this.trace = trace
    this.#received = received
  }

  /** A client that asks for a dry run with an unknown value must not get a real call. */
  readDryRun(): boolean {
    const value = this.#received.message.headers['x-tollgate-dry-run']
    if (value === undefined || value === '0' || value === 'false') return false
    if (value === '1' || value === 'true') return true
    throw new GatewayError('invalid_request', 'x-tollgate-dry-run must be 1 or 0')
  }

  get traceHeaders(): TraceHeaders {
    return traceHeadersOf(this.#received.message)
  }

  get query(): URLSearchParams {
    return new URLSearchParams(this.#received.message.url?.split('?', 2)[1])
  }

  readBody(): Promise<Buffer> {
    return this.#received.body.read(this.caller.keyId)
  }

  releaseBody(): void {
    this.#received.body.release()
  }
}

/** What a provider may see, and the names of the others. */
type Betas = { readonly kept: string | undefined; readonly dropped: readonly string[] }

const NO_BETAS: Betas = { kept: undefined, dropped: [] }

function betasOf(text: string | undefined): Betas {
  if (text === undefined) return NO_BETAS
  const names = text.split(',').map((name) => name.trim())
  const wider = names.filter((name) => WIDER_WINDOW.test(name))
  if (wider.length === 0) return { kept: text, dropped: [] }
  const kept = names.filter((name) => !WIDER_WINDOW.test(name))
  return {
    kept: kept.length === 0 ? undefined : kept.join(','),
    dropped: wider.map((name) => `anthropic-beta.${name.slice(0, BETA_CHARACTERS_TOLD)}`),
  }
}

/** No beta has a longer name, and the header that lists them must stay short. */
const BETA_CHARACTERS_TOLD = 40

const NO_HEADERS: ReadonlyMap<string, string> = new Map()

function providerHeadersOf(
  headers: IncomingHttpHeaders,
  betas: string | undefined,
): ReadonlyMap<string, string> {
  let found: Map<string, string> | undefined
  for (const name of PROVIDER_HEADERS) {
    const value = name === 'anthropic-beta' ? betas : single(headers[name])
    if (value !== undefined) found = (found ?? new Map<string, string>()).set(name, value)
  }
  return found ?? NO_HEADERS
}

function single(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}
