// The working copy of the books inside one batch, or several that are written together: balances move here, entry by
// entry, and what moved becomes the writes. It keeps the sums right; decide.ts decides which entries are made. Below it,
// what is kept of one batch for the next.
import { AssertionError } from 'node:assert'
import { isGroupId } from '../../core/ids.ts'
import type { Nanodollars } from '../../core/money.ts'
import { periodAt } from '../../core/periods.ts'
import { DAY_MS, HOUR_MS } from '../../core/units.ts'
import {
  limitOf,
  MAIN,
  type Budget,
  type BudgetName,
  type FurtherBudget,
} from '../../store/accounts/budgets.ts'
import { FRAME_ID } from '../../store/database/tables.ts'
import type { HoldId, Refusable } from '../ledger.ts'
import {
  budgetOf,
  closePeriod,
  furtherBudget,
  isSummedUp,
  legsOf,
  openPeriod,
  type Accounts,
  type Leg,
} from './account.ts'
import type { HoldChanges, Note, Snapshot, Writes } from './batch.ts'
import type { Legs, OpenLeg } from './judge.ts'
import { ageWindow } from './rates.ts'
import type {
  Account,
  ClosedPeriod,
  Hold,
  KeyDay,
  LedgerEntry,
  LegPeriods,
  PeriodDelta,
  Rollup,
  RollupOf,
  RollupSpan,
  RollupSums,
  UsageRow,
} from './rows.ts'

/** How far an entry moves the balances of its legs. */
type Movement = {
  readonly held: Nanodollars
  readonly spent: Nanodollars
  readonly overrun: Nanodollars
  readonly inFlight: number
}

/** The budget of an account that a person changes, and why. */
type Change = {
  readonly keyId: string
  readonly budget: BudgetName
  readonly note: Note
}

type EntryFigures = Pick<
  LedgerEntry,
  'kind' | 'accountId' | 'groupId' | 'budget' | 'periodSeq' | 'before' | 'after'
>
type EntryNote = { readonly holdId?: HoldId; readonly note: Note }

/** Null = there is none. */
export type Limit = Nanodollars | null

const SPAN_MS: Record<RollupSpan, number> = { hour: HOUR_MS, day: DAY_MS }

export class WorkingSet {
  #now: number
  readonly holds: Map<HoldId, Hold>
  readonly usage: Map<HoldId, UsageRow>
  /** Accounts of which a period has begun. */
  readonly opened = new Set<string>()
  readonly #accounts = new Map<string, Account>()
  readonly #changed = new Set<Account>()
  readonly #closedPeriods: ClosedPeriod[] = []
  readonly #periodDeltas = new Map<string, PeriodDelta>()
  /** By account: of each, a batch concerns few. */
  readonly #rollups = new Map<string, Rollup[]>()
  readonly #keyDays = new Map<string, KeyDay>()
  readonly #holdsInserted = new Map<HoldId, Hold>()
  readonly #holdsChanged = new Map<HoldId, Nanodollars>()
  readonly #holdsDeleted: HoldId[] = []
  readonly #usageInserted: UsageRow[] = []
  readonly #usageCorrected: { readonly before: UsageRow; readonly after: UsageRow }[] = []
  readonly #entries: LedgerEntry[] = []

  constructor(snapshot: Snapshot) {
    this.#now = snapshot.now
    this.holds = new Map(snapshot.holds.map((hold) => [hold.id, hold]))
    this.usage = new Map(snapshot.usage.map((row) => [row.id, row]))
    for (const account of snapshot.accounts) this.#accounts.set(account.id, account)
  }

  get now(): number {
    return this.#now
  }

  /** Brings these accounts to a moment: ends the periods that are over by then, and forgets what was admitted long ago. */
  advance(now: number, accountIds: Iterable<string> = this.#accounts.keys()): void {
    this.#now = now
    for (const id of accountIds) {
      const account = this.#accounts.get(id)
      if (account === undefined) continue
      const { isRedated } = account.rateWindow
      account.rateWindow = ageWindow(account.rateWindow, now)
      if (isRedated || account.rateWindow.isRedated) this.#changed.add(account)
      this.#openPeriod(account, account)
      for (const budget of account.budgets) this.#openPeriod(account, budget)
    }
  }

