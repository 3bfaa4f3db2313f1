// The one log line of a request: what was asked, how it ended, what it cost. Never a word of a prompt or an answer.
import type { GatewayError } from '../core/errors.ts'
import type { Trace } from '../exchange/trace.ts'
import { describeError, describeFailure } from '../telemetry/log.ts'
import type { Log } from '../telemetry/log.ts'

type Outcome = {
  readonly method: string | undefined
  readonly status: number
  readonly durationMs: number
  readonly error: GatewayError | undefined
}

export function logRequest(log: Log, trace: Trace, outcome: Outcome): void {
  const { error } = outcome
  const isOurs = error?.code === 'internal_error'
  // Where in the code it happened helps only if the fault is the gateway's.
  const describe = isOurs ? describeError : describeFailure
  log[isOurs ? 'error' : 'info']('request', {
    request_id: trace.requestId,
    method: outcome.method,
    path: trace.path,
    status: outcome.status,
    code: error?.code,
    duration_ms: Math.round(outcome.durationMs),
    key: trace.keyId,
    model: trace.model,
    target: trace.target,
    stream: trace.stream,
    attempts: trace.attempts?.length,
    input_tokens: trace.inputTokens,
    output_tokens: trace.outputTokens,
    cost: trace.costUsd,
    estimated: trace.estimated,
    cause: error?.cause === undefined ? undefined : describe(error.cause),
  })
}
