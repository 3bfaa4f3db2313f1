// The bookkeeping of one exchange: which target was called, what it delivered, and the one settlement at the end.
// Between the hold and that settlement nothing else may decide what a request costs.
import { setTimeout } from 'node:timers/promises'
import type { Admission, RaisedBounds } from '../access/admit.ts'
import type { TextSample, Tokenizer } from '../access/tokenizer.ts'
import { sampleOf } from '../access/tokenizer.ts'
import { mayThink } from '../catalog/models.ts'
import { costOf, costOfLines } from '../catalog/prices.ts'
import type { Clock } from '../core/clock.ts'
import type { Endpoint } from '../core/endpoints.ts'
import { CLIENT_GONE_STATUS, GatewayError, toGatewayError } from '../core/errors.ts'
import type { CanonicalEvent } from '../core/events.ts'
import { NO_USAGE } from '../core/events.ts'
import { formatUsd } from '../core/money.ts'
import type { Nanodollars } from '../core/money.ts'
import { SEARCHES_MOST } from '../core/request.ts'
import { SENTENCES } from '../core/sentences.ts'
import type {
  Attempt,
  AttemptCharge,
  Ledger,
  Reserved,
  Settled,
  Settlement,
} from '../ledger/ledger.ts'
import type { Log } from '../telemetry/log.ts'
import type { Trace } from '../telemetry/trace.ts'
import type { Bill, Billable } from './cost.ts'
import { billOf, Meter, mostOf, needsCount, NOTHING } from './cost.ts'
import { nameOf } from './prepare.ts'
import type { Prepared, Skipped } from './prepare.ts'
import { ClientGone } from './reply.ts'
import type { ClientRequest } from './request.ts'

type Entry = {
  readonly requestId: string
  readonly endpoint: Endpoint
  readonly admission: Admission
  /** Targets that this request may not go to. */
  readonly left: readonly Skipped[]
  readonly startedMs: number
  readonly trace: Trace
  readonly request: Pick<ClientRequest, 'texts'>
}

type BooksParts = {
  readonly ledger: Ledger
  readonly clock: Clock
  readonly log: Log
  readonly raisedBounds: RaisedBounds
  readonly tokenizer: Tokenizer
}

/** How long another attempt waits for the count of what a failed one read: the tokenizer may still have to load. */
const COUNT_MS_MAX = 500

/** A hold is worth lowering when a budget has room for fewer than this many like it. */
const TIGHT_BELOW = 8n

export class Books {
  readonly #parts: BooksParts
  readonly #entry: Entry
  readonly #attempts: Attempt[] = []
  /** What failed attempts may have cost. */
  #owed: Nanodollars = 0n
  #meter = new Meter()
  #target: Prepared | undefined
  #dispatchedMs = 0
  /** The factor on the target's input bound at the time of the call. */
  #raisedBy = 1
  #isTrimmed = false
  #sample: TextSample | undefined
  #settled: Promise<Settled | undefined> | undefined

  constructor(parts: BooksParts, entry: Entry) {
    this.#parts = parts
    this.#entry = entry
  }

  /** A target is about to be called. */
  dispatch(target: Prepared): void {
    this.#target = target
    this.#meter = new Meter()
    this.#dispatchedMs = this.#parts.clock.monotonicMs()
    const { basis } = this.#entry.admission
    this.#raisedBy = this.#parts.raisedBounds.factorOf(targetOf(target), basis)
    this.#entry.trace.target = nameOf(target)
  }

