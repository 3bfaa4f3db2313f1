// The billing of one exchange: which route was taken, what it delivered, what that costs, and the one settlement at the
// end. Between the hold and that settlement nothing else may decide what a request costs. The second half, from `Bill`
// on, is pure.
import { setTimeout } from 'node:timers/promises'
import { sampleOf, type TextSample } from '../access/tokenizer.ts'
import type { Model } from '../catalog/models.ts'
import { costOf, costOfLines, NO_SURCHARGE, surchargeOf } from '../catalog/prices.ts'
import type { Cost, CostLine, Price } from '../catalog/prices.ts'
import { likelyInput, likelyTokens, mayReason, textTokensAtMost } from '../catalog/worst-case.ts'
import type { Clock } from '../core/clock.ts'
import { CLIENT_GONE_STATUS, GatewayError, toGatewayError } from '../core/errors.ts'
import { NO_USAGE, type CanonicalEvent, type Usage } from '../core/events.ts'
import { formatUsd, type Nanodollars } from '../core/money.ts'
import { SEARCHES_MOST, type InputMeasure } from '../core/request.ts'
import { SENTENCES } from '../core/sentences.ts'
import type { Attempt, AttemptCharge, Reserved, Settled, Settlement } from '../ledger/ledger.ts'
import { leastRemaining } from '../ledger/rules/account.ts'
import type { Log } from '../telemetry/log.ts'
import type { AttemptSpan, TracedCall } from '../telemetry/trace.ts'
import type { Admission, AdmissionParts } from './admission.ts'
import type { OutboundRequest, Skipped } from './prepare.ts'
import { ClientGone } from './reply.ts'
import type { ClientRequest } from './request.ts'

type BillingParts = AdmissionParts & { readonly log: Log }

type Billed = {
  readonly request: Pick<ClientRequest, 'inbound' | 'call' | 'texts'>
  readonly model: Model
  readonly admission: Admission
  /** Routes that the request may not take. */
  readonly skipped: readonly Skipped[]
}

/** How long another attempt waits for the count of what a failed one read: the tokenizer may still have to load. */
const COUNT_MS_MAX = 500

/** The outcome of an attempt whose answer the client has. */
export const ANSWERED = 'answered'

/** A hold is worth lowering when a budget has room for fewer than this many like it. */
const TIGHT_BELOW = 8n

export class Billing {
  readonly #parts: BillingParts
  readonly #billed: Billed
  readonly #attempts: Attempt[] = []
  /** What failed attempts may have cost. */
  #owed: Nanodollars = 0n
  #meter = new Meter()
  /** What was sent in the present attempt. */
  #sent: OutboundRequest | undefined
  #sentMs = 0
  /** The factor on the target's input bound when it was sent. */
  #raisedBy = 1
  #isTrimmed = false
  #sample: TextSample | undefined
  #span: AttemptSpan | undefined
  #settled: Promise<Settled | undefined> | undefined

  constructor(parts: BillingParts, billed: Billed) {
    this.#parts = parts
    this.#billed = billed
  }

