// A node's background duties: beating, watching the other nodes, charging what dead ones held, ending its own forgotten
// holds, deleting old usage rows, summing up days, and checking that the open books balance. Each round does what it can;
// when the database does not answer, the rest is left to the next round.
import { messageOf } from '../../core/errors.ts'
import { firstIdAt } from '../../core/ids.ts'
import { iso } from '../../core/units.ts'
import { answerWithin, isOutage } from '../../store/database/outage.ts'
import { databaseNow } from '../../store/database/store.ts'
import type { Store } from '../../store/database/store.ts'
import type { Row, Tx } from '../../store/database/tables.ts'
import type { HoldId } from '../ledger.ts'
import { sumUpKeyDays } from '../reports/rollups.ts'
import { Auditor, type PeriodAhead, verifyOpenAccounts } from '../reports/verify.ts'
import type { OnHold } from '../rules/batch.ts'
import { legsOf, type Leg } from '../rules/account.ts'
import { overrunOf } from '../rules/decide.ts'
import { type UsageRow, USAGE } from '../rules/rows.ts'
import type { DatabaseLedger } from '../writer/database-ledger.ts'
import type { Writer } from '../writer/writer.ts'
import { FailureDetector } from './failure-detector.ts'
import {
  beat,
  fence,
  holdsOfDeadNodes,
  holdsOfNode,
  leaveNodes,
  nodesOfDeadProcesses,
} from './membership.ts'

export type MaintenanceOptions = {
  readonly store: Store
  readonly writer: Writer
  readonly ledger: DatabaseLedger
  readonly beatMs: number
  /** How long a node must be seen silent before its holds are charged. */
  readonly deadAfterMs: number
  /** How often the node looks for its own forgotten holds. */
  readonly sweepMs: number
  /** How long usage rows are kept; their sums stay for good. */
  readonly keepUsageMs: number
  /** Reports what an operator should know: a node taken for dead, books that do not balance. */
  readonly alarm: (message: string) => void
}

const ORPHANS_PER_ROUND_MAX = 500
const ITEM_MS_MAX = 5000
/** A beat on a connection whose server is gone must not delay the next ones until this node seems dead. */
const BEAT_MS_MAX = 4000
/** A few pages per round, so that requests do not wait. */
const PAGES_MAX = 20

export class Maintenance {
  readonly #options: MaintenanceOptions
  readonly #detector: FailureDetector
  readonly #auditor: Auditor
  /** Apart from the other duties: a node must not seem dead because one of those waits for a lock. */
  readonly #beats: Repeat
  readonly #duties: Repeat
  #sweptAt: number
  #timer: NodeJS.Timeout | undefined
  #isBeating = true
  /** Holds of this node that no request owned at the last sweep. */
  #suspects: ReadonlySet<HoldId> = new Set()
  /** Accounts whose period begins in the future, and which were reported. */
  readonly #ahead = new Set<string>()

