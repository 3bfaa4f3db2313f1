// A provider's error answer, as ours. What it says about the request is the client's to read; what it says about our
// account with it is ours to mend, and the client learns only that the provider failed.
import { GatewayError } from '../core/errors.ts'
import type { UpstreamAnswer } from '../providers/provider.ts'
import { retryAfterOf } from '../providers/retry-after.ts'
import { readWhole } from '../providers/whole.ts'
import { redact } from '../telemetry/log.ts'
import type { ProviderComplaint, UpstreamCodec } from '../wire/codec.ts'
import { readJsonAnswer } from '../wire/answer-json.ts'
import { causeOf, isForOperator, refusesThoughts } from '../wire/provider-errors.ts'

const ERROR_BYTES_MAX = 1024 * 1024
/** A day: nobody means more, and what goes on to the client must be a number of seconds. */
const RETRY_AFTER_SECONDS_MAX = 86_400
/** What a provider says about the request itself. */
const JUDGEMENTS = [400, 413, 422]
/** Credentials, payment, rights, and names that do not exist. */
const FOR_OPERATOR = [401, 402, 403, 404]

export async function readFailure(
  answer: UpstreamAnswer,
  codec: UpstreamCodec,
): Promise<GatewayError> {
  const complaint = await readComplaint(answer, codec)
  const { status } = answer
  const { code } = complaint
  const said = redact(complaint.message ?? `the provider answered with status ${status}`)
  const cause = causeOf(`status ${status}`, complaint)
  const forOperator = FOR_OPERATOR.includes(status) || isForOperator(complaint)
  if (JUDGEMENTS.includes(status) && !forOperator) {
    return new GatewayError(status === 413 ? 'request_too_large' : 'invalid_request', said, {
      provider: code === undefined ? { status } : { status, code },
      ...(complaint.param === undefined ? {} : { param: complaint.param }),
      unbilled: true,
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
  // A quota that is used up comes as a 429 too, and waiting does not fill it.
  if (status === 429 && !forOperator) {
    return new GatewayError('provider_rate_limited', 'the provider is rate-limiting this gateway', {
      ...retryAfter(answer, complaint),
      unbilled: true,
      cause,
    })
  }
  // Somebody on the way gave up waiting: whoever was to answer may have worked, and bill it.
  if (status === 408 || status === 504) {
    return new GatewayError('provider_timeout', 'the provider did not answer in time', { cause })
  }
  return new GatewayError('provider_failed', 'the provider failed to answer this request', {
    unbilled: true,
    forOperator,
    cause,
  })
}

async function readComplaint(
  answer: UpstreamAnswer,
  codec: UpstreamCodec,
): Promise<ProviderComplaint> {
  try {
    const bytes = await readWhole(answer.body, ERROR_BYTES_MAX)
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
