// What must be true whatever the ledger's code says: the provider's own record of its calls and what they cost, and
// whether each grant and each refusal was right, worked out independently from the rows of the books.
import assert from 'node:assert/strict'
import type { WorstCase } from '../../src/catalog/worst-case.ts'
import type { Grant, Reserved, Shortage } from '../../src/ledger/ledger.ts'
import type { Batch, Item, Outcome, CheckedAsk, Refusal } from '../../src/ledger/rules/batch.ts'
import { FRAME_ID } from '../../src/store/database/tables.ts'
import type { MemoryDatabase } from './memory-database.ts'

type Granted = Pick<Reserved, 'amountNanodollars' | 'outputTokens' | 'capped' | 'grants'>

type Dispatch = {
  /** What the provider bills, once it is done. */
  cost: bigint | undefined
  /** The node was told that the settlement is safe. */
  isAcknowledged: boolean
}

const MINUTE_MS = 60_000

export class Oracle {
  /** As whoever reads them sees them now. */
  #books: MemoryDatabase
  readonly #dispatched = new Map<number, Dispatch>()
  readonly #granted = new Set<number>()
  /** The group that each hold was granted in. */
  readonly #groups = new Map<number, string | null>()
  /** By account, budget and period. */
  readonly #topUps = new Map<string, bigint>()
  /** When requests were admitted, by account. */
  readonly #admissions = new Map<string, number[]>()
  /** Until then the books may still count admissions that were forgotten here. */
  #surelyAfter = 0

  constructor(books: MemoryDatabase) {
    this.#books = books
  }

  lookAt(books: MemoryDatabase): this {
    this.#books = books
    return this
  }

  /** What was granted is in the books, whether or not it would be granted now. */
  learn({ items }: Batch, outcomes: readonly Outcome[]): void {
    for (const [index, item] of items.entries()) {
      const outcome = outcomes[index]
      if (item.kind !== 'reserve' || outcome?.kind !== 'judged' || !outcome.answer.reserved)
        continue
      this.#granted.add(item.holdId)
      this.#groups.set(item.holdId, item.ask.groupId)
    }
  }

  /** The provider is called, which is allowed only on a hold that is in the books. */
  dispatch(holdId: number): void {
    const isCommitted =
      this.#books.holds.has(holdId) || this.#books.usage.get(holdId)?.state === 'orphaned'
    assert.ok(isCommitted, `hold ${holdId} was dispatched and is not in the books`)
    assert.ok(!this.#dispatched.has(holdId), `hold ${holdId} was dispatched twice`)
    this.#dispatched.set(holdId, { cost: undefined, isAcknowledged: false })
  }

  finish(holdId: number, cost: bigint): void {
    const dispatch = this.#dispatched.get(holdId)
    if (dispatch !== undefined) dispatch.cost = cost
  }

  acknowledge(holdId: number): void {
    const dispatch = this.#dispatched.get(holdId)
    if (dispatch !== undefined) dispatch.isAcknowledged = true
  }

  /** Recent counts are no longer certain, until the clock has passed the latest time it ever showed. */
  forgetMinutes(latest: number): void {
    this.#admissions.clear()
    this.#surelyAfter = Math.max(this.#surelyAfter, latest + 2 * MINUTE_MS)
  }

  /** Checks the decisions of a batch that has just been committed. */
  check(batch: Batch, outcomes: readonly Outcome[]): void {
    const demands = batch.items.filter(({ kind }) => kind === 'reserve' || kind === 'extend')
    for (const [index, item] of batch.items.entries()) {
      const outcome = outcomes[index]
      if (outcome?.kind === 'changed' && outcome.done) this.#checkChange(item)
      if (item.kind !== 'reserve' || outcome?.kind !== 'judged') continue
      const { answer } = outcome
      if (answer.reserved) this.#checkGrant(item, answer, demands.length === 1)
      // With several asks in one batch, those granted later hide what this one saw.
      else if (demands.length === 1) this.#checkRefusal(item.ask, answer)
    }
  }

  /** At the end of a run no hold is open, and every dispatched call is charged what it cost or what it held. */
  checkEnd(): void {
    assert.equal(this.#books.holds.size, 0, 'holds are left')
    for (const [holdId, { cost, isAcknowledged }] of this.#dispatched) {
      const row = this.#books.usage.get(holdId)
      assert.ok(row, `hold ${holdId} was dispatched and has no row`)
      assert.equal(row.groupId, this.#groups.get(holdId), `the group of hold ${holdId}`)
      if (isAcknowledged) assert.equal(row.costNanodollars, cost, `what hold ${holdId} cost`)
      else if (row.state === 'orphaned') assert.equal(row.costNanodollars, row.heldNanodollars)
      else assert.equal(row.costNanodollars, cost, `what hold ${holdId} cost, unacknowledged`)
    }
  }

  /** What the tightest budget of a call has left; null = none limits it. */
  left(keyId: string, modelAsked: string): bigint | null {
    const { groupId } = this.#books.account(keyId)
    const lefts = this.#boundsOf({ keyId, groupId, modelAsked }).map(
      ({ limit, spent, held }) => limit - spent - held,
    )
    return lefts.length === 0 ? null : lefts.reduce((one, other) => (one < other ? one : other))
  }

  #checkChange(item: Item): void {
    if (item.kind === 'top-up') {
      const { keyId, budget: name } = item
      const topped = this.#books.budgets(keyId).find((budget) => budget.name === name)
      const period = `${keyId} ${name} ${topped?.periodSeq}`
      this.#topUps.set(period, (this.#topUps.get(period) ?? 0n) + item.amount)
    }
    if (item.kind === 'extend') this.#checkExtension(item.holdId)
  }

  /** All legs that the hold was granted on must run still, and have room for the larger one. */
  #checkExtension(holdId: number): void {
    const hold = this.#books.holds.get(holdId)
    assert.ok(hold)
    const { keyId, groupId, modelAsked, heldNanodollars } = hold
    for (const [id, name, seq] of [
      [keyId, '', hold.keyPeriod],
      [keyId, 'window', hold.keyWindow],
      [keyId, `model:${modelAsked}`, hold.modelCap],
      [groupId, '', hold.groupPeriod],
      [groupId, 'window', hold.groupWindow],
      [FRAME_ID, '', hold.framePeriod],
      [FRAME_ID, 'window', hold.frameWindow],
    ] as const) {
      if (seq === null || id === null) continue
      const budget = this.#books.budgets(id).find((each) => each.name === name)
      assert.equal(budget?.periodSeq, seq, `hold ${holdId} grew in a period that is closed`)
      const { limit, topUp } = budget
      const { spent, held } = this.#books.sums(id, budget)
      assert.ok(
        limit === null || spent + held <= limit + topUp,
        `${id} ${name} was granted too much`,
      )
    }
    this.#assertRequestCost(hold, heldNanodollars)
  }