  constructor(options: MaintenanceOptions) {
    this.#options = options
    this.#detector = new FailureDetector(options.deadAfterMs)
    this.#auditor = new Auditor(options.store)
    const alarm = (error: unknown): void => {
      // What fails the beats fails the other duties too, and is reported once.
      const others = [this.#beats.failure, this.#duties.failure].filter((other) => other)
      if (others.some((other) => isSame(error, other?.error))) return
      options.alarm(`this node cannot do its work: ${String(error)}`)
    }
    this.#beats = new Repeat(() => this.#watchNodes(), alarm)
    this.#duties = new Repeat(() => this.#doDuties(), alarm)
    this.#sweptAt = options.store.clock.monotonicMs()
  }

  /** Whether the database took the last beat. */
  get isBeating(): boolean {
    return this.#isBeating
  }

  /** Charges what dead processes of this machine held, then continues in the background. */
  async start(): Promise<void> {
    const { store, beatMs } = this.#options
    for (const nodeId of await nodesOfDeadProcesses(store)) await this.#fence(nodeId)
    await this.#chargeOrphans()
    this.#timer = setInterval(() => {
      this.#beats.begin()
      this.#duties.begin()
    }, beatMs)
    this.#timer.unref()
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#beats.finish()
    await this.#duties.finish()
  }

  /** Ignores errors: a node that fails to leave is taken for dead later, which has the same effect. */
  async leave(): Promise<void> {
    await leaveNodes(this.#options.store, this.#options.writer.nodeId).catch(() => {})
  }

  async #watchNodes(): Promise<void> {
    const beats = await this.#beat()
    const dead = this.#detector.look(this.#options.store.clock.monotonicMs(), beats)
    for (const nodeId of dead) await this.#fence(nodeId)
  }

  async #doDuties(): Promise<void> {
    // The beat reports why the database cannot be used.
    if (!this.#isBeating) return
    const { store, ledger } = this.#options
    await this.#chargeOrphans()
    await ledger.flushCounts()
    if (store.clock.monotonicMs() - this.#sweptAt < this.#options.sweepMs) return
    this.#sweptAt = store.clock.monotonicMs()
    await this.#sweep()
    await this.#purge()
    await this.#sumUp()
    await this.#verify()
  }

  async #beat(): ReturnType<typeof beat> {
    const { store, writer } = this.#options
    try {
      const beats = await answerWithin(BEAT_MS_MAX, beat(store, writer.nodeId))
      this.#isBeating = true
      return beats
    } catch (error) {
      this.#isBeating = false
      throw error
    }
  }

  async #fence(nodeId: number): Promise<void> {
    const { store, alarm } = this.#options
    // A node that another one was faster to fence has been reported by that one. What is charged is reported then.
    if (await fence(store, nodeId)) alarm(`node ${nodeId} has stopped`)
  }

  async #chargeOrphans(): Promise<void> {
    for (;;) {
      const holds = await holdsOfDeadNodes(this.#options.store, ORPHANS_PER_ROUND_MAX)
      const charged = await this.#chargeInFull(holds)
      if (charged > 0) {
        const calls = charged === 1 ? '1 call' : `${charged} calls`
        this.#options.alarm(
          `${calls} of nodes that have stopped: charged in full as orphaned (\`tollgate ledger orphans\`)`,
        )
      }
      if (holds.length < ORPHANS_PER_ROUND_MAX) return
    }
  }

  /** Charges holds of this node that no request owns. */
  async #sweep(): Promise<void> {
    const { store, writer, ledger } = this.#options
    const reservedBefore = (await databaseNow(store)) - this.#options.sweepMs
    const holds = await holdsOfNode(store, writer.nodeId, reservedBefore)
    const unknown = holds.filter(({ holdId }) => !ledger.owns(holdId))
    // Seen twice, because a hold is in the books a moment before its owner knows, and the database's clock may jump.
    const forgotten = unknown.filter(({ holdId }) => this.#suspects.has(holdId))
    this.#suspects = new Set(unknown.map(({ holdId }) => holdId))
    await this.#chargeLost(forgotten)
  }

  /**
   * Their settlements or voids were committed once, but the database now in use, such as a replica, does not have them;
   * or it refused their voids.
   */
  async #chargeLost(holds: readonly OnHold[]): Promise<void> {
    const charged = await this.#chargeInFull(holds)
    if (charged === 0) return
    const fate = charged === 1 ? '1 call ended: it is' : `${charged} calls ended: they are`
    this.#options.alarm(`the database has lost how ${fate} charged in full as orphaned`)
  }

  async #purge(): Promise<void> {
    const { store, keepUsageMs } = this.#options
    const olderThan = (await databaseNow(store)) - keepUsageMs
    for (let page = 0; page < PAGES_MAX; page++) {
      if (!(await purgeUsage(store, olderThan))) return
    }
  }

  async #sumUp(): Promise<void> {
    const { store } = this.#options
    const now = await databaseNow(store)
    for (let page = 0; page < PAGES_MAX; page++) if (!(await sumUpKeyDays(store, now))) return
  }

  /** Returns how many were charged: some may have been settled meanwhile, or charged by another node. */
  async #chargeInFull(holds: readonly OnHold[]): Promise<number> {
    const { writer } = this.#options
    const charges = holds.map((hold) =>
      writer.submit({ item: { kind: 'orphan', ...hold }, timeoutMs: ITEM_MS_MAX }),
    )
    const all = await Promise.all(charges)
    return all.filter(({ outcome }) => outcome.kind === 'changed' && outcome.done).length
  }

  async #verify(): Promise<void> {
    const open = await verifyOpenAccounts(this.#options.store)
    const { violations, ahead } = await this.#auditor.look()
    this.#reportAhead(ahead)
    for (const { check, account, expected, found } of [...open, ...violations]) {
      this.#options.alarm(
        `the books do not balance: ${check} of ${account} is ${found} and should be ${expected}; run \`tollgate ledger verify\``,
      )
    }
  }

  /** Each account once, because there may be many, and only an operator can say whether the clock is right now. */
  #reportAhead(ahead: readonly PeriodAhead[]): void {
    const fresh = ahead.filter(({ account }) => !this.#ahead.has(account))
    const [first] = fresh
    if (first === undefined) return
    for (const { account } of fresh) this.#ahead.add(account)
    const others = fresh.length === 1 ? '' : `, and of ${fresh.length - 1} more alike`
    this.#options.alarm(
      `a clock ran ahead: the period of ${first.account} begins at ${iso(first.startsAt)} and keeps its budget until ${iso(first.endsAt)}${others}; \`tollgate ledger verify\` says how to mend it`,
    )
  }
}

