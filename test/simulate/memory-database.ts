// The database of the simulation: the tables of the ledger as maps, one batch at a time, and the invariants recomputed
// from its rows alone. The rules are passed in, so that wrong ones can be tried.
import assert from 'node:assert/strict'
import type { Beat } from '../../src/ledger/nodes/failure-detector.ts'
import { THINKING_MS_MAX } from '../../src/ledger/postgres/batch.ts'
import type { Known, VersionedSnapshot } from '../../src/ledger/postgres/known.ts'
import type { Batch, BatchResult, Snapshot, Writes } from '../../src/ledger/rules/batch.ts'
import {
  ACCOUNT_CHANGE,
  type Account,
  type ClosedPeriod,
  type Hold,
  type LegPeriods,
  type UsageRow,
} from '../../src/ledger/rules/rows.ts'
import {
  closedBudget,
  endedAt,
  packBudgets,
  setBudgets,
  unpackBudgets,
  type Budget,
  type BudgetSetting,
  type FurtherBudget,
} from '../../src/store/accounts/budgets.ts'
import { DAY_MS } from '../../src/core/units.ts'
import { FRAME_ID } from '../../src/store/database/tables.ts'
import { sampleAccount } from '../samples/ledger-rows.ts'
import type { Rules } from './rules.ts'

type StoredAccount = Omit<Account, 'rateWindow' | 'budgets'> & {
  readonly rateWindow: string
  readonly budgets: string
}

/** Deliberate faults, for mutants that are not in the rules but in what a database must do. */
export type Faults = {
  readonly noFence?: boolean
  readonly clockOfNode?: boolean
  readonly noVersions?: boolean
  readonly anyTime?: boolean
  readonly readTorn?: boolean
  readonly noPosition?: boolean
  readonly noCount?: boolean
  readonly readBehind?: boolean
  readonly answerFirst?: boolean
}

/** A batch that was decided on what its node knew of the books. */
export type Decided = {
  readonly read: VersionedSnapshot
  readonly decision: ReturnType<Rules['decide']>
}

/** A sender that keeps what it learns, by its own time. */
type Learner = { readonly known: Known; readonly atMs: number }

type Wanted = {
  readonly now: number
  readonly accountIds: Iterable<string>
  readonly holdIds: Iterable<number>
}