  #assertRequestCost({ keyId, groupId }: Payer, amount: bigint): void {
    for (const id of [keyId, groupId]) {
      const most = id === null ? null : this.#books.account(id).requestCostMax
      assert.ok(most === null || amount <= most, `one request of ${id} may cost ${amount}`)
    }
  }

  /** Everything that limits a call, with what is spent and held of it by the rows. */
  #boundsOf({ keyId, groupId, modelAsked }: Payer): readonly Bound[] {
    const ids = groupId === null ? [keyId, FRAME_ID] : [keyId, groupId, FRAME_ID]
    const bounds = ids.flatMap((id) =>
      this.#books.budgets(id).flatMap((budget): Bound[] => {
        const { name, limit, topUp, periodSeq, periodEndsAt: resetsAt } = budget
        const isOfCall = !name.startsWith('model:') || name === `model:${modelAsked}`
        if (!isOfCall) return []
        const topped = this.#topUps.get(`${id} ${name} ${periodSeq}`) ?? 0n
        assert.equal(topUp, topped, `top-up of ${id} ${name}`)
        if (limit === null) return []
        return [
          { limit: limit + topUp, resetsAt, isRequest: false, ...this.#books.sums(id, budget) },
        ]
      }),
    )
    const costs = [keyId, groupId].flatMap((id) => {
      const most = id === null ? null : this.#books.account(id).requestCostMax
      return most === null ? [] : [most]
    })
    if (costs.length === 0) return bounds
    const limit = costs.reduce((one, other) => (one < other ? one : other))
    return [...bounds, { limit, resetsAt: null, isRequest: true, spent: 0n, held: 0n }]
  }

  #checkGrant(item: Extract<Item, { kind: 'reserve' }>, granted: Granted, isAlone: boolean): void {
    const { keyId, candidates } = item.ask
    const { amountNanodollars: amount, outputTokens, capped } = granted
    const grants = granted.grants ?? [{ outputTokens, capped }]
    assert.equal(grants.length, candidates.length, 'one grant for each target')
    const costs = candidates.flatMap((worst, index) => {
      const grant = grants[index]
      return grant === undefined || typeof grant === 'string'
        ? []
        : [costOf(worst, grant.outputTokens)]
    })
    // A retry may find a hold that pays for more than it is told.
    for (const cost of costs) assert.ok(cost <= amount, `${amount} held for a target of ${cost}`)
    assert.ok(costs.length > 0, 'granted without a target')
    // A retry finds the hold it was granted before.
    if (this.#granted.has(item.holdId)) return
    this.#granted.add(item.holdId)
    assert.ok(costs.includes(amount), `${amount} held for targets of ${costs.join(', ')}`)
    if (isAlone) this.#checkGrants(item.ask, grants, amount)
    this.#checkLegs(item)
    if (amount > 0n) {
      for (const { limit, spent, held, isRequest } of this.#boundsOf(item.ask)) {
        const taken = isRequest ? amount : spent + held
        assert.ok(taken <= limit, `${taken} of ${limit} was granted to ${keyId}`)
      }
    }
    this.#checkRates(item.ask)
  }

  /** The group must be as the request knew it, and the hold must be on every budget that there is. */
  #checkLegs({ holdId, ask }: Extract<Item, { kind: 'reserve' }>): void {
    const { keyId, groupId, groupVersion, modelAsked } = ask
    const hold = this.#books.holds.get(holdId)
    assert.ok(hold)
    assert.equal(groupId, this.#books.account(keyId).groupId, `${keyId} was in another group`)
    const group = groupId === null ? undefined : this.#books.account(groupId)
    assert.equal(group?.allowVersion ?? 0, groupVersion, `${groupId} had changed`)
    assert.ok(group === undefined || group.status === 'active', `${groupId} is archived`)
    this.#groups.set(holdId, groupId)
    const seqOf = (id: string | null, name: string): number | null => {
      if (id === null) return null
      const budget = this.#books.budgets(id).find((each) => each.name === name)
      const endsAt = budget?.periodEndsAt ?? Infinity
      assert.ok(this.#books.now < endsAt, `a hold was granted on ${id} ${name} after its period`)
      return budget?.periodSeq ?? null
    }
    assert.deepEqual(
      [hold.keyPeriod, hold.keyWindow, hold.modelCap, hold.groupPeriod, hold.groupWindow],
      [
        seqOf(keyId, ''),
        seqOf(keyId, 'window'),
        seqOf(keyId, `model:${modelAsked}`),
        seqOf(groupId, ''),
        seqOf(groupId, 'window'),
      ],
      `the legs of hold ${holdId}`,
    )
    assert.deepEqual(
      [hold.framePeriod, hold.frameWindow],
      [seqOf(FRAME_ID, ''), seqOf(FRAME_ID, 'window')],
    )
  }

  #checkRates({ keyId, groupId }: CheckedAsk): void {
    for (const id of groupId === null ? [keyId] : [keyId, groupId]) {
      const { rpm, concurrency } = this.#books.account(id)
      const open = this.#openOn(id)
      assert.ok(concurrency === null || open <= concurrency, `concurrency of ${id}`)
      const lately = this.#lately(id, MINUTE_MS)
      assert.ok(rpm === null || lately < rpm, `${lately + 1} of ${rpm} requests a minute on ${id}`)
      this.#admissions.set(id, [...(this.#admissions.get(id) ?? []), this.#books.now])
    }
  }

  #openOn(id: string): number {
    const holds = [...this.#books.holds.values()]
    return holds.filter(({ keyId, groupId }) => keyId === id || groupId === id).length
  }

  /** Whether each target that was skipped had to be; `own` is what this request holds by now. */
  #checkGrants(ask: CheckedAsk, grants: readonly Grant[], own: bigint): void {
    for (const [index, grant] of grants.entries()) {
      const worst = ask.candidates[index]
      assert.ok(worst)
      if (grant !== 'budget' && grant !== 'held') continue
      const least = leastOf(ask, worst, (amount) => this.#isShort(ask, amount, null))
      assert.ok(
        this.#isShort(ask, least, grant === 'held' ? own : null),
        `a target of ${ask.keyId} that fits was skipped: ${grant}`,
      )
    }
    const first = grants.find((grant) => grant !== 'budget')
    assert.ok(ask.isLastTry === true || first !== 'held', 'a target was not waited for')
  }

  /** Whether an amount does not fit a budget: beside all holds but its own, or null: without any. */
  #isShort(ask: CheckedAsk, amount: bigint, own: bigint | null): boolean {
    return this.#boundsOf(ask).some(({ limit, spent, held, isRequest }) => {
      const others = own === null || isRequest ? 0n : held - own
      return spent + others + amount > limit
    })
  }

  /** How many requests were admitted within the last `withinMs`. */
  #lately(id: string, withinMs: number): number {
    const admissions = this.#admissions.get(id) ?? []
    return admissions.filter((at) => this.#books.now - at <= withinMs).length
  }

  #checkRefusal(ask: CheckedAsk, refused: Refusal): void {
    const { reason } = refused
    const isSpent = (amount: bigint): boolean => this.#isShort(ask, amount, null)
    const costs = ask.candidates.map((worst) => costOf(worst, worst.outputTokens))
    if (reason === 'budget') {
      for (const worst of ask.candidates)
        assert.ok(
          isSpent(leastOf(ask, worst, isSpent)),
          `${ask.keyId} was refused for spending it could afford`,
        )
      const { candidate, requiredNanodollars } = refused.shortage
      assert.equal(requiredNanodollars, costs[candidate], 'what the target named would cost')
      assert.ok(
        costs.every((cost) => cost >= requiredNanodollars),
        'a dearer target was named',
      )
      this.#checkNamed(ask, refused.shortage, isSpent)
    }
    if (reason === 'held') {
      const { candidate } = refused.shortage
      const worst = ask.candidates[candidate]
      assert.ok(worst)
      assert.ok(
        this.#isShort(ask, leastOf(ask, worst, isSpent), 0n),
        `${ask.keyId} was refused for holds beside which it fits`,
      )
      if (ask.isLastTry === true)
        for (const other of ask.candidates)
          assert.ok(
            this.#isShort(ask, leastOf(ask, other, isSpent), 0n),
            `${ask.keyId} was refused although another target fits`,
          )
      for (const before of ask.candidates.slice(0, candidate))
        assert.ok(isSpent(leastOf(ask, before, isSpent)), 'an earlier target was passed over')
    }
    if (reason === 'rate') this.#checkSlowed(ask, refused.scope)
    if (reason === 'key_status') this.#checkStatus(ask, refused.status)
  }

  /** Of the legs that spending keeps it out of, the one that resets latest is named, and all the others. */
  #checkNamed(ask: CheckedAsk, named: Shortage, isSpent: (amount: bigint) => boolean): void {
    const worst = ask.candidates[named.candidate]
    assert.ok(worst)
    const least = leastOf(ask, worst, isSpent)
    const short = this.#boundsOf(ask).filter(({ limit, spent }) => spent + least > limit)
    const latest = Math.max(...short.map(({ resetsAt }) => resetsAt ?? Infinity))
    assert.equal(named.resetsAt ?? Infinity, latest, 'a budget that resets earlier was named')
    assert.equal(named.also.length, short.length - 1, 'the other budgets without room')
  }

  #checkSlowed({ keyId, groupId }: CheckedAsk, scope: 'key' | 'group'): void {
    const id = scope === 'key' ? keyId : groupId
    assert.ok(id)
    const { rpm, concurrency } = this.#books.account(id)
    const isFull = concurrency !== null && this.#openOn(id) >= concurrency
    // The window counts whole seconds, so a request admitted up to 61 s ago may still count.
    const isFast = rpm !== null && this.#lately(id, MINUTE_MS + 1000) >= rpm
    assert.ok(
      isFull || isFast || this.#books.now < this.#surelyAfter,
      `${id} was slowed down for nothing`,
    )
  }

  #checkStatus({ keyId, groupId, groupVersion }: CheckedAsk, status: string): void {
    const isElsewhere = this.#books.account(keyId).groupId !== groupId
    const group = groupId === null ? undefined : this.#books.account(groupId)
    const isStale = isElsewhere || (group?.allowVersion ?? 0) !== groupVersion
    if (status === 'archived') assert.equal(group?.status, 'archived', `${groupId} is not archived`)
    else assert.ok(status === 'stale' && isStale, `${keyId} is ${status} without a reason`)
  }
}

/** Who pays for a call, and what for. */
type Payer = Pick<CheckedAsk, 'keyId' | 'groupId' | 'modelAsked'>

type Bound = {
  readonly limit: bigint
  readonly spent: bigint
  readonly held: bigint
  readonly resetsAt: number | null
  /** Limits a single request: what others spend and hold does not count. */
  readonly isRequest: boolean
}

function costOf(worst: WorstCase, outputTokens: number): bigint {
  const picodollars = worst.fixedPicodollars + worst.outputTokenPicodollars * BigInt(outputTokens)
  return (picodollars + 999n) / 1000n
}

/** What a target must at least be granted: the whole, or where spending is in its way and the key allows it, less. */
function leastOf(ask: CheckedAsk, worst: WorstCase, isSpent: (amount: bigint) => boolean): bigint {
  const { outputTokens, outputTokensMinimum } = worst
  const whole = costOf(worst, outputTokens)
  return ask.whenTight === 'cap' && isSpent(whole)
    ? costOf(worst, Math.min(outputTokensMinimum, outputTokens))
    : whole
}