function isSame(error: unknown, other: unknown): boolean {
  return (isOutage(error) && isOutage(other)) || messageOf(error) === messageOf(other)
}

/**
 * Work that falls due again and again. A round that falls due while another runs is left out, so that a slow database
 * piles up none.
 */
class Repeat {
  readonly #work: () => Promise<void>
  /** Called when a round fails and the one before it did not: an outage is reported once. */
  readonly #onFailing: (error: unknown) => void
  #running: Promise<void> | undefined
  #failure: { readonly error: unknown } | undefined

  constructor(work: () => Promise<void>, onFailing: (error: unknown) => void) {
    this.#work = work
    this.#onFailing = onFailing
  }

  begin(): void {
    this.#running ??= this.#go().finally(() => {
      this.#running = undefined
    })
  }

  /** Why the last round failed; undefined when it did not. */
  get failure(): { readonly error: unknown } | undefined {
    return this.#failure
  }

  /** Returns when no round runs. */
  async finish(): Promise<void> {
    await this.#running
  }

  async #go(): Promise<void> {
    try {
      await this.#work()
      this.#failure = undefined
    } catch (error) {
      if (this.#failure === undefined) this.#onFailing(error)
      this.#failure = { error }
    }
  }
}

const ROWS_MAX = 500

/**
 * Deletes a page of usage rows older than the configured retention. Their cost stays: in the rollups, and as one sum per
 * account and period, so that the books still add up. True when there may be more to delete.
 */
export function purgeUsage(store: Store, olderThan: number): Promise<boolean> {
  return store.db.transaction().execute(async (tx) => {
    const rows = await deleteRows(tx, olderThan)
    if (rows.length > 0) await addSums(tx, sumsOf(rows))
    return rows.length === ROWS_MAX
  })
}

async function deleteRows(tx: Tx, olderThan: number): Promise<readonly UsageRow[]> {
  const rows = await tx
    .deleteFrom('usage')
    .where('id', 'in', (query) =>
      query
        .selectFrom('usage')
        .select('id')
        .where('request_id', '<', firstIdAt('req', olderThan))
        .orderBy('request_id')
        .limit(ROWS_MAX),
    )
    .returningAll()
    .execute()
  return rows.map((row) => USAGE.read(row, 0))
}

type PurgedSum = Row<'purged_usage'>

/** By leg, in the same order on every node, so that two cannot deadlock. */
function sumsOf(rows: readonly UsageRow[]): readonly PurgedSum[] {
  const sums = new Map<string, PurgedSum>()
  for (const row of rows) for (const leg of legsOf(row)) count(sums, leg, row)
  return [...sums.values()].toSorted(byLeg)
}

function count(sums: Map<string, PurgedSum>, leg: Leg, row: UsageRow): void {
  const { costNanodollars: cost, heldNanodollars: held } = row
  const { accountId: account_id, budget, seq: period_seq } = leg
  const name = `${account_id} ${period_seq} ${budget}`
  const sum = sums.get(name) ?? {
    account_id,
    budget,
    period_seq,
    requests: 0,
    cost_nanodollars: 0n,
    overrun_nanodollars: 0n,
  }
  sum.requests += 1
  sum.cost_nanodollars += cost
  sum.overrun_nanodollars += overrunOf(cost, held)
  sums.set(name, sum)
}

function byLeg(one: PurgedSum, other: PurgedSum): number {
  if (one.account_id !== other.account_id) return one.account_id < other.account_id ? -1 : 1
  if (one.budget !== other.budget) return one.budget < other.budget ? -1 : 1
  return one.period_seq - other.period_seq
}

async function addSums(tx: Tx, sums: readonly PurgedSum[]): Promise<void> {
  await tx
    .insertInto('purged_usage')
    .values(sums)
    .onConflict((conflict) =>
      conflict.columns(['account_id', 'budget', 'period_seq']).doUpdateSet((column) => ({
        requests: column('purged_usage.requests', '+', column.ref('excluded.requests')),
        cost_nanodollars: column(
          'purged_usage.cost_nanodollars',
          '+',
          column.ref('excluded.cost_nanodollars'),
        ),
        overrun_nanodollars: column(
          'purged_usage.overrun_nanodollars',
          '+',
          column.ref('excluded.overrun_nanodollars'),
        ),
      })),
    )
    .execute()
}