type Sums = { spent: bigint; held: bigint; overrun: bigint }

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
  /** By day, key and group: of the day rollups, and of the sums kept of them. */
  readonly #dayCosts = new Map<string, bigint>()
  readonly #keyDays = new Map<string, bigint>()
  readonly nodes = new Map<number, 'live' | 'fenced'>()
  readonly #beats = new Map<number, number>()
  /** By account: the transaction that changed its row last. */
  readonly #versions = new Map<string, string>()
  #transactions = 0
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
      budgets: '',
      ...more,
    })
  }

  /** One transaction. `clockSkewMs` is how wrong the sender's own clock is, which must not matter. */
  run(batch: Batch, clockSkewMs: number, learner?: Learner): BatchResult {
    if (!this.#mayCommit(batch)) {
      learner?.known.forget()
      return { live: false }
    }
    const snapshot = this.#snapshot(batch, this.#faults.clockOfNode === true ? clockSkewMs : 0)
    const read = { snapshot, versions: snapshot.accounts.map(({ id }) => this.#version(id)) }
    learner?.known.sawSnapshot(read, learner.atMs)
    const { outcomes, balances, writes } = this.#rules.decide(batch, snapshot)
    const version = this.apply(writes)
    learner?.known.committed(read, writes, version)
    this.assertBalanced()
    return { live: true, outcomes, balances }
  }

  /** One transaction of a node that is told what it read and wrote. */
  runTold(batch: Batch): { result: BatchResult; accounts: readonly Account[]; writes: Writes } {
    const snapshot = this.#snapshot(batch, 0)
    const { outcomes, balances, writes } = this.#rules.decide(batch, snapshot)
    this.apply(writes)
    this.assertBalanced()
    return { result: { live: true, outcomes, balances }, accounts: snapshot.accounts, writes }
  }

  /** How many transactions have changed anything. */
  get commits(): number {
    return this.#transactions
  }

  countCommit(): void {
    this.#transactions += 1
  }

  copyTo<Copy extends MemoryDatabase>(copy: Copy): Copy {
    copy.now = this.now
    for (const [name, period] of this.periods) copy.periods.set(name, { ...period })
    const into: MemoryDatabase = copy
    fill(into.accounts, this.accounts)
    fill(into.holds, this.holds)
    fill(into.usage, this.usage)
    fill(into.rollupCosts, this.rollupCosts)
    fill(into.#dayCosts, this.#dayCosts)
    fill(into.#keyDays, this.#keyDays)
    fill(into.nodes, this.nodes)
    return copy
  }

  /** Undefined when the node must read the books first. */
  decideOnKnown(batch: Batch, known: Known, atMs: number): Decided | undefined {
    const read = known.snapshotFor(batch, atMs)
    if (read === undefined) return undefined
    const decision = this.#rules.decide(batch, read.snapshot)
    if (this.#rules.isUsual(decision.writes)) return { read, decision }
    known.forget()
    return undefined
  }

  /** One statement, which writes nothing and returns undefined when what the node knew is no longer true. */
  writeIfTrue(
    batch: Batch,
    { read, decision }: Decided,
    learner?: Learner,
  ): BatchResult | undefined {
    const { now, accounts } = read.snapshot
    const { noVersions = false, anyTime = false } = this.#faults
    const areSame =
      noVersions || accounts.every(({ id }, index) => read.versions[index] === this.#version(id))
    const isNow = anyTime || (this.now >= now && this.now <= now + THINKING_MS_MAX)
    if (!this.#mayCommit(batch) || !areSame || !isNow) {
      learner?.known.forget()
      return undefined
    }
    const { outcomes, balances, writes } = decision
    for (const { at } of writes.holdsInserted) assert.ok(at <= this.now, 'reserved in the future')
    const version = this.apply(writes)
    learner?.known.committed(read, writes, version)
    learner?.known.sawTime(this.now, learner.atMs)
    this.assertBalanced()
    return { live: true, outcomes, balances }
  }

  #mayCommit({ nodeId }: Batch): boolean {
    return nodeId === null || this.nodes.get(nodeId) === 'live' || this.#faults.noFence === true
  }

  #version(id: string): string {
    return this.#versions.get(id) ?? ''
  }

  join(): number {
    this.countCommit()
    const nodeId = this.nodes.size + 1
    this.nodes.set(nodeId, 'live')
    this.#beats.set(nodeId, 0)
    return nodeId
  }

  /** Counts one beat and returns the counts of the other live nodes. */
  beat(nodeId: number): readonly Beat[] {
    this.countCommit()
    this.#beats.set(nodeId, (this.#beats.get(nodeId) ?? 0) + 1)
    return [...this.#beats]
      .map(([id, beats]) => ({ nodeId: id, beats }))
      .filter((other) => other.nodeId !== nodeId && this.nodes.get(other.nodeId) === 'live')
  }

  fence(nodeId: number): void {
    this.countCommit()
    this.nodes.set(nodeId, 'fenced')
  }

  /** Sums up the next key of a day that is over, as the maintenance does. */
  sumUpKeyDays(): void {
    const { summedDay, summedKey } = this.account(FRAME_ID)
    const days = [...this.#dayCosts.keys()].map((name) => Number(name.split(' ')[0]))
    const day = Math.min(...days.filter((each) => each >= summedDay))
    if (!(day + DAY_MS <= this.now)) return
    const ofDay = [...this.#dayCosts].filter(([name]) => name.startsWith(`${day} `))
    const keys = ofDay.map(([name]) => name.split(' ')[1] ?? '')
    const key = keys.toSorted().find((each) => day > summedDay || each > summedKey)
    for (const [name, cost] of ofDay) {
      if (name.startsWith(`${day} ${key} `)) insert(this.#keyDays, name, cost)
    }
    const isDone = key === undefined
    this.change(FRAME_ID, { summedDay: isDone ? day + DAY_MS : day, summedKey: key ?? '' })
  }

  account(id: string): StoredAccount {
    const account = this.accounts.get(id)
    assert.ok(account, `account ${id}`)
    return account
  }

  change(id: string, change: Partial<StoredAccount>, transaction = ++this.#transactions): void {
    this.accounts.set(id, { ...this.account(id), ...change })
    this.#versions.set(id, String(transaction))
  }

  /** The main budget of an account under the name '', and its further ones. */
  budgets(id: string): readonly (Budget & { readonly name: string })[] {
    const account = this.account(id)
    return [{ ...account, name: '' }, ...unpackBudgets(account.budgets)]
  }

  /** As the store sets and removes them while holds are open. */
  setBudgets(id: string, wanted: readonly BudgetSetting[]): void {
    const account = this.account(id)
    const { now } = this
    const { budgets, removed } = setBudgets(unpackBudgets(account.budgets), {
      wanted,
      rule: account,
      formerRule: account,
      now,
      firstSeq: (name) => {
        const closed = [...this.periods.values()].filter(
          ({ accountId, budget }) => accountId === id && budget === name,
        )
        return 1 + Math.max(0, ...closed.map(({ seq }) => seq))
      },
    })
    for (const budget of removed) this.#close(id, budget, endedAt(budget, now))
    this.change(id, { budgets: packBudgets(budgets) })
  }

  /** What a budget has spent and holds in its current period, added up from rows. */
  sums(id: string, { name, periodSeq }: { readonly name: string; readonly periodSeq: number }) {
    return this.#addUp().get(`${id} ${name} ${periodSeq}`) ?? { spent: 0n, held: 0n, overrun: 0n }
  }

  assertBalanced(): void {
    const sums = this.#addUp()
    for (const account of this.accounts.values()) {
      const { id } = account
      for (const budget of this.budgets(id)) {
        assertPeriod(sums, `${id} ${budget.name} ${budget.periodSeq}`, budget)
      }
      const inFlight = [...this.holds.values()].filter(
        ({ keyId, groupId }) => id === FRAME_ID || keyId === id || groupId === id,
      )
      assert.equal(account.inFlight, inFlight.length, `in flight on ${id}`)
      this.#assertPartOfFrame(account)
    }
    for (const [name, period] of this.periods) assertPeriod(sums, name, period)
    // Whatever is left belongs to a period that nobody knows.
    for (const [name, { spent, held }] of sums) assert.ok(spent + held === 0n, `period ${name}`)
    for (const id of this.holds.keys()) assert.ok(!this.usage.has(id), `hold ${id} is closed too`)
    this.#assertRollups()
    this.#assertKeyDays()
  }

  #assertKeyDays(): void {
    const { summedDay, summedKey } = this.account(FRAME_ID)
    const summed = [...this.#dayCosts].filter(([name]) => {
      const [day = '', key = ''] = name.split(' ')
      return Number(day) < summedDay || (Number(day) === summedDay && key <= summedKey)
    })
    for (const [name, cost] of summed) assert.equal(this.#keyDays.get(name), cost, `day ${name}`)
    assert.equal(this.#keyDays.size, summed.length, 'days that are summed up')
  }

  #assertRollups(): void {
    const costs = new Map<string, bigint>()
    for (const { costNanodollars, keyId, groupId } of this.usage.values()) {
      for (const id of [keyId, groupId, FRAME_ID]) {
        if (id !== null) costs.set(id, (costs.get(id) ?? 0n) + costNanodollars)
      }
    }
    for (const id of this.accounts.keys()) {
      for (const span of ['hour', 'day']) {
        const cost = this.rollupCosts.get(`${span} ${id}`) ?? 0n
        assert.equal(cost, costs.get(id) ?? 0n, `rollups by ${span} of ${id}`)
      }
    }
  }

  /** A key with no figure for the frame's current period has spent nothing in it. */
  #assertPartOfFrame({ id, framePeriodSeq, frameSpent }: StoredAccount): void {
    if (!id.startsWith('key_')) return
    const current = this.account(FRAME_ID).periodSeq
    let spent = 0n
    for (const row of this.usage.values())
      if (row.keyId === id && row.framePeriod === current) spent += row.costNanodollars
    assert.equal(framePeriodSeq === current ? frameSpent : 0n, spent, `part of the frame of ${id}`)
  }

  /** By account, budget and period, from the columns of the rows: not by the ledger's own list of legs. */
  #addUp(): Map<string, Sums> {
    const all = new Map<string, Sums>()
    const add = (entry: LegPeriods, amounts: Sums): void => {
      const { keyId, groupId } = entry
      for (const [id, budget, seq] of [
        [keyId, '', entry.keyPeriod],
        [keyId, 'window', entry.keyWindow],
        [keyId, `model:${entry.modelAsked}`, entry.modelCap],
        [groupId, '', entry.groupPeriod],
        [groupId, 'window', entry.groupWindow],
        [FRAME_ID, '', entry.framePeriod],
        [FRAME_ID, 'window', entry.frameWindow],
      ] as const) {
        if (seq === null) continue
        const name = `${id} ${budget} ${seq}`
        const sums = all.get(name) ?? { spent: 0n, held: 0n, overrun: 0n }
        sums.spent += amounts.spent
        sums.held += amounts.held
        sums.overrun += amounts.overrun
        all.set(name, sums)
      }
    }
    for (const hold of this.holds.values()) {
      add(hold, { spent: 0n, held: hold.heldNanodollars, overrun: 0n })
    }
    for (const row of this.usage.values()) {
      const { costNanodollars: spent, heldNanodollars: held } = row
      add(row, { spent, held: 0n, overrun: spent > held ? spent - held : 0n })
    }
    return all
  }

  #snapshot(batch: Batch, skewMs: number): Snapshot {
    const { accountsOf, knownHoldOf } = this.#rules
    const accountIds = accountsOf(batch.items)
    assertLockOrder(accountIds)
    const holdIds = batch.items.flatMap((item) => knownHoldOf(item, batch.isRetry) ?? [])
    return this.read({ now: this.now + skewMs, accountIds, holdIds })
  }

  read({ now, accountIds, holdIds }: Wanted): Snapshot {
    const { unpackWindow } = this.#rules
    const found = <Row>(table: ReadonlyMap<number, Row>): Row[] =>
      [...holdIds].flatMap((id) => table.get(id) ?? [])
    return {
      now,
      accounts: [...accountIds].flatMap((id) => {
        const account = this.accounts.get(id)
        if (account === undefined) return []
        return {
          ...account,
          rateWindow: unpackWindow(account.rateWindow, now),
          budgets: unpackBudgets(account.budgets),
        }
      }),
      holds: found(this.holds),
      usage: found(this.usage),
    }
  }

  /** Returns the version of the rows of accounts that it changed. */
  apply(writes: Writes, { now = this.now, isReplay = false } = {}): string {
    const transaction = ++this.#transactions
    for (const period of writes.closedPeriods) {
      const { accountId, budget, seq } = period
      assert.ok(period.endsAt <= now, `a period of ${accountId} was ended before its time`)
      insert(this.periods, `${accountId} ${budget} ${seq}`, { ...period })
    }
    for (const { accountId, budget, seq, spent, held, overrun } of writes.periodDeltas) {
      if (isReplay) this.#beginRemoved(accountId, budget, seq)
      const period = this.periods.get(`${accountId} ${budget} ${seq}`)
      assert.ok(period, `period ${seq} of ${accountId} ${budget} is in the books`)
      period.spent += spent
      period.held += held
      period.overrun += overrun
      if (isReplay && spent + held > overrun) period.grantedLimit = higher(period)
    }
    for (const hold of writes.holdsInserted) insert(this.holds, hold.id, hold)
    for (const { id, heldNanodollars } of writes.holdsChanged) {
      const hold = this.holds.get(id)
      if (hold !== undefined) this.holds.set(id, { ...hold, heldNanodollars })
    }
    for (const id of writes.holdsDeleted) this.holds.delete(id)
    for (const row of writes.usageInserted) insert(this.usage, row.id, row)
    for (const row of writes.usageCorrected) this.usage.set(row.id, row)
    for (const { span, startsAt, keyId, groupId, cost } of writes.rollups) {
      add(this.rollupCosts, `${span} ${keyId}`, cost)
      if (span === 'day' && keyId.startsWith('key_')) {
        add(this.#dayCosts, `${startsAt} ${keyId} ${groupId}`, cost)
      }
    }
    for (const { startsAt, keyId, groupId, cost } of writes.keyDays) {
      add(this.#keyDays, `${startsAt} ${keyId} ${groupId}`, cost)
    }
    for (const account of writes.accounts) {
      const changed = ACCOUNT_CHANGE.columns.map(({ field }) => [field, account[field]])
      const packed = {
        ...Object.fromEntries(changed),
        rateWindow: this.#rules.packWindow(account.rateWindow),
        budgets: packBudgets(account.budgets),
      }
      this.change(account.id, packed, transaction)
    }
    return String(transaction)
  }

  /** The period of a budget that was removed while it began in memory. */
  #beginRemoved(accountId: string, budget: string, seq: number): void {
    const before = this.periods.get(`${accountId} ${budget} ${seq - 1}`)
    const name = `${accountId} ${budget} ${seq}`
    if (before === undefined || this.periods.has(name)) return
    const { endsAt, limit } = before
    const empty = { spent: 0n, held: 0n, overrun: 0n, grantedLimit: limit }
    this.periods.set(name, { ...before, ...empty, seq, startsAt: endsAt, endsAt })
  }

  #close(accountId: string, budget: FurtherBudget, endsAt: number): void {
    const { name } = budget
    const period = { accountId, budget: name, ...closedBudget(budget, endsAt) }
    insert(this.periods, `${accountId} ${name} ${period.seq}`, period)
  }
}

function higher({ grantedLimit, limit }: Pick<ClosedPeriod, 'grantedLimit' | 'limit'>) {
  if (grantedLimit === null || limit === null) return null
  return limit > grantedLimit ? limit : grantedLimit
}

function fill<Name, Row>(to: Map<Name, Row>, from: ReadonlyMap<Name, Row>): void {
  for (const [name, row] of from) to.set(name, row)
}

type Stated = Pick<Budget, 'spent' | 'held' | 'overrun' | 'grantedLimit'>

/** And takes it off the list of sums. */
function assertPeriod(sums: Map<string, Sums>, name: string, stated: Stated): void {
  const { spent, held, overrun } = sums.get(name) ?? { spent: 0n, held: 0n, overrun: 0n }
  sums.delete(name)
  assert.equal(stated.spent, spent, `spent of ${name}`)
  assert.equal(stated.held, held, `held of ${name}`)
  assert.equal(stated.overrun, overrun, `overrun of ${name}`)
  const limit = stated.grantedLimit
  assert.ok(limit === null || spent + held <= limit + overrun, `limit of ${name} is exceeded`)
}

/** Nodes that lock in different orders wait for each other for ever. */
function assertLockOrder(ids: readonly string[]): void {
  const ranks = ids.map((id) => {
    const kind = id === FRAME_ID ? 2 : id.startsWith('grp_') ? 1 : 0
    return `${kind} ${id}`
  })
  assert.deepEqual(ranks, ranks.toSorted(), 'accounts are locked in another order')
  assert.equal(new Set(ids).size, ids.length, 'an account is locked twice')
  assert.equal(ids.at(-1), FRAME_ID)
}

function add(sums: Map<string, bigint>, name: string, amount: bigint): void {
  sums.set(name, (sums.get(name) ?? 0n) + amount)
}

function insert<Name, Row>(table: Map<Name, Row>, name: Name, row: Row): void {
  assert.ok(!table.has(name), `${String(name)} is there already`)
  table.set(name, row)
}
