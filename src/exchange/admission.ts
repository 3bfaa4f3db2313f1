// What admission may ask about a request, its targets and their providers, and where it reports how the limits stand.
import type { AdmissionRequest, Candidate } from '../access/admit.ts'
import type { Caller } from '../access/authenticate.ts'
import type { Model, Target } from '../catalog/models.ts'
import type { Clock } from '../core/clock.ts'
import type { Endpoint } from '../core/endpoints.ts'
import type { Call } from '../core/request.ts'
import type { Balances } from '../ledger/ledger.ts'
import { setBalanceHeaders } from './headers.ts'
import { countAt } from './prepare.ts'
import type { Prepared } from './prepare.ts'
import type { Reply } from './reply.ts'
import type { ClientRequest } from './request.ts'

type Asked = {
  readonly request: ClientRequest
  readonly caller: Caller
  readonly model: Model
  readonly prepared: readonly Prepared[]
}

export class Question implements AdmissionRequest {
  readonly requestId: string
  readonly endpoint: Endpoint
  readonly caller: Caller
  readonly model: Model
  readonly call: Call
  readonly closed: AbortSignal
  readonly #request: ClientRequest
  readonly #prepared: readonly Prepared[]
  readonly #reply: Reply
  #candidates: readonly Candidate[] | undefined
  readonly #clock: Clock

  constructor({ request, caller, model, prepared }: Asked, reply: Reply, clock: Clock) {
    this.requestId = request.requestId
    this.endpoint = request.endpoint
    this.caller = caller
    this.model = model
    this.call = request.call
    this.closed = reply.closed
    this.#request = request
    this.#prepared = prepared
    this.#reply = reply
    this.#clock = clock
  }

  async texts(): Promise<readonly string[]> {
    await this.#request.nextStep()
    return this.#request.texts() ?? []
  }

  candidates(): readonly Candidate[] {
    this.#candidates ??= this.#findCandidates()
    return this.#candidates
  }

  #findCandidates(): readonly Candidate[] {
    const { targets, fallbacks } = this.model
    const all = [...targets, ...fallbacks]
    // A test key has the limits of a live one, but reaches none of the targets.
    if (this.caller.mode === 'test')
      return all.map((target) => candidateAt(target, this.#at(target)))
    return this.#prepared.flatMap((prepared) => {
      const target = all.find((each) => isAt(prepared, each))
      return target === undefined ? [] : [candidateAt(target, prepared)]
    })
  }

  async countAtTargets(): Promise<(target: Target) => number | undefined> {
    const { providerHeaders } = this.#request
    const counts = await Promise.all(
      this.#prepared.map(async (each) => {
        await this.#request.nextStep()
        return countAt(each, providerHeaders, this.closed)
      }),
    )
    return (target) => counts[this.#prepared.findIndex((each) => isAt(each, target))]
  }

  tell(balances: Balances): void {
    const { family } = this.#request.codec
    setBalanceHeaders(this.#reply, balances, { family, now: this.#clock.now() })
  }

  #at(target: Target): Prepared | undefined {
    return this.#prepared.find((each) => isAt(each, target))
  }
}

function candidateAt(target: Target, prepared: Prepared | undefined): Candidate {
  return {
    target,
    inputTokens: prepared?.inputTokens,
    searchesMax: prepared?.searchesMax ?? 0,
    outputTokensMax: prepared?.outputTokensMax,
  }
}

function isAt({ provider, model }: Prepared, target: Target): boolean {
  return provider.name === target.provider && model === target.model
}
