// The database of the simulation: the tables of the ledger as maps, one batch at a time, and the invariants recomputed
// from its rows alone. The rules are passed in, so that wrong ones can be tried.
import assert from 'node:assert/strict'
import type { Beat } from '../../src/ledger/nodes/failure-detector.ts'
import type { Batch, BatchResult, Snapshot, Writes } from '../../src/ledger/rules/batch.ts'
import type { Account, ClosedPeriod, Hold, UsageRow } from '../../src/ledger/rules/rows.ts'
import { FRAME_ID } from '../../src/store/database/tables.ts'
import { sampleAccount } from '../samples/ledger-rows.ts'
import type { Rules } from './rules.ts'

type StoredAccount = Omit<Account, 'rateWindow'> & { readonly rateWindow: string }

/** Deliberate faults, for mutants that are not in the rules but in what a database must do. */
export type Faults = { readonly noFence?: boolean; readonly clockOfNode?: boolean }

export class MemoryDatabase {
  /** The database's clock, in milliseconds. */
  now = Date.UTC(2026, 10, 15, 22)
  readonly accounts = new Map<string, StoredAccount>()
  readonly periods = new Map<
    string,
    { -readonly [Name in keyof ClosedPeriod]: ClosedPeriod[Name] }
  >()
  readonly holds = new Map<number, Hold>()
  readonly usage = new Map<number, UsageRow>()
  readonly rollupCosts = new Map<string, bigint>()
  readonly nodes = new Map<number, 'live' | 'fenced'>()
  readonly #beats = new Map<number, number>()
  readonly #rules: Rules
  readonly #faults: Faults

  constructor(rules: Rules, faults: Faults) {
    this.#rules = rules
    this.#faults = faults
  }

  /** Like an account that was just created: its first period begins with its first use. */
  openAccount(id: string, limit: bigint | null, more: Partial<StoredAccount> = {}): void {
    this.accounts.set(id, {
      ...sampleAccount({ id, limit, period: 'day', periodSeq: 0, periodEndsAt: 0 }),
      rateWindow: '',
      ...more,
    })
  }

  /** One transaction. `clockSkewMs` is how wrong the sender's own clock is, which must not matter. */
  run(batch: Batch, clockSkewMs: number): BatchResult {
    const isLive = batch.nodeId === null || this.nodes.get(batch.nodeId) === 'live'
    if (!isLive && this.#faults.noFence !== true) return { live: false }
    const snapshot = this.#snapshot(batch, this.#faults.clockOfNode === true ? clockSkewMs : 0)
    const { outcomes, balances, writes } = this.#rules.decide(batch, snapshot)
    this.#apply(writes)
    this.assertBalanced()
    return { live: true, outcomes, balances }
  }

  join(): number {
    const nodeId = this.nodes.size + 1
    this.nodes.set(nodeId, 'live')
    this.#beats.set(nodeId, 0)
    return nodeId
  }

  /** Counts one beat and returns the counts of the other live nodes. */
  beat(nodeId: number): readonly Beat[] {
    this.#beats.set(nodeId, (this.#beats.get(nodeId) ?? 0) + 1)
    return [...this.#beats]
      .map(([id, beats]) => ({ nodeId: id, beats }))
      .filter((other) => other.nodeId !== nodeId && this.nodes.get(other.nodeId) === 'live')
  }

  fence(nodeId: number): void {
    this.nodes.set(nodeId, 'fenced')
  }

  account(id: string): StoredAccount {
    const account = this.accounts.get(id)
    assert.ok(account, `account ${id}`)
    return account
  }

  /** What an account has spent and holds in its current period, added up from rows. */
  sums(id: string): { readonly spent: bigint; readonly held: bigint } {
    return this.#sumsOf(id, this.account(id).periodSeq)
  }

  assertBalanced(): void {
    for (const account of this.accounts.values()) {
      this.#assertPeriod(account.id, { ...account, seq: account.periodSeq })
      const inFlight = [...this.holds.values()].filter(
        ({ keyId }) => account.id === FRAME_ID || keyId === account.id,
      )
      assert.equal(account.inFlight, inFlight.length, `in flight on ${account.id}`)
      this.#assertPartOfFrame(account)
    }
    for (const period of this.periods.values()) this.#assertPeriod(period.accountId, period)
    for (const id of this.holds.keys()) assert.ok(!this.usage.has(id), `hold ${id} is closed too`)
    let cost = 0n
    for (const row of this.usage.values()) cost += row.costNanodollars
    for (const span of ['hour', 'day']) {
      for (const sum of [`${span} of keys`, `${span} of the frame`]) {
        assert.equal(this.rollupCosts.get(sum) ?? 0n, cost, `rollups by ${sum}`)
      }
    }
  }

  /** A key with no figure for the frame's current period has spent nothing in it. */
  #assertPartOfFrame({ id, framePeriodSeq, frameSpent }: StoredAccount): void {
    if (id === FRAME_ID) return
    const current = this.account(FRAME_ID).periodSeq
    let spent = 0n
    for (const row of this.usage.values())
      if (row.keyId === id && row.framePeriod === current) spent += row.costNanodollars
    assert.equal(framePeriodSeq === current ? frameSpent : 0n, spent, `part of the frame of ${id}`)
  }

  #assertPeriod(
    id: string,
    stated: Pick<Account, 'spent' | 'held' | 'overrun' | 'grantedLimit'> & { readonly seq: number },
  ): void {
    const { spent, held, overrun } = this.#sumsOf(id, stated.seq)
    const name = `of ${id} in period ${stated.seq}`
    assert.equal(stated.spent, spent, `spent ${name}`)
    assert.equal(stated.held, held, `held ${name}`)
    assert.equal(stated.overrun, overrun, `overrun ${name}`)
    const limit = stated.grantedLimit
    assert.ok(limit === null || spent + held <= limit + overrun, `limit ${name} is exceeded`)
  }

