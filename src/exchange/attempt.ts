// Takes one route after another until one answers. The next one is tried only while the client has seen nothing, the
// failure may be the provider's own, and the hold covers what may be paid twice; what a provider says about the request
// itself goes back to the client.
import { GatewayError, withoutRetry } from '../core/errors.ts'
import { FAILURE_BYTES_MAX, readWhole, retryAfterOf } from '../providers/upstream/http.ts'
import type { Provider, UpstreamAnswer } from '../providers/upstream/provider.ts'
import type { Outcome, RetryBudget } from '../routing/breaker.ts'
import type { Route } from '../routing/route.ts'
import { describeFailure, redact, type Log } from '../telemetry/log.ts'
import type { TracedCall } from '../telemetry/trace.ts'
import { readJsonAnswer } from '../wire/content/answer.ts'
import type { ProviderComplaint, UpstreamCodec } from '../wire/contract/codec.ts'
import {
  billsRefusal,
  causeOf,
  clientCode,
  isForOperator,
  refusesContent,
  refusesReasoning,
} from '../wire/contract/errors.ts'
import { ANSWERED, type Billing } from './billing.ts'
import { withoutReasoning, type OutboundRequest } from './prepare.ts'
import type { Reply } from './reply.ts'
import type { ClientRequest, InboundRequest } from './request.ts'

/** An answer that has begun, and the request it answers. */
export type Answer = UpstreamAnswer & { readonly sent: OutboundRequest }

type Attempting = {
  readonly log: Log
  readonly request: Pick<ClientRequest, 'inbound' | 'call' | 'withoutReasoning'>
  readonly outbound: readonly OutboundRequest[]
  readonly retries: RetryBudget
  readonly outputTokensMax: number | undefined
  readonly billing: Billing
  readonly reply: Reply
}

/** Sends the request until `use` accepts an answer, and returns the result of `use`. */
export async function tryRoutes<Ending>(
  attempting: Attempting,
  use: (answer: Answer) => Promise<Ending>,
): Promise<Ending> {
  const { billing, outbound, retries, reply } = attempting
  let failure: unknown
  let refused = 0
  retries.earn()
  for (const each of outbound) {
    const { breaker } = each.route
    const open = breaker?.whyOpen()
    if (open !== undefined) {
      if (open.refusal !== undefined) refused += 1
      continue
    }
    if (failure !== undefined && !(retries.take() && (await billing.allowRetry(failure)))) break
    const report = breaker?.begin()
    try {
      const answer = await send(attempting, each)
      report?.('accepted')
      const ending = await use(answer)
      report?.('answered')
      billing.endAttempt(ANSWERED)
      return ending
    } catch (thrown) {
      const outcome = outcomeOf(thrown)
      if (outcome !== undefined) report?.(outcome)
      if (isElsewhere(thrown)) logFailure(attempting, each.route, thrown)
      billing.endAttempt(thrown instanceof GatewayError ? thrown.code : 'given up')
      if (!isElsewhere(thrown) || isOver(reply)) throw thrown
      failure = thrown
      if (thrown.details.forOperator === true) refused += 1
    }
  }
  if (failure === undefined) throw allOpen(outbound)
  // When every target refuses to serve this gateway, a retry cannot help.
  throw refused === outbound.length ? withoutRetry(failure) : failure
}

/** Refuses a request while the breakers of all its routes are open, before anything is held for it. */
export function refuseWhileAllOpen(outbound: readonly OutboundRequest[]): void {
  if (outbound.every(({ route }) => route.breaker?.whyOpen() !== undefined)) throw allOpen(outbound)
}

/**
 * Only the account that produced reasoning accepts it back, and several accounts may have answered in a conversation: a
 * target that does not know it is asked once more without. It does not bill the request it refused.
 */
function send(attempting: Attempting, outbound: OutboundRequest): Promise<Answer> {
  return sendOnce(attempting, outbound).catch(async (thrown: unknown) => {
    if (!(thrown instanceof GatewayError) || thrown.details.unknownReasoning !== true) throw thrown
    const shorter = await withoutReasoning(attempting.request, outbound)
    if (shorter === undefined) throw thrown
    attempting.billing.endAttempt(thrown.code)
    return sendOnce(attempting, shorter)
  })
}

async function sendOnce(
  { request, billing, reply, outputTokensMax }: Attempting,
  outbound: OutboundRequest,
): Promise<Answer> {
  reply.closed.throwIfAborted()
  const { route, codec } = outbound
  // The output the hold pays for, or less where the target cannot write that much.
  const body = await outbound.encode(
    outputTokensMax && Math.min(outputTokensMax, outbound.outputTokensMax ?? outputTokensMax),
  )
  const traced = billing.beginAttempt(outbound)
  const answer = await route.provider.send(
    {
      format: codec.format,
      model: route.target.model,
      stream: request.call.stream,
      body,
      headers: request.inbound.providerHeaders,
      timeouts: route.target.timeouts,
      trace: traced ?? passedOn(request.inbound, route.provider),
    },
    reply.closed,
  )
  if (answer.status !== 200) throw await readFailure(answer, codec)
  const { status, headers, body: chunks } = answer
  return { status, headers, body: chunks, sent: outbound }
}

/** Where tracing is off, a provider that may learn of the client's trace is told of it as it is. */
function passedOn(inbound: InboundRequest, { propagates }: Provider): TracedCall | undefined {
  if (propagates !== true) return undefined
  const { traceparent, tracestate } = inbound.traceHeaders
  if (traceparent === undefined) return undefined
  const state = tracestate === undefined ? [] : ['tracestate', tracestate]
  return { headers: ['traceparent', traceparent, ...state] }
}