  /**
   * Begins the periods that these name, where the books are still in those before: they began when it was decided, and
   * somebody was just moving their ends.
   */
  begin(periods: LegPeriods): void {
    for (const { accountId, budget: name, seq } of legsOf(periods)) {
      const found = this.#budget(accountId, name)
      while (found !== undefined && found.budget.periodSeq < seq) {
        this.#recordClosed(found.account, closePeriod(found.account, found.budget, this.#now))
      }
    }
  }

  /** Undefined when there is no such key. Its group is null if it is not among the accounts of this batch. */
  accounts(keyId: string): Accounts | undefined {
    const key = this.#accounts.get(keyId)
    if (key === undefined) return undefined
    const group = key.groupId === null ? null : (this.#accounts.get(key.groupId) ?? null)
    return { key, group, frame: this.#account(FRAME_ID) }
  }

  /** What the budgets of these periods have left; undefined when one of the periods is over, or its budget removed. */
  legs(periods: LegPeriods): Legs | undefined {
    const { keyId, groupId } = periods
    const budgets: OpenLeg[] = []
    for (const leg of legsOf(periods)) {
      const budget = this.#running(leg)
      if (budget === undefined) return undefined
      budgets.push({ scope: leg.scope, budget })
    }
    const group = groupId === null ? null : this.#account(groupId)
    return { periods, key: this.#account(keyId), group, budgets }
  }

  /** The accounts that an entry moves. */
  movedBy({ keyId, groupId }: Pick<LegPeriods, 'keyId' | 'groupId'>): readonly Account[] {
    const key = this.#account(keyId)
    const frame = this.#account(FRAME_ID)
    return groupId === null ? [key, frame] : [key, this.#account(groupId), frame]
  }

  /** Moves balances in the entry's own periods: on the account while a period runs, on the closed period afterwards. */
  move(periods: LegPeriods, movement: Movement): void {
    for (const account of this.movedBy(periods)) {
      this.#changed.add(account)
      account.inFlight += movement.inFlight
    }
    for (const leg of legsOf(periods)) addTo(this.#moved(leg), movement)
    if (movement.spent === 0n) return
    addToFrameSpent(this.#account(periods.keyId), periods.framePeriod, movement.spent)
  }

  /** The limits of the legs that these periods name, in their order; null also where a period is over. */
  limitsOf(periods: LegPeriods): readonly Limit[] {
    return legsOf(periods).map((leg) => {
      const budget = this.#running(leg)
      return budget === undefined ? null : limitOf(budget)
    })
  }

  /** Records the limits that budget was granted under, as proof that no grant ever exceeded them. */
  grant(periods: LegPeriods, amount: Nanodollars, limits?: readonly Limit[]): void {
    if (amount === 0n) return
    for (const [index, leg] of legsOf(periods).entries()) {
      const budget = this.#running(leg)
      if (budget === undefined) continue
      const limit = limits === undefined ? limitOf(budget) : (limits[index] ?? null)
      if (limit === null || budget.grantedLimit === null) budget.grantedLimit = null
      else if (limit > budget.grantedLimit) budget.grantedLimit = limit
    }
  }

  insertHold(hold: Hold): void {
    this.holds.set(hold.id, hold)
    this.#holdsInserted.set(hold.id, hold)
  }

  changeHold(hold: Hold, heldNanodollars: Nanodollars): void {
    const changed = { ...hold, heldNanodollars }
    this.holds.set(hold.id, changed)
    if (this.#holdsInserted.has(hold.id)) this.#holdsInserted.set(hold.id, changed)
    else this.#holdsChanged.set(hold.id, heldNanodollars)
  }

  /** Turns a hold into its usage row, exactly once: a second call finds no hold and fails. */
  closeHold(hold: Hold, row: UsageRow): void {
    if (!this.holds.delete(hold.id)) fail(`hold ${hold.id} is closed already`)
    // One that came and went meanwhile never becomes a row.
    if (!this.#holdsInserted.delete(hold.id)) this.#holdsDeleted.push(hold.id)
    this.insertUsage(row)
  }

  insertUsage(row: UsageRow): void {
    this.usage.set(row.id, row)
    this.#usageInserted.push(row)
  }

  correctUsage(before: UsageRow, after: UsageRow): void {
    this.usage.set(after.id, after)
    this.#usageCorrected.push({ before, after })
  }

  countRefused({ keyId, groupId, endpoint, modelAsked }: Refusable, count: number): void {
    const of = { keyId, model: modelAsked, groupId: groupId ?? '', provider: '', endpoint }
    this.#rollup('hour', this.#now, of).refused += count
  }

  /** Adds to what may be spent until the period ends. */
  topUp({ keyId: accountId, budget: name, note }: Change, amount: Nanodollars): boolean {
    const found = this.#budget(accountId, name)
    if (found === undefined) return false
    const { account, budget } = found
    const before = budget.topUp
    budget.topUp += amount
    this.#changed.add(account)
    const { periodSeq, topUp: after } = budget
    const on = { accountId, groupId: groupIdOf(account), budget: name, periodSeq }
    this.enter({ kind: 'top_up', ...on, before, after, note })
    return true
  }

  /**
   * Starts a new period now; it ends when the old one would have ended, unless a clock that ran ahead had opened that
   * one. The closed period keeps what was spent.
   */
  reset({ keyId: accountId, budget: name, note }: Change): boolean {
    const found = this.#budget(accountId, name)
    if (found === undefined) return false
    const { account, budget } = found
    const { spent: before, periodSeq, period } = budget
    const { timezone, weekStart } = account
    this.#closedPeriods.push(closePeriod(account, budget, this.#now))
    budget.periodEndsAt = periodAt({ period, timezone, weekStart }, this.#now).endsAt
    this.#changed.add(account)
    const on = { accountId, groupId: groupIdOf(account), budget: name, periodSeq }
    this.enter({ kind: 'reset', ...on, before, after: 0n, note })
    return true
  }

  enter(entry: EntryFigures & EntryNote): void {
    const { note, holdId = null, ...rest } = entry
    const { entryId: id, actor, reason, origin = null } = note
    this.#entries.push({ ...rest, id, at: this.#now, holdId, actor, reason, origin })
  }

  /** Fails where what was decided would break the books. */
  holdChanges(): HoldChanges {
    for (const account of this.#changed) assertSound(account)
    return {
      holdsInserted: [...this.#holdsInserted.values()],
      holdsChanged: [...this.#holdsChanged].map(([id, heldNanodollars]) => ({
        id,
        heldNanodollars,
      })),
      holdsDeleted: this.#holdsDeleted,
    }
  }

  writes(): Writes {
    for (const row of this.#usageInserted) this.#roll(row, 1)
    for (const { before, after } of this.#usageCorrected) {
      this.#roll(before, -1)
      this.#roll(after, 1)
    }
    return {
      ...this.holdChanges(),
      accounts: [...this.#changed],
      closedPeriods: this.#closedPeriods,
      periodDeltas: [...this.#periodDeltas.values()],
      usageInserted: this.#usageInserted,
      usageCorrected: this.#usageCorrected.map(({ after }) => after),
      rollups: this.#rollupsAndAbove(),
      keyDays: [...this.#keyDays.values()],
      entries: this.#entries,
    }
  }

  #account(id: string): Account {
    const account = this.#accounts.get(id)
    return account ?? fail(`account ${id} is not in the books`)
  }

  #openPeriod(account: Account, budget: Account | FurtherBudget): void {
    const closed = openPeriod(account, budget, this.#now)
    if (closed !== undefined) this.#recordClosed(account, closed)
  }

  #recordClosed(account: Account, closed: ClosedPeriod): void {
    this.#changed.add(account)
    this.opened.add(account.id)
    // Sequence 0 is that of a budget never used: there is no period to record.
    if (closed.seq > 0) this.#closedPeriods.push(closed)
  }

  #budget(accountId: string, name: BudgetName) {
    const account = this.#accounts.get(accountId)
    if (account === undefined) return undefined
    const budget = name === MAIN ? account : furtherBudget(account, name)
    return budget && { account, budget }
  }

  /** What moves with an entry in this period. */
  #moved(leg: Leg): Movable {
    return this.#running(leg) ?? this.#periodDelta(leg)
  }

  /** Undefined when this period of the budget is over, or the budget was removed. */
  #running({ accountId, budget: name, seq }: Leg): Budget | undefined {
    const budget = budgetOf(this.#account(accountId), name)
    return budget?.periodSeq === seq ? budget : undefined
  }

  #periodDelta({ accountId, budget, seq }: Leg): PeriodDelta {
    const name = `${accountId} ${seq} ${budget}`
    let delta = this.#periodDeltas.get(name)
    if (delta === undefined) {
      delta = { accountId, budget, seq, spent: 0n, held: 0n, overrun: 0n }
      this.#periodDeltas.set(name, delta)
    }
    return delta
  }

  #roll(row: UsageRow, sign: 1 | -1): void {
    const of: RollupOf = {
      keyId: row.keyId,
      model: row.modelAsked,
      groupId: row.groupId ?? '',
      provider: row.provider ?? '',
      endpoint: row.endpoint,
    }
    const rollup = this.#rollup('hour', row.at, of)
    rollup.requests += sign
    rollup.failed += row.status >= 400 ? sign : 0
    rollup.estimated += row.estimated ? sign : 0
    rollup.inputTokens += sign * row.inputTokens
    rollup.cachedTokens += sign * row.cachedTokens
    rollup.cacheWriteTokens += sign * row.cacheWriteTokens
    rollup.outputTokens += sign * row.outputTokens
    rollup.reasoningTokens += sign * row.reasoningTokens
    rollup.cost += BigInt(sign) * row.costNanodollars
  }

  /**
   * Days are sums over hours, those of a group and of the frame sums over their keys: a report on all keys reads only the
   * frame's.
   */
  #rollupsAndAbove(): readonly Rollup[] {
    const frame = this.#account(FRAME_ID)
    for (const rollup of [...this.#rollups.values()].flat()) {
      const { groupId, model, provider, endpoint } = rollup
      if (isSummedUp(frame, rollup)) this.#addToKeyDay(rollup)
      this.#addToDay(rollup, rollup)
      for (const keyId of groupId === '' ? [FRAME_ID] : [groupId, FRAME_ID]) {
        const above = { keyId, model, groupId: '', provider, endpoint }
        addRollup(this.#rollup('hour', rollup.startsAt, above), rollup)
        this.#addToDay(above, rollup)
      }
    }
    return [...this.#rollups.values()].flat()
  }

  #addToDay(of: RollupOf, hour: Rollup): void {
    addRollup(this.#rollup('day', hour.startsAt, of), hour)
  }

  #addToKeyDay(hour: Rollup): void {
    const { keyId, groupId } = hour
    const startsAt = Math.floor(hour.startsAt / DAY_MS) * DAY_MS
    const name = `${startsAt} ${keyId} ${groupId}`
    let day = this.#keyDays.get(name)
    if (day === undefined) {
      day = emptyRollup('day', startsAt, { keyId, groupId, model: '', provider: '', endpoint: '' })
      this.#keyDays.set(name, day)
    }
    addRollup(day, hour)
  }

  /** Found by comparing: names for them, put together from all that tells them apart, took longer. */
  #rollup(span: RollupSpan, at: number, of: RollupOf): Rollup {
    const startsAt = at - (at % SPAN_MS[span])
    let rollups = this.#rollups.get(of.keyId)
    if (rollups === undefined) this.#rollups.set(of.keyId, (rollups = []))
    for (const known of rollups) {
      if (known.startsAt === startsAt && known.span === span && isOf(known, of)) return known
    }
    const rollup = emptyRollup(span, startsAt, of)
    rollups.push(rollup)
    return rollup
  }
}

function isOf(rollup: Rollup, { model, groupId, provider, endpoint }: RollupOf): boolean {
  return (
    model === rollup.model &&
    groupId === rollup.groupId &&
    provider === rollup.provider &&
    endpoint === rollup.endpoint
  )
}

/** The key's part of what the frame has spent; of the frame's earlier periods nobody asks for it. */
function addToFrameSpent(key: Account, framePeriod: number, spent: Nanodollars): void {
  if (framePeriod > key.framePeriodSeq) {
    key.framePeriodSeq = framePeriod
    key.frameSpent = 0n
  }
  if (framePeriod === key.framePeriodSeq) key.frameSpent += spent
}

type Movable = { held: Nanodollars; spent: Nanodollars; overrun: Nanodollars }

function addTo(balance: Movable, movement: Movement): void {
  balance.held += movement.held
  balance.spent += movement.spent
  balance.overrun += movement.overrun
}

function addRollup(sums: RollupSums, rollup: RollupSums): void {
  sums.requests += rollup.requests
  sums.failed += rollup.failed
  sums.refused += rollup.refused
  sums.estimated += rollup.estimated
  sums.inputTokens += rollup.inputTokens
  sums.cachedTokens += rollup.cachedTokens
  sums.cacheWriteTokens += rollup.cacheWriteTokens
  sums.outputTokens += rollup.outputTokens
  sums.reasoningTokens += rollup.reasoningTokens
  sums.cost += rollup.cost
}

/** The group that an account belongs to: its own, or itself. */
function groupIdOf({ id, groupId }: Account): string | null {
  return isGroupId(id) ? id : groupId
}

/** Not "spent + held <= limit": an administrator may lower a limit. The guard is on granting (judge.ts). */
function assertSound(account: Account): void {
  const { id, inFlight } = account
  if (inFlight < 0) fail(`${id} would have ${inFlight} in flight`)
  assertStorable(id, account)
  for (const budget of account.budgets) assertStorable(`${id}, ${budget.name},`, budget)
}

/** Neither database takes more: what was decided in memory must not fail when it is written. */
const AMOUNT_MAX = 2n ** 63n - 1n

function assertStorable(name: string, { held, spent, overrun }: Movable): void {
  if (held > AMOUNT_MAX) fail(`${name} would hold ${held}`)
  if (spent > AMOUNT_MAX) fail(`${name} would have spent ${spent}`)
  if (held < 0n) fail(`${name} would hold ${held}`)
  if (spent < 0n) fail(`${name} would have spent ${spent}`)
  if (overrun < 0n) fail(`${name} would have overrun by ${overrun}`)
}

/** A broken invariant. The message is built only on failure: as an argument of `assert` it cost more than the check. */
function fail(message: string): never {
  throw new AssertionError({ message })
}

function emptyRollup(span: RollupSpan, startsAt: number, of: RollupOf): Rollup {
  return {
    span,
    startsAt,
    // Not `...of`: a spread in the middle of a literal made every later member slow.
    keyId: of.keyId,
    model: of.model,
    groupId: of.groupId,
    provider: of.provider,
    endpoint: of.endpoint,
    requests: 0,
    failed: 0,
    refused: 0,
    estimated: 0,
    inputTokens: 0,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    outputTokens: 0,
    reasoningTokens: 0,
    cost: 0n,
  }
}

/** Enough for the keys that are busy at the same time. */
const ACCOUNTS_MAX = 10_000

/**
 * Accounts and open holds of recent batches, which need not be read again: on SQLite of the serving thread, which decides
 * with them, and of the database's thread, which writes them; on PostgreSQL of a connection. Worthless once anyone else
 * has written, and then dropped as a whole.
 */
export class BatchCache {
  readonly holds = new Map<HoldId, Hold>()
  /** As they stand now; a decision changes them in place. */
  readonly accounts = new Map<string, Account>()
  /** The node of the last batch, known to be live still. */
  liveNode: number | undefined

  forget(): void {
    this.holds.clear()
    this.accounts.clear()
    this.liveNode = undefined
  }

  get isFull(): boolean {
    return this.accounts.size > ACCOUNTS_MAX
  }

  /** Keeps what a batch read and decided. If that is then not committed, everything must be forgotten. */
  remember(accounts: readonly Account[], changes: HoldChanges): void {
    if (this.isFull) this.accounts.clear()
    for (const account of accounts) this.accounts.set(account.id, account)
    this.rememberHolds(changes)
  }

  rememberHolds(changes: HoldChanges): void {
    for (const hold of changes.holdsInserted) this.holds.set(hold.id, hold)
    for (const { id, heldNanodollars } of changes.holdsChanged) {
      const hold = this.holds.get(id)
      if (hold !== undefined) this.holds.set(id, { ...hold, heldNanodollars })
    }
    for (const id of changes.holdsDeleted) this.holds.delete(id)
  }
}
