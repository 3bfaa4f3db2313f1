// The working copy of the books inside one batch: balances move here, entry by entry, and what moved becomes the
// batch's writes. It keeps the sums right; decide.ts decides which entries are made.
import { AssertionError } from 'node:assert'
import type { Nanodollars } from '../../core/money.ts'
import { periodAt } from '../../core/periods.ts'
import { DAY_MS, HOUR_MS } from '../../core/units.ts'
import { FRAME_ID } from '../../store/database/tables.ts'
import type { HoldId } from '../ledger.ts'
import { closePeriod, limitOf, openPeriod } from './account.ts'
import type { Note, Snapshot, Writes } from './batch.ts'
import type { Legs } from './judge.ts'
import type {
  Account,
  ClosedPeriod,
  Hold,
  LedgerEntry,
  PeriodDelta,
  Rollup,
  RollupSpan,
  UsageRow,
} from './rows.ts'

/** How far an entry moves the balances of the accounts it belongs to. */
type Movement = {
  readonly held: Nanodollars
  readonly spent: Nanodollars
  readonly overrun: Nanodollars
  readonly inFlight: number
}

/** The accounts and periods an entry belongs to: those of its reservation. */
type HoldPeriods = Pick<Hold, 'keyId' | 'keyPeriod' | 'framePeriod'>

type EntryFigures = Pick<LedgerEntry, 'kind' | 'accountId' | 'periodSeq' | 'before' | 'after'>
type EntryNote = { readonly holdId?: HoldId; readonly note: Note }

const SPANS = ['hour', 'day'] as const satisfies readonly RollupSpan[]
const SPAN_MS: Record<RollupSpan, number> = { hour: HOUR_MS, day: DAY_MS }

export class WorkingSet {
  readonly now: number
  readonly holds: Map<HoldId, Hold>
  readonly usage: Map<HoldId, UsageRow>
  readonly #accounts = new Map<string, Account>()
  readonly #changed = new Set<Account>()
  readonly #closedPeriods: ClosedPeriod[] = []
  readonly #periodDeltas = new Map<string, PeriodDelta>()
  readonly #rollups = new Map<string, Rollup>()
  readonly #holdsInserted: Hold[] = []
  readonly #holdsChanged = new Map<HoldId, Nanodollars>()
  readonly #holdsDeleted: HoldId[] = []
  readonly #usageInserted: UsageRow[] = []
  readonly #usageCorrected: UsageRow[] = []
  readonly #entries: LedgerEntry[] = []

  constructor(snapshot: Snapshot) {
    this.now = snapshot.now
    this.holds = new Map(snapshot.holds.map((hold) => [hold.id, hold]))
    this.usage = new Map(snapshot.usage.map((row) => [row.id, row]))
    for (const account of snapshot.accounts) {
      this.#accounts.set(account.id, account)
      const seq = account.periodSeq
      const closed = openPeriod(account, snapshot.now)
      const isAltered = account.periodSeq !== seq || account.rateWindow.isRedated
      if (isAltered) this.#changed.add(account)
      if (closed !== undefined) this.#closedPeriods.push(closed)
    }
  }