/** Too late for another target: the answer is closed, or the client already has part of it. */
function isOver(reply: Reply): boolean {
  return reply.closed.aborted || reply.hasBegun
}

function isElsewhere(thrown: unknown): thrown is GatewayError {
  return thrown instanceof GatewayError && thrown.retry === 'elsewhere'
}

/** What a failure says about the target; nothing when the client left or the gateway itself was at fault. */
function outcomeOf(thrown: unknown): Outcome | undefined {
  if (isElsewhere(thrown)) {
    const { retryAfterSeconds, forOperator } = thrown.details
    return {
      failed: thrown.code,
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
      ...(forOperator === true ? { refusal: describeFailure(thrown.cause) } : {}),
    }
  }
  // A provider that judges the request is up.
  const isJudgement = thrown instanceof GatewayError && thrown.details.provider !== undefined
  return isJudgement ? 'answered' : undefined
}

/** If another target then serves the request, its status does not show that this one failed. */
function logFailure({ log, request }: Attempting, route: Route, error: GatewayError): void {
  log[error.details.forOperator === true ? 'error' : 'warn']('attempt_failed', {
    request_id: request.inbound.requestId,
    target: route.target.name,
    code: error.code,
    cause: describeFailure(error.cause ?? error.message),
  })
}

function allOpen(outbound: readonly OutboundRequest[]): GatewayError {
  const all = outbound.flatMap(({ route }) => {
    const open = route.breaker?.whyOpen()
    return open === undefined ? [] : { ...open, target: route.target.name }
  })
  // A target that refuses this gateway will still refuse it after the wait.
  const returning = all.filter(({ refusal }) => refusal === undefined)
  if (all.length > 0 && returning.length === 0) {
    return new GatewayError('provider_failed', 'the provider refused to serve this gateway', {
      shouldRetry: false,
      unbilled: true,
      forOperator: true,
      cause: all.map(({ target, refusal }) => `${target} rests after ${refusal}`).join(', '),
    })
  }
  const [soonest] = returning.toSorted((one, other) => one.forMs - other.forMs)
  const seconds = Math.max(1, Math.ceil((soonest?.forMs ?? 0) / 1000))
  return new GatewayError(
    soonest?.reason === 'provider_rate_limited' ? 'provider_rate_limited' : 'provider_overloaded',
    `no provider of this model is taking requests right now: try again in ${seconds} s`,
    { retryAfterSeconds: seconds, unbilled: true },
  )
}

/** A provider's verdict on the request itself. */
const JUDGEMENTS = [400, 413, 422]
/** Something on the way gave up waiting; Cloudflare, before many providers, has a status of its own for that. */
const TIMED_OUT = [408, 504, 524]
/** Credentials, payment, rights, and names that do not exist. */
const FOR_OPERATOR = [401, 402, 403, 404]

/**
 * A provider's error response as a GatewayError. What it says about the request goes to the client; what it says about
 * the operator's account is for the operator to fix, and the client learns only that the provider failed.
 */
export async function readFailure(
  answer: UpstreamAnswer,
  codec: UpstreamCodec,
): Promise<GatewayError> {
  const complaint = await readComplaint(answer, codec)
  const status = refusesContent(complaint) ? 400 : answer.status
  const code = clientCode(complaint)
  const said = redact(complaint.message ?? `the provider answered with status ${status}`)
  const cause = causeOf(`status ${answer.status}`, complaint)
  const forOperator = FOR_OPERATOR.includes(status) || isForOperator(complaint)
  if (JUDGEMENTS.includes(status) && !forOperator) {
    return new GatewayError(status === 413 ? 'request_too_large' : 'invalid_request', said, {
      provider: code === undefined ? { status } : { status, code },
      ...(complaint.param === undefined ? {} : { param: redact(complaint.param) }),
      unbilled: !billsRefusal(complaint),
      unknownReasoning: refusesReasoning(complaint),
      cause,
    })
  }
  if (status === 503 || status === 529) {
    return new GatewayError('provider_overloaded', 'the provider is overloaded', {
      ...retryAfter(answer, complaint),
      unbilled: true,
      cause,
    })
  }
  // An exhausted quota is a 429 too, but waiting does not refill it.
  if (status === 429 && !forOperator) {
    return new GatewayError('provider_rate_limited', 'the provider is rate-limiting this gateway', {
      ...retryAfter(answer, complaint),
      unbilled: true,
      cause,
    })
  }
  // The model may have worked, and the provider may bill it.
  if (TIMED_OUT.includes(status)) {
    return new GatewayError('provider_timeout', 'the provider did not answer in time', { cause })
  }
  return new GatewayError('provider_failed', 'the provider failed to answer this request', {
    // A success that is no answer may be billed.
    unbilled: status >= 300,
    forOperator,
    cause,
  })
}

async function readComplaint(
  answer: UpstreamAnswer,
  codec: UpstreamCodec,
): Promise<ProviderComplaint> {
  try {
    const bytes = await readWhole(answer.body, FAILURE_BYTES_MAX)
    return codec.decodeError(readJsonAnswer(bytes).value)
  } catch {
    // An error page instead of JSON: its status is all there is to know.
    return {}
  }
}

function retryAfter(
  { headers }: UpstreamAnswer,
  complaint: ProviderComplaint,
): { retryAfterSeconds?: number } {
  const told = retryAfterOf(headers, complaint.retryAfterSeconds)
  return told === undefined ? {} : { retryAfterSeconds: Math.max(1, Math.ceil(told)) }
}