  see(event: CanonicalEvent): void {
    this.#meter.see(event, this.#parts.clock)
    if (event.type === 'text-delta' && this.hasContent && !this.#isTrimmed) this.#trim()
  }

  /** Whether the target has produced anything a client would read. */
  get hasContent(): boolean {
    return this.outputBytes > 0
  }

  /** How much of that there is. */
  get outputBytes(): number {
    return this.#meter.outputBytes
  }

  /** The texts are about to be released: if the bill may depend on them, a sample is kept. */
  keepSample(): void {
    if (this.#target === undefined || !needsCount(this.#billable(this.#target, undefined))) return
    const texts = this.#entry.request.texts()
    this.#sample ??= texts && sampleOf(texts)
  }

  noteAttempt(outcome: string): void {
    if (this.#target === undefined) return
    const { why } = this.#target
    this.#attempts.push({
      target: nameOf(this.#target),
      why: this.#attempts.length === 0 ? why : `${why}; ${SENTENCES.target_after_failure}`,
      outcome,
      durationMs: Math.round(this.#parts.clock.monotonicMs() - this.#dispatchedMs),
    })
  }

  /**
   * Makes room for another attempt after a failed one: what that may have cost becomes a separate charge, held in
   * addition. False = the budgets have no room for it, and nothing changed.
   */
  async carryOn(failure: unknown): Promise<boolean> {
    const failed = this.#attempts.at(-1)
    if (this.#target === undefined || failed === undefined) return true
    const owed = wholeOf(await this.#bill(this.#target, failure, COUNT_MS_MAX))
    if (owed.cost > 0n) {
      // A ledger that does not answer may have held more, but has not said so: that counts as no room.
      const { holdId } = this.#entry.admission.hold
      const isHeld = await this.#parts.ledger.extend(holdId, owed.cost).catch(() => false)
      if (!isHeld) return false
      this.#attempts[this.#attempts.length - 1] = { ...failed, charge: chargeOf(owed) }
      this.#owed += owed.cost
    }
    this.#target = undefined
    return true
  }

  /** Charges what the request cost, once; resolves when the charge is durable. Undefined = no failure. */
  settle(failure: unknown): Promise<Settled | undefined> {
    this.#settled ??= this.#settle(failure)
    return this.#settled
  }

  async #settle(failure: unknown): Promise<Settled | undefined> {
    const { admission, trace } = this.#entry
    if (this.#target === undefined && this.#attempts.length === 0) {
      await this.#parts.ledger.void(admission.hold.holdId, 'never sent to a provider')
      return undefined
    }
    const bill = this.#target === undefined ? NOTHING : await this.#bill(this.#target, failure)
    if (bill.impossible) this.#reportImpossible()
    this.#addSurcharge(bill)
    const settlement = this.#settlement(bill, failure)
    trace.inputTokens = bill.usage.inputTokens
    trace.outputTokens = bill.usage.outputTokens
    trace.costUsd = formatUsd(settlement.costNanodollars)
    trace.attempts = this.#attempts
    if (settlement.firstTokenMs !== null) trace.firstTokenMs = settlement.firstTokenMs
    if (settlement.estimated) trace.estimated = true
    try {
      const settled = await this.#parts.ledger.settle(settlement)
      if (settled.overrunNanodollars > 0n) this.#reportOverrun(settled)
      return settled
    } catch (cause) {
      // Neither the database nor the spool took it: the hold stays, and the answer is not completed.
      throw new GatewayError(
        'ledger_unavailable',
        'the cost of this answer could not be recorded',
        { shouldRetry: false, cause },
      )
    }
  }

  /**
   * Some providers report what they read before they write: then the rest of the hold is freed for other requests. Not
   * before the first content, because until then a dearer target may take over; not where a search makes the model read
   * again; and only where the budgets are so tight that others may be waiting.
   */
  #trim(): void {
    const { hold } = this.#entry.admission
    if (this.#target === undefined || this.#meter.usage === undefined) return
    this.#isTrimmed = true
    if (!isTight(hold) || this.#target.searchesMax > 0) return
    const most = mostOf(this.#billable(this.#target, undefined))
    if (most === undefined || most + this.#owed >= hold.amountNanodollars) return
    this.#parts.ledger.trim(hold.holdId, most + this.#owed).catch(() => {
      // The settlement frees the excess.
    })
  }

  /** The request cost more than its supposed worst case: the operator should know, and later holds are made larger. */
  #reportOverrun({ costNanodollars, overrunNanodollars }: Settled): void {
    const { requestId, admission } = this.#entry
    const target = this.#target
    this.#parts.log.error('overrun', {
      request_id: requestId,
      target: target && nameOf(target),
      cost: formatUsd(costNanodollars),
      overrun: formatUsd(overrunNanodollars),
      message: 'the provider billed more than was held: the input bound of this target is raised',
    })
    if (target === undefined) return
    const { nanodollars } = costOf(
      { ...NO_USAGE, inputTokens: admission.inputTokens },
      target.price,
    )
    const times = nanodollars === 0n ? 1 : 1 + Number(overrunNanodollars) / Number(nanodollars)
    const { basis } = admission
    this.#parts.raisedBounds.raise(targetOf(target), { basis, from: this.#raisedBy, times })
  }

  /** The cost is estimated, so if a configured limit is wrong, the operator pays more than the books say. */
  #reportImpossible(): void {
    this.#parts.log.error('usage_impossible', {
      request_id: this.#entry.requestId,
      target: this.#target && nameOf(this.#target),
      told_input_tokens: this.#meter.usage?.inputTokens,
      told_output_tokens: this.#meter.usage?.outputTokens,
      message:
        'the provider counted what the context window and the output limit do not allow, so the cost is estimated: check `context` and `max_output` of the model',
    })
  }

  async #bill(target: Prepared, failure: unknown, countMsMax?: number): Promise<Bill> {
    const usage = failure instanceof GatewayError ? failure.details.usage : undefined
    if (usage !== undefined) this.#meter.see({ type: 'usage', usage }, this.#parts.clock)
    if (isUnbilled(failure) && !this.#meter.hasOutput) return NOTHING
    const billable = this.#billable(target, failure)
    if (!needsCount(billable)) return billOf(billable)
    this.keepSample()
    if (this.#sample === undefined) return billOf(billable)
    const counting = this.#parts.tokenizer.estimate(this.#sample)
    const late = countMsMax && setTimeout(countMsMax, undefined, { ref: false })
    const textTokens = await (late ? Promise.race([counting, late]) : counting)
    return billOf({ ...billable, textTokens })
  }

  #billable(target: Prepared, failure: unknown): Billable {
    const { call, model, inputTokens, outputTokensMax, hold } = this.#entry.admission
    const inputs = model.kind === 'embedding' ? Math.max(1, call.input.items) : 1
    const isCut = failure instanceof ClientGone
    const isLate = failure instanceof GatewayError && failure.code === 'provider_timeout'
    // Of a stream that never came, nobody knows what was written.
    const worksUnseen =
      !call.stream || mayThink(model, call.output) || (isLate && !this.#meter.hasOutput)
    return {
      meter: this.#meter,
      price: target.price,
      inputTokensPossible: target.context * inputs * roundsPossible(target),
      input: call.input,
      inputTokens: target.inputTokens,
      textTokens: undefined,
      inputTokensMax: inputTokens,
      outputTokensMax: limitAt(target, outputTokensMax) * call.output.choices,
      isCut,
      unseenMs: (isCut || isLate) && worksUnseen ? this.#silentMs() : 0,
      held: hold.amountNanodollars,
      keepsLong: target.keepsLong,
    }
  }

  /** A usage row counts only tokens: other charges are recorded with the attempt that incurred them. */
  #addSurcharge({ surcharge: { lines, nanodollars: cost } }: Bill): void {
    const answered = this.#attempts.at(-1)
    if (cost === 0n || answered === undefined) return
    this.#attempts[this.#attempts.length - 1] = { ...answered, charge: chargeOf({ lines, cost }) }
  }

  #settlement(bill: Bill, failure: unknown): Settlement {
    const { admission, requestId, endpoint, startedMs } = this.#entry
    const { call, caller, hold } = admission
    const { status, errorCode } = endedWith(failure)
    const firstOutputMs = this.#meter.firstOutputMs
    return {
      holdId: hold.holdId,
      requestId,
      keyId: caller.keyId,
      endpoint,
      modelAsked: call.model,
      modelServed: this.#target?.model ?? null,
      provider: this.#target?.provider.name ?? null,
      status,
      errorCode,
      tokens: bill.usage,
      costNanodollars: bill.cost + bill.surcharge.nanodollars + this.#owed,
      // A refused request costs nothing, even where its target charges per request.
      price: bill === NOTHING ? null : (this.#target?.price ?? null),
      estimated: bill.estimated || this.#owed > 0n,
      latencyMs: this.#parts.clock.monotonicMs() - startedMs,
      firstTokenMs: firstOutputMs === undefined ? null : firstOutputMs - startedMs,
      endUser: call.endUser ?? null,
      tags: call.metadata ?? {},
      attempts: [...this.#entry.left.map(notTried), ...this.#attempts],
    }
  }

  #silentMs(): number {
    return (this.#meter.firstOutputMs ?? this.#parts.clock.monotonicMs()) - this.#dispatchedMs
  }
}