  /** Undefined when there is no such key. */
  legs(keyId: string): Legs | undefined {
    const key = this.#accounts.get(keyId)
    return key === undefined ? undefined : { key, frame: this.#account(FRAME_ID) }
  }

  /** Moves balances in the entry's own periods: on the account while a period runs, on the closed period afterwards. */
  move(periods: HoldPeriods, movement: Movement): void {
    const key = this.#account(periods.keyId)
    this.#moveLeg(key, periods.keyPeriod, movement)
    this.#moveLeg(this.#account(FRAME_ID), periods.framePeriod, movement)
    if (movement.spent !== 0n) addToFrameSpent(key, periods.framePeriod, movement.spent)
  }

  /** Records the limits that budget was granted under, as proof that no grant ever exceeded them. */
  grant(periods: HoldPeriods, amount: Nanodollars): void {
    if (amount === 0n) return
    for (const account of [this.#account(periods.keyId), this.#account(FRAME_ID)]) {
      const limit = limitOf(account)
      if (limit === null || account.grantedLimit === null) account.grantedLimit = null
      else if (limit > account.grantedLimit) account.grantedLimit = limit
    }
  }

  insertHold(hold: Hold): void {
    this.holds.set(hold.id, hold)
    this.#holdsInserted.push(hold)
  }

  changeHold(hold: Hold, heldNanodollars: Nanodollars): void {
    this.holds.set(hold.id, { ...hold, heldNanodollars })
    this.#holdsChanged.set(hold.id, heldNanodollars)
  }

  /** Turns a hold into its usage row, exactly once: a second call finds no hold and fails. */
  closeHold(hold: Hold, row: UsageRow): void {
    if (!this.holds.delete(hold.id)) fail(`hold ${hold.id} is closed already`)
    this.#holdsDeleted.push(hold.id)
    this.usage.set(row.id, row)
    this.#usageInserted.push(row)
    this.#roll(row, 1)
  }

  correctUsage(before: UsageRow, after: UsageRow): void {
    this.usage.set(after.id, after)
    this.#usageCorrected.push(after)
    this.#roll(before, -1)
    this.#roll(after, 1)
  }

  countRefused(keyId: string, model: string, count: number): void {
    for (const span of SPANS) {
      this.#rollup(span, this.now, { keyId, model }).refused += count
    }
  }

  /** Adds to what may be spent until the period ends. */
  topUp(accountId: string, amount: Nanodollars, note: Note): boolean {
    const account = this.#accounts.get(accountId)
    if (account === undefined) return false
    const before = account.topUp
    account.topUp += amount
    this.#changed.add(account)
    const { periodSeq } = account
    this.enter({ kind: 'top_up', accountId, periodSeq, before, after: account.topUp, note })
    return true
  }

  /**
   * Starts a new period now; it ends when the old one would have ended, unless a clock that ran ahead had opened that
   * one. The closed period keeps what was spent.
   */
  reset(accountId: string, note: Note): boolean {
    const account = this.#accounts.get(accountId)
    if (account === undefined) return false
    const { spent, periodSeq } = account
    this.#closedPeriods.push(closePeriod(account, this.now))
    account.periodEndsAt = periodAt(account, this.now).endsAt
    this.#changed.add(account)
    this.enter({ kind: 'reset', accountId, periodSeq, before: spent, after: 0n, note })
    return true
  }

  enter(entry: EntryFigures & EntryNote): void {
    const { note, holdId = null, ...rest } = entry
    const { entryId: id, actor, reason, origin = null } = note
    this.#entries.push({ ...rest, id, at: this.now, holdId, actor, reason, origin })
  }

  writes(): Writes {
    for (const account of this.#changed) assertSound(account)
    return {
      accounts: [...this.#changed],
      closedPeriods: this.#closedPeriods,
      periodDeltas: [...this.#periodDeltas.values()],
      holdsInserted: this.#holdsInserted,
      holdsChanged: [...this.#holdsChanged].map(([id, heldNanodollars]) => ({
        id,
        heldNanodollars,
      })),
      holdsDeleted: this.#holdsDeleted,
      usageInserted: this.#usageInserted,
      usageCorrected: this.#usageCorrected,
      rollups: this.#rollupsAndFrame(),
      entries: this.#entries,
    }
  }

  #account(id: string): Account {
    const account = this.#accounts.get(id)
    return account ?? fail(`account ${id} is not in the books`)
  }

  #moveLeg(account: Account, period: number, movement: Movement): void {
    this.#changed.add(account)
    account.inFlight += movement.inFlight
    if (period === account.periodSeq) addTo(account, movement)
    else addTo(this.#periodDelta(account.id, period), movement)
  }

  #periodDelta(accountId: string, seq: number): PeriodDelta {
    const name = `${accountId} ${seq}`
    let delta = this.#periodDeltas.get(name)
    if (delta === undefined) {
      delta = { accountId, seq, spent: 0n, held: 0n, overrun: 0n }
      this.#periodDeltas.set(name, delta)
    }
    return delta
  }

  #roll(row: UsageRow, sign: 1 | -1): void {
    for (const span of SPANS) {
      const rollup = this.#rollup(span, row.at, { keyId: row.keyId, model: row.modelAsked })
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
  }

  /** The frame's rollups are the sums over all keys: a report on all keys reads only those. */
  #rollupsAndFrame(): readonly Rollup[] {
    for (const rollup of [...this.#rollups.values()]) {
      const ofFrame = { keyId: FRAME_ID, model: rollup.model }
      addRollup(this.#rollup(rollup.span, rollup.startsAt, ofFrame), rollup)
    }
    return [...this.#rollups.values()]
  }

  #rollup(span: RollupSpan, at: number, of: { keyId: string; model: string }): Rollup {
    const startsAt = Math.floor(at / SPAN_MS[span]) * SPAN_MS[span]
    const name = `${startsAt} ${span} ${of.keyId} ${of.model}`
    let rollup = this.#rollups.get(name)
    if (rollup === undefined) {
      rollup = emptyRollup(span, startsAt, of)
      this.#rollups.set(name, rollup)
    }
    return rollup
  }
}

/** The key's part of what the frame has spent; of the frame's earlier periods nobody asks for it. */
function addToFrameSpent(key: Account, framePeriod: number, spent: Nanodollars): void {
  if (framePeriod > key.framePeriodSeq) {
    key.framePeriodSeq = framePeriod
    key.frameSpent = 0n
  }
  if (framePeriod === key.framePeriodSeq) key.frameSpent += spent
}

function addTo(
  balance: { held: Nanodollars; spent: Nanodollars; overrun: Nanodollars },
  movement: Movement,
): void {
  balance.held += movement.held
  balance.spent += movement.spent
  balance.overrun += movement.overrun
}

function addRollup(sums: Rollup, rollup: Rollup): void {
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

/** Not "spent + held <= limit": an administrator may lower a limit. The guard is on granting (judge.ts). */
function assertSound(account: Account): void {
  const { id, held, spent, overrun, inFlight } = account
  if (held < 0n) fail(`${id} would hold ${held}`)
  if (spent < 0n) fail(`${id} would have spent ${spent}`)
  if (overrun < 0n) fail(`${id} would have overrun by ${overrun}`)
  if (inFlight < 0) fail(`${id} would have ${inFlight} in flight`)
}

/** A broken invariant. The message is built only on failure: as an argument of `assert` it cost more than the check. */
function fail(message: string): never {
  throw new AssertionError({ message })
}

function emptyRollup(
  span: RollupSpan,
  startsAt: number,
  of: { readonly keyId: string; readonly model: string },
): Rollup {
  return {
    span,
    startsAt,
    // Not `...of`: a spread in the middle of a literal made every later member slow.
    keyId: of.keyId,
    model: of.model,
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