  #sumsOf(id: string, seq: number): { spent: bigint; held: bigint; overrun: bigint } {
    const isOf = (entry: Pick<Hold, 'keyId' | 'keyPeriod' | 'framePeriod'>): boolean =>
      id === FRAME_ID ? entry.framePeriod === seq : entry.keyId === id && entry.keyPeriod === seq
    const sums = { spent: 0n, held: 0n, overrun: 0n }
    for (const hold of this.holds.values()) if (isOf(hold)) sums.held += hold.heldNanodollars
    for (const row of this.usage.values()) {
      if (!isOf(row)) continue
      sums.spent += row.costNanodollars
      if (row.costNanodollars > row.heldNanodollars)
        sums.overrun += row.costNanodollars - row.heldNanodollars
    }
    return sums
  }

  #snapshot(batch: Batch, skewMs: number): Snapshot {
    const { keyOf, knownHoldOf, unpackWindow } = this.#rules
    const now = this.now + skewMs
    const ids = new Set([...batch.items.map(keyOf), FRAME_ID])
    const holdIds = batch.items.map((item) => knownHoldOf(item, batch.isRetry))
    const found = <Row>(table: ReadonlyMap<number, Row>): Row[] =>
      holdIds.flatMap((id) => (id === undefined ? [] : (table.get(id) ?? [])))
    return {
      now,
      accounts: [...ids].flatMap((id) => {
        const account = this.accounts.get(id)
        if (account === undefined) return []
        return { ...account, rateWindow: unpackWindow(account.rateWindow, now) }
      }),
      holds: found(this.holds),
      usage: found(this.usage),
    }
  }

  #apply(writes: Writes): void {
    for (const period of writes.closedPeriods) {
      assert.ok(
        period.endsAt <= this.now,
        `a period of ${period.accountId} was ended before its time`,
      )
      insert(this.periods, `${period.accountId} ${period.seq}`, { ...period })
    }
    for (const { accountId, seq, spent, held, overrun } of writes.periodDeltas) {
      const period = this.periods.get(`${accountId} ${seq}`)
      assert.ok(period, `period ${seq} of ${accountId} is in the books`)
      period.spent += spent
      period.held += held
      period.overrun += overrun
    }
    for (const hold of writes.holdsInserted) insert(this.holds, hold.id, hold)
    for (const { id, heldNanodollars } of writes.holdsChanged) {
      const hold = this.holds.get(id)
      if (hold !== undefined) this.holds.set(id, { ...hold, heldNanodollars })
    }
    for (const id of writes.holdsDeleted) this.holds.delete(id)
    for (const row of writes.usageInserted) insert(this.usage, row.id, row)
    for (const row of writes.usageCorrected) this.usage.set(row.id, row)
    for (const { span, keyId, cost } of writes.rollups) {
      const sum = `${span} of ${keyId === FRAME_ID ? 'the frame' : 'keys'}`
      this.rollupCosts.set(sum, (this.rollupCosts.get(sum) ?? 0n) + cost)
    }
    for (const account of writes.accounts) {
      const { limit, rpm, concurrency } = this.account(account.id)
      const rateWindow = this.#rules.packWindow(account.rateWindow)
      this.accounts.set(account.id, { ...account, limit, rpm, concurrency, rateWindow })
    }
  }
}

function insert<Name, Row>(table: Map<Name, Row>, name: Name, row: Row): void {
  assert.ok(!table.has(name), `${String(name)} is there already`)
  table.set(name, row)
}