  /** An attempt begins: this is about to be sent. Undefined: nobody traces it. */
  beginAttempt(sent: OutboundRequest): TracedCall | undefined {
    const { clock, raisedBounds } = this.#parts
    const { admission, request } = this.#billed
    const { target, provider } = sent.route
    const { trace } = request.inbound
    this.#sent = sent
    this.#meter = new Meter()
    this.#sentMs = clock.monotonicMs()
    this.#raisedBy = raisedBounds.factorOf(target, admission.basis)
    trace.target = target.name
    this.#span = trace.spans?.beginAttempt({
      target: target.name,
      model: target.model,
      kind: provider.kind ?? provider.name,
      propagates: provider.propagates === true,
    })
    return this.#span?.call
  }

  /** Sees every event before the client does. */
  see(event: CanonicalEvent): void {
    this.#meter.see(event, this.#parts.clock)
    if (event.type === 'text-delta' && this.hasContent && !this.#isTrimmed) this.#trim()
  }

  /** Whether the attempt has produced anything a client would read. */
  get hasContent(): boolean {
    return this.outputBytes > 0
  }

  /** How much of that there is. */
  get outputBytes(): number {
    return this.#meter.outputBytes
  }

  /** The texts are about to be released: if the bill may depend on them, a sample is kept. */
  keepSample(): void {
    if (this.#sent === undefined || !needsCount(this.#billable(this.#sent, undefined))) return
    const texts = this.#billed.request.texts()
    this.#sample ??= texts && sampleOf(texts)
  }

  endAttempt(outcome: string): void {
    if (this.#sent === undefined) return
    this.#span?.end(outcome === ANSWERED ? undefined : outcome)
    const { route } = this.#sent
    this.#attempts.push({
      target: route.target.name,
      why:
        this.#attempts.length === 0 ? route.why : `${route.why}; ${SENTENCES.target_after_failure}`,
      outcome,
      durationMs: Math.round(this.#parts.clock.monotonicMs() - this.#sentMs),
    })
  }

  /**
   * Makes room for another attempt after a failed one: what that may have cost becomes a separate charge, held in
   * addition. False = the budgets have no room for it, and nothing changed.
   */
  async allowRetry(failure: unknown): Promise<boolean> {
    const failed = this.#attempts.at(-1)
    if (this.#sent === undefined || failed === undefined) return true
    const owed = wholeOf(await this.#bill(this.#sent, failure, COUNT_MS_MAX))
    if (owed.cost > 0n) {
      // A ledger that does not answer may have held more, but has not said so: that counts as no room.
      const { holdId } = this.#billed.admission.hold
      const isHeld = await this.#parts.ledger.extend(holdId, owed.cost).catch(() => false)
      if (!isHeld) return false
      this.#attempts[this.#attempts.length - 1] = { ...failed, charge: chargeOf(owed) }
      this.#owed += owed.cost
    }
    this.#sent = undefined
    return true
  }

  /** Charges what the request cost, once; resolves when the charge is durable. Undefined = no failure. */
  settle(failure: unknown): Promise<Settled | undefined> {
    this.#settled ??= this.#settle(failure)
    return this.#settled
  }

  async #settle(failure: unknown): Promise<Settled | undefined> {
    const { admission, request } = this.#billed
    const { trace } = request.inbound
    if (this.#sent === undefined && this.#attempts.length === 0) {
      await this.#parts.ledger.void(admission.hold.holdId, 'never sent to a provider')
      return undefined
    }
    const billing = this.#sent === undefined ? NOTHING : this.#bill(this.#sent, failure)
    const bill = billing instanceof Promise ? await billing : billing
    if (bill.impossible) this.#reportImpossible()
    this.#addSurcharge(bill)
    const settlement = this.#settlement(bill, failure)
    trace.inputTokens = bill.usage.inputTokens
    trace.outputTokens = bill.usage.outputTokens
    trace.costUsd = formatUsd(settlement.costNanodollars)
    trace.attempts = this.#attempts
    if (settlement.firstTokenMs !== null) trace.firstTokenMs = settlement.firstTokenMs
    if (settlement.estimated) trace.estimated = true
    const span = trace.spans?.begin('settle')
    try {
      const settled = await this.#parts.ledger.settle(settlement)
      span?.end()
      if (settled.overrunNanodollars > 0n) this.#reportOverrun(settled)
      return settled
    } catch (cause) {
      // Neither the database nor the spool took it: the hold stays, and the answer is not completed.
      span?.end('ledger_unavailable')
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
    const { hold } = this.#billed.admission
    if (this.#sent === undefined || this.#meter.usage === undefined) return
    this.#isTrimmed = true
    if (!isTight(hold, this.#billed.model) || this.#sent.searchesMax > 0) return
    const most = mostOf(this.#billable(this.#sent, undefined))
    if (most === undefined || most + this.#owed >= hold.amountNanodollars) return
    this.#parts.ledger.trim(hold.holdId, most + this.#owed).catch(() => {
      // The settlement frees the excess.
    })
  }

  /** The request cost more than its supposed worst case: the operator should know, and later holds are made larger. */
  #reportOverrun({ costNanodollars, overrunNanodollars }: Settled): void {
    const { request, admission } = this.#billed
    const route = this.#sent?.route
    this.#parts.log.error('overrun', {
      request_id: request.inbound.requestId,
      target: route?.target.name,
      cost: formatUsd(costNanodollars),
      overrun: formatUsd(overrunNanodollars),
      message: 'the provider billed more than was held: the input bound of this target is raised',
    })
    if (route === undefined) return
    const { basis, inputTokens } = admission
    const { nanodollars } = costOf({ ...NO_USAGE, inputTokens }, route.target.price)
    const times = nanodollars === 0n ? 1 : 1 + Number(overrunNanodollars) / Number(nanodollars)
    this.#parts.raisedBounds.raise(route.target, { basis, from: this.#raisedBy, times })
  }

  /** The cost is estimated, so if a configured limit is wrong, the operator pays more than the books say. */
  #reportImpossible(): void {
    this.#parts.log.error('usage_impossible', {
      request_id: this.#billed.request.inbound.requestId,
      target: this.#sent?.route.target.name,
      told_input_tokens: this.#meter.usage?.inputTokens,
      told_output_tokens: this.#meter.usage?.outputTokens,
      message:
        'the provider counted what the context window and the output limit do not allow, so the cost is estimated: check `context` and `max_output` of the model',
    })
  }

  /** At once, unless the texts must be counted first. */
  #bill(sent: OutboundRequest, failure: unknown, countMsMax?: number): Bill | Promise<Bill> {
    const { usage, unbilled } = failure instanceof GatewayError ? failure.details : {}
    if (usage !== undefined) this.#meter.see({ type: 'usage', usage }, this.#parts.clock)
    // A provider that took a request and then fell silent may have worked on it: only a request it refused is free.
    if (unbilled === true && !this.#meter.hasOutput) return NOTHING
    const billable = this.#billable(sent, failure)
    if (!needsCount(billable)) return billOf(billable)
    this.keepSample()
    if (this.#sample === undefined) return billOf(billable)
    const counting = this.#parts.tokenizer.estimate(this.#sample)
    const late = countMsMax && setTimeout(countMsMax, undefined, { ref: false })
    const counted = late ? Promise.race([counting, late]) : counting
    return counted.then((textTokens) => billOf({ ...billable, textTokens }))
  }

  #billable(sent: OutboundRequest, failure: unknown): Billable {
    const { request, model, admission } = this.#billed
    const { call } = request
    const { price, context } = sent.route.target
    const inputs = model.kind === 'embedding' ? Math.max(1, call.input.items) : 1
    const outputTokensMax = Math.min(
      sent.outputTokensMax ?? Infinity,
      admission.outputTokensMax ?? 0,
    )
    const hasClientLeft = failure instanceof ClientGone
    const isLate = failure instanceof GatewayError && failure.code === 'provider_timeout'
    // Of a stream that never came, nobody knows what was written.
    const worksUnseen =
      !call.stream || mayReason(model, call.output) || (isLate && !this.#meter.hasOutput)
    const silentMs = (this.#meter.firstOutputMs ?? this.#parts.clock.monotonicMs()) - this.#sentMs
    // The model reads everything again after each search, even one its limit refuses: it may ask for more than allowed.
    const roundsPossible = sent.searchesMax === 0 ? 1 : SEARCHES_MOST + 1
    return {
      meter: this.#meter,
      price,
      inputTokensPossible: context * inputs * roundsPossible,
      input: call.input,
      inputTokens: sent.inputTokens,
      textTokens: undefined,
      inputTokensMax: admission.inputTokens,
      outputTokensMax: outputTokensMax * call.output.choices,
      hasClientLeft,
      unseenMs: (hasClientLeft || isLate) && worksUnseen ? silentMs : 0,
      held: admission.hold.amountNanodollars,
      keepsLong: sent.keepsLong,
    }
  }

  /** A usage row counts only tokens: other charges are recorded with the attempt that incurred them. */
  #addSurcharge({ surcharge: { lines, nanodollars: cost } }: Bill): void {
    const answered = this.#attempts.at(-1)
    if (cost === 0n || answered === undefined) return
    this.#attempts[this.#attempts.length - 1] = { ...answered, charge: chargeOf({ lines, cost }) }
  }

  #settlement(bill: Bill, failure: unknown): Settlement {
    const { admission, model, request, skipped } = this.#billed
    const { call } = request
    const { requestId, endpoint, caller, startedMs, endUser, tags, trace } = request.inbound
    const target = this.#sent?.route.target
    const firstOutputMs = this.#meter.firstOutputMs
    const { status, errorCode } = endedWith(failure)
    return {
      holdId: admission.hold.holdId,
      groupId: admission.hold.groupId,
      requestId,
      keyId: caller.keyId,
      endpoint,
      modelAsked: model.id,
      modelServed: target?.model ?? null,
      provider: target?.provider ?? null,
      status,
      errorCode,
      tokens: bill.usage,
      costNanodollars: bill.cost + bill.surcharge.nanodollars + this.#owed,
      // A refused request costs nothing, even where its target charges per request.
      price: bill === NOTHING ? null : (target?.price ?? null),
      estimated: bill.estimated || this.#owed > 0n,
      latencyMs: this.#parts.clock.monotonicMs() - startedMs,
      firstTokenMs: firstOutputMs === undefined ? null : firstOutputMs - startedMs,
      traceId: trace.spans?.traceId ?? null,
      endUser: call.endUser ?? endUser ?? null,
      tags: tags ? { tags, ...call.metadata } : (call.metadata ?? {}),
      attempts: [...skipped.map(notTried), ...this.#attempts],
    }
  }
}

function notTried({ target, why, by }: Skipped): Attempt {
  return { target, why, outcome: `skipped: ${by}`, durationMs: 0 }
}

function isTight({ amountNanodollars, balances }: Reserved, model: Model): boolean {
  const left = leastRemaining(balances, model.id)
  return left !== null && left < amountNanodollars * TIGHT_BELOW
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

/** How a request ended: the status its client was given, and what went wrong; undefined = nothing. */
export function endedWith(failure: unknown): Pick<Settlement, 'status' | 'errorCode'> {
  if (failure === undefined) return { status: 200, errorCode: null }
  if (failure instanceof ClientGone) {
    return { status: CLIENT_GONE_STATUS, errorCode: 'client_gone' }
  }
  const { status, code } = toGatewayError(failure)
  return { status, errorCode: code }
}

// What a request is charged: by the provider's own count if that count is possible, else by what was received, and
// never nothing once a model has begun to work.

type Bill = {
  readonly usage: Usage
  /** Tokens times price; their sum is the cost unless the hold was smaller. */
  readonly lines: readonly CostLine[]
  readonly cost: Nanodollars
  /** What is billed beside the tokens. */
  readonly surcharge: Cost
  /** The provider's count was missing or impossible. */
  readonly estimated: boolean
  /** The provider gave a count, but it is too high or too low to be true. */
  readonly impossible: boolean
}

/** What a bill is made from. */
export type Billable = {
  readonly meter: Meter
  readonly price: Price
  /** The most any provider could count: a context window for each separate input and each time it is read. */
  readonly inputTokensPossible: number
  readonly input: InputMeasure
  /** The exact input, where it is known. */
  readonly inputTokens: number | undefined
  /** A tokenizer's count of the input's texts, if there is one. */
  readonly textTokens: number | undefined
  /** The most input the hold assumed. */
  readonly inputTokensMax: number
  /** The most that could be written: the limit that was sent, times the choices. */
  readonly outputTokensMax: number
  /** Whether the client cut the answer off, perhaps on purpose. */
  readonly hasClientLeft: boolean
  /** How long the model worked unseen, on reasoning or a whole answer, before the client or a timeout cut it off. */
  readonly unseenMs: number
  readonly held: Nanodollars
  /** Whether every cache write counts as a long-lived one. */
  readonly keepsLong: boolean
}

/** Nothing was billed: no provider was called, or it refused before it began. */
const NOTHING: Bill = {
  usage: NO_USAGE,
  lines: [],
  cost: 0n,
  surcharge: NO_SURCHARGE,
  estimated: false,
  impossible: false,
}

export function billOf(billable: Billable): Bill {
  const { meter, price, held } = billable
  const told = meter.isComplete && meter.isCounted ? usageTold(billable) : undefined
  const isCredible = told !== undefined && isPossible(told, billable)
  // A model reads something of every request: a server that says it read nothing has not counted.
  const isBelieved = isCredible && told.inputTokens > 0
  const usage = isBelieved ? told : estimate(billable)
  const { lines, nanodollars: cost } = costOf(usage, price)
  const surcharge = surchargeOf(usage, price)
  const impossible = told !== undefined && !isCredible
  return isBelieved || cost + surcharge.nanodollars <= held
    ? { usage, lines, cost, surcharge, estimated: !isBelieved, impossible }
    : { usage, lines, cost: held, surcharge: NO_SURCHARGE, estimated: true, impossible }
}

/** Whether the bill depends on how many tokens the texts of the request have. */
export function needsCount(billable: Billable): boolean {
  if (billable.inputTokens !== undefined || chargesAllInput(billable)) return false
  return inputTold(billable) === undefined
}

/** The most a request can still cost once the provider has reported what it read; undefined until then. */
export function mostOf(billable: Billable): Nanodollars | undefined {
  const { price, outputTokensMax } = billable
  const read = inputTold(billable)
  if (read === undefined) return undefined
  const usage = { ...read, outputTokens: outputTokensMax }
  return costOf(usage, price).nanodollars + surchargeOf(usage, price).nanodollars
}

function usageTold({ meter: { usage }, keepsLong }: Billable): Usage | undefined {
  return usage && keepsLong ? { ...usage, cacheWriteLongTokens: usage.cacheWriteTokens } : usage
}

/** Whether any tokenizer or provider can arrive at these counts; no others are believed. */
function isPossible(usage: Usage, billable: Billable): boolean {
  return (
    isInputPossible(usage, billable) &&
    isCount(usage.outputTokens) &&
    isCount(usage.reasoningTokens) &&
    usage.outputTokens <= billable.outputTokensMax &&
    usage.reasoningTokens <= usage.outputTokens
  )
}

function isInputPossible(usage: Usage, { inputTokensPossible }: Billable): boolean {
  const { inputTokens, cachedTokens, cacheWriteTokens, cacheWriteLongTokens } = usage
  const { audioTokens = 0, webSearches = 0 } = usage
  return (
    [inputTokens, cachedTokens, cacheWriteTokens, cacheWriteLongTokens].every(isCount) &&
    [audioTokens, webSearches].every(isCount) &&
    inputTokens <= inputTokensPossible &&
    cachedTokens + cacheWriteTokens <= inputTokens &&
    cacheWriteLongTokens <= cacheWriteTokens &&
    audioTokens <= inputTokens &&
    webSearches <= SEARCHES_MOST
  )
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0
}

/** Providers bill unseen output too; without this, a client that leaves before it arrives would get it for free. */
const UNSEEN_TOKENS_PER_MS = 0.15

/** The model's work as counted here. Parts that the provider did count are believed. */
function estimate(billable: Billable): Usage {
  const { meter, outputTokensMax, unseenMs } = billable
  // Numbers have fewer bytes per token than prose.
  const seen = Math.max(likelyTokens(meter.outputBytes), meter.outputPieces)
  const written = seen + Math.ceil(unseenMs * UNSEEN_TOKENS_PER_MS)
  const told = meter.usage?.outputTokens ?? 0
  return {
    ...withSearches(inputTold(billable) ?? inputUntold(billable), billable),
    outputTokens: Math.min(Math.max(written, isCount(told) ? told : 0), outputTokensMax),
  }
}

/** What OpenAI counts for a search by its smaller models. */
const TOKENS_PER_SEARCH_LIKELY = 8_000

/** After each search the model reads everything again, with all results so far: an earlier count leaves that out. */
function withSearches(read: Usage, { meter, inputTokensPossible }: Billable): Usage {
  const { searches } = meter
  if (searches === 0 || read.webSearches !== undefined) return read
  const found = (TOKENS_PER_SEARCH_LIKELY * searches * (searches + 1)) / 2
  const inputTokens = Math.min(read.inputTokens * (searches + 1) + found, inputTokensPossible)
  return { ...read, inputTokens, webSearches: searches }
}

/** The input the provider reports, split by what is billed differently. A count of 0 cannot be true and is ignored. */
function inputTold(billable: Billable): Usage | undefined {
  const told = usageTold(billable)
  if (told === undefined || told.inputTokens === 0 || !isInputPossible(told, billable)) return
  return { ...told, outputTokens: 0, reasoningTokens: 0 }
}

/**
 * The input most likely read. Where bytes do not tell, as with a document, a client that leaves on purpose would get it
 * for free, so all the input that was held for is charged.
 */
function inputUntold(billable: Billable): Usage {
  const { input, inputTokens, textTokens, inputTokensMax } = billable
  if (chargesAllInput(billable)) {
    const heard = input.audio === true && inputTokensMax > 0
    const usage = { ...NO_USAGE, inputTokens: inputTokensMax }
    return heard ? { ...usage, audioTokens: inputTokensMax } : usage
  }
  const read = inputTokens ?? likelyInput(input, textTokens ?? textTokensAtMost(input))
  return { ...NO_USAGE, inputTokens: Math.min(read, inputTokensMax) }
}

function chargesAllInput({ input, hasClientLeft }: Billable): boolean {
  return hasClientLeft && input.unbounded
}

/**
 * What was received so far, and the provider's usage once it is known: everything the bill is made from. Counts before
 * anything is passed on, so cutting a stream early saves nothing.
 */
export class Meter {
  /** The provider's latest totals. */
  usage: Usage | undefined
  /** Whether those totals came after all of the output: earlier ones leave out what followed. */
  isCounted = false
  /** UTF-8 bytes of everything the model wrote: text, reasoning, tool calls. */
  outputBytes = 0
  /** In how many pieces that came: a provider streams whole tokens, so there are at least as many. */
  outputPieces = 0
  /** The web searches seen so far. */
  searches = 0
  /** Whether the provider marked its answer as complete. */
  isComplete = false
  /** When the model's first output came, in milliseconds of the monotonic clock. */
  firstOutputMs: number | undefined

  /** Whether the model produced anything: received here, or counted by the provider. */
  get hasOutput(): boolean {
    return this.outputBytes > 0 || (this.usage?.outputTokens ?? 0) > 0
  }

  see(event: CanonicalEvent, clock: Pick<Clock, 'monotonicMs'>): void {
    switch (event.type) {
      case 'text-delta':
      case 'refusal-delta':
      case 'reasoning-delta':
      case 'tool-call-delta':
        this.#output(event.text, clock)
        break
      case 'tool-call-start':
        this.#output(event.name, clock)
        break
      case 'reasoning-end':
        // Redacted reasoning is billed like any other, and only its opaque text is visible.
        if (event.opaque?.kind === 'redacted') this.#output(event.opaque.value, clock)
        break
      case 'usage':
        this.usage = event.usage
        this.isCounted = true
        break
      case 'search':
        this.searches += 1
        break
      case 'response-end':
        this.isComplete = true
        break
      case 'response-start':
      case 'text-start':
      case 'text-citation':
      case 'text-end':
      case 'refusal-start':
      case 'refusal-end':
      case 'reasoning-start':
      case 'tool-call-end':
      case 'choice-end':
      case 'citations-lost':
      case 'embedding':
      case 'ping':
        break
    }
  }

  #output(text: string, clock: Pick<Clock, 'monotonicMs'>): void {
    this.outputBytes += Buffer.byteLength(text)
    if (text !== '') this.outputPieces += 1
    this.isCounted = false
    this.firstOutputMs ??= clock.monotonicMs()
  }
}