function notTried({ target, why, by }: Skipped): Attempt {
  return { target, why, outcome: `skipped: ${by}`, durationMs: 0 }
}

function limitAt({ outputTokensMax: own }: Prepared, most: number | undefined): number {
  return Math.min(own ?? Infinity, most ?? 0)
}

/** The model reads everything again after each search, even one its limit refuses: it may ask for more than allowed. */
function roundsPossible({ searchesMax }: Prepared): number {
  return searchesMax === 0 ? 1 : SEARCHES_MOST + 1
}

function isTight({ amountNanodollars, balances }: Reserved): boolean {
  return [balances.key, balances.frame].some(
    ({ remainingNanodollars: left }) => left !== null && left < amountNanodollars * TIGHT_BELOW,
  )
}

/** A provider that took a request and then fell silent may have worked on it: only a request it refused is free. */
function isUnbilled(failure: unknown): boolean {
  return failure instanceof GatewayError && failure.details.unbilled === true
}

/** Tokens and surcharge in one charge, rounded up once, as `explain` does. */
function wholeOf({ lines, cost, surcharge }: Bill): Charged {
  if (surcharge.nanodollars === 0n) return { lines, cost }
  const whole = costOfLines([...lines, ...surcharge.lines])
  return { lines: whole.lines, cost: whole.nanodollars }
}

type Charged = Pick<Bill, 'lines' | 'cost'>

function chargeOf({ lines, cost }: Charged): AttemptCharge {
  return {
    lines: lines.map(({ eachPicodollars, list, ...line }) => ({
      ...line,
      eachPicodollars: String(eachPicodollars),
      ...(list && { list: { ...list, eachPicodollars: String(list.eachPicodollars) } }),
    })),
    costNanodollars: String(cost),
  }
}

function targetOf({ provider, model }: Prepared) {
  return { provider: provider.name, model }
}

type Ended = Pick<Settlement, 'status' | 'errorCode'>

const WELL: Ended = { status: 200, errorCode: null }
const GONE: Ended = { status: CLIENT_GONE_STATUS, errorCode: 'client_gone' }

/** How a request ended: the status its client was given, and what went wrong; undefined = nothing. */
export function endedWith(failure: unknown): Ended {
  if (failure === undefined) return WELL
  if (failure instanceof ClientGone) return GONE
  const { status, code } = toGatewayError(failure)
  return { status, errorCode: code }
}
