// What must be true whatever the ledger's code says: the provider's own record of its calls and what they cost, and
// whether each grant and each refusal was right, worked out independently from the rows of the books.
import assert from 'node:assert/strict'
import type { WorstCase } from '../../src/catalog/worst-case.ts'
import type { Reserved, Grant } from '../../src/ledger/ledger.ts'
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
  readonly #books: MemoryDatabase
  readonly #dispatched = new Map<number, Dispatch>()
  readonly #granted = new Set<number>()
  /** By account and period. */
  readonly #topUps = new Map<string, bigint>()
  /** When requests were admitted, by key. */
  readonly #admissions = new Map<string, number[]>()
  /** Until then the books may still count admissions that were forgotten here. */
  #surelyAfter = 0

  constructor(books: MemoryDatabase) {
    this.#books = books
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
      if (isAcknowledged) assert.equal(row.costNanodollars, cost, `what hold ${holdId} cost`)
      else if (row.state === 'orphaned') assert.equal(row.costNanodollars, row.heldNanodollars)
      else assert.equal(row.costNanodollars, cost, `what hold ${holdId} cost, unacknowledged`)
    }
  }

  #checkChange(item: Item): void {
    if (item.kind === 'top-up') {
      const name = `${item.keyId} ${this.#books.account(item.keyId).periodSeq}`
      this.#topUps.set(name, (this.#topUps.get(name) ?? 0n) + item.amount)
    }
    if (item.kind !== 'extend') return
    this.#assertWithin(item.keyId)
    const hold = this.#books.holds.get(item.holdId)
    const isRunning =
      hold?.keyPeriod === this.#books.account(item.keyId).periodSeq &&
      hold.framePeriod === this.#books.account(FRAME_ID).periodSeq
    assert.ok(isRunning, `hold ${item.holdId} grew in a period that is closed`)
  }

  #limitOf(id: string): bigint | null {
    const { limit, topUp, periodSeq } = this.#books.account(id)
    assert.equal(topUp, this.#topUps.get(`${id} ${periodSeq}`) ?? 0n, `top-up of ${id}`)
    return limit === null ? null : limit + topUp
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
    if (amount > 0n) this.#assertWithin(keyId)
    const { rpm, concurrency } = this.#books.account(keyId)
    const open = [...this.#books.holds.values()].filter((hold) => hold.keyId === keyId)
    assert.ok(concurrency === null || open.length <= concurrency, `concurrency of ${keyId}`)
    const lately = this.#lately(keyId, MINUTE_MS)
    assert.ok(rpm === null || lately < rpm, `${lately + 1} of ${rpm} requests a minute on ${keyId}`)
    this.#admissions.set(keyId, [...(this.#admissions.get(keyId) ?? []), this.#books.now])
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

  /** Whether an amount does not fit the key or the frame: beside all holds but its own, or null: without any. */
  #isShort(ask: CheckedAsk, amount: bigint, own: bigint | null): boolean {
    return [ask.keyId, FRAME_ID].some((id) => {
      const limit = this.#limitOf(id)
      const { spent, held } = this.#books.sums(id)
      return limit !== null && spent + (own === null ? 0n : held - own) + amount > limit
    })
  }

  /** How many requests were admitted within the last `withinMs`. */
  #lately(keyId: string, withinMs: number): number {
    const admissions = this.#admissions.get(keyId) ?? []
    return admissions.filter((at) => this.#books.now - at <= withinMs).length
  }

  #assertWithin(keyId: string): void {
    for (const id of [keyId, FRAME_ID]) {
      const limit = this.#limitOf(id)
      const { spent, held } = this.#books.sums(id)
      assert.ok(limit === null || spent + held <= limit, `${id} was granted too much`)
    }
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
    if (reason === 'rate') {
      const { rpm, concurrency } = this.#books.account(ask.keyId)
      const open = [...this.#books.holds.values()].filter((hold) => hold.keyId === ask.keyId)
      const isFull = concurrency !== null && open.length >= concurrency
      // The window counts whole seconds, so a request admitted up to 61 s ago may still count.
      const isFast = rpm !== null && this.#lately(ask.keyId, MINUTE_MS + 1000) >= rpm
      assert.ok(
        isFull || isFast || this.#books.now < this.#surelyAfter,
        `${ask.keyId} was slowed down for nothing`,
      )
    }
  }
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
