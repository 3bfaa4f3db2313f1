// A provider's error response as a GatewayError. What it says about the request goes to the client; what it says about
// the operator's account is for the operator to fix, and the client learns only that the provider failed.
import { GatewayError } from '../core/errors.ts'
import { FAILURE_BYTES_MAX, readWhole, retryAfterOf } from '../providers/upstream/answers.ts'
import type { UpstreamAnswer } from '../providers/upstream/provider.ts'
import { redact } from '../telemetry/log.ts'
import { readJsonAnswer } from '../wire/content/answer.ts'
import type { ProviderComplaint, UpstreamCodec } from '../wire/contract/codec.ts'
import {
  billsRefusal,
  causeOf,
  clientCode,
  isForOperator,
  refusesContent,
  refusesThoughts,
} from '../wire/contract/errors.ts'

/** A day: no provider means more, and the client must be given a plain number of seconds. */
const RETRY_AFTER_SECONDS_MAX = 86_400
/** A provider's verdict on the request itself. */
const JUDGEMENTS = [400, 413, 422]
/** Something on the way gave up waiting; Cloudflare, before many providers, has a status of its own for that. */
const TIMED_OUT = [408, 504, 524]
/** Credentials, payment, rights, and names that do not exist. */
const FOR_OPERATOR = [401, 402, 403, 404]

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
      unknownThoughts: refusesThoughts(complaint),
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
  const told = retryAfterOf(headers) ?? complaint.retryAfterSeconds
  if (told === undefined) return {}
  return { retryAfterSeconds: Math.min(Math.max(1, Math.ceil(told)), RETRY_AFTER_SECONDS_MAX) }
}
