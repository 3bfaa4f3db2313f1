// The last gate before a provider is called: the worst case of a request, held on the key and on the frame. Returns
// only with a committed hold; everything else is a refusal in words.
import type { Model, Target } from '../catalog/models.ts'
import { worstCase } from '../catalog/tokens.ts'
import type { Call } from '../core/call.ts'
import type { Endpoint } from '../core/endpoints.ts'
import type { Ask, Ledger, Reserved } from '../ledger/ledger.ts'
import type { Caller } from './caller.ts'
import { refusalOf } from './refusal.ts'

export type Admission = {
  readonly caller: Caller
  readonly model: Model
  readonly call: Call
  readonly hold: Reserved
  /** What the hold assumes that the model reads. */
  readonly inputTokens: number
  /** The limit that must be sent upstream; undefined where there is no output to pay for. */
  readonly outputTokensMax: number | undefined
}

export type AdmissionRequest = {
  readonly requestId: string
  readonly endpoint: Endpoint
  readonly caller: Caller
  readonly model: Model
  readonly call: Call
  /** A target's exact input, where it is known. */
  inputTokensOf(target: Target): number | undefined
  /** Aborted when the client has gone. */
  readonly closed: AbortSignal
}

export async function admit(ledger: Ledger, request: AdmissionRequest): Promise<Admission> {
  const { caller, model, call } = request
  const ask = askOf(request)
  let outcome = await ledger.reserve(ask)
  // The input is bounded by its bytes here; the refusal of a tighter count comes with the tokenizer.
  if (!outcome.reserved && outcome.reason === 'recount') {
    outcome = await ledger.reserve({ ...ask, recounted: true })
  }
  if (!outcome.reserved) {
    request.closed.throwIfAborted()
    ledger.countRefused(caller.keyId, call.model)
    throw refusalOf(caller, outcome)
  }
  return {
    caller,
    model,
    call,
    hold: outcome,
    inputTokens: ask.estimatedTokens,
    outputTokensMax: outcome.outputTokens > 0 ? outcome.outputTokens : undefined,
  }
}

function askOf(request: AdmissionRequest): Ask {
  const { caller, model, call } = request
  const { inputTokens, ...costs } = worstCase({
    model,
    input: call.input,
    output: call.output,
    inputTokensOf: request.inputTokensOf,
  })
  // A test key is answered by the sandbox at no cost, with the limits a live key would have.
  const free = { fixedPicodollars: 0n, outputTokenPicodollars: 0n }
  return {
    requestId: request.requestId,
    keyId: caller.keyId,
    allowVersion: caller.allowVersion,
    endpoint: request.endpoint,
    modelAsked: call.model,
    worstCase: caller.mode === 'test' ? { ...costs, ...free } : costs,
    whenTight: caller.whenTight,
    estimatedTokens: inputTokens,
    recounted: true,
    signal: request.closed,
  }
}
