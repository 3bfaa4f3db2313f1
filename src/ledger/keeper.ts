// A node's background duties: beating, watching the other nodes, charging what dead ones held, ending its own
// forgotten holds, deleting old usage rows, and checking that the open books balance. Each round does what it can; when
// the database does not answer, the rest is left to the next round.
import { databaseNow } from '../store/database-now.ts'
import type { Store } from '../store/open.ts'
import { answerWithin } from '../store/outlast.ts'
import type { BookLedger } from './book-ledger.ts'
import type { Item } from './books.ts'
import type { HoldId } from './ledger.ts'
import type { HeldBy } from './nodes.ts'
import {
  holdsOfDeadNodes,
  beat,
  fence,
  hasHolds,
  holdsOfNode,
  leaveNodes,
  nodesOfDeadProcesses,
} from './nodes.ts'
import { Patrol } from './patrol.ts'
import { purgeUsage } from './retention.ts'
import { Rounds } from './rounds.ts'
import { verifyOpenBooks } from './verify.ts'
import { Watch } from './watch.ts'
import type { Writer } from './writer.ts'

type KeeperOptions = {
  readonly store: Store
  readonly writer: Writer
  readonly ledger: BookLedger
  readonly beatMs: number
  readonly deadAfterMs: number
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
const PURGE_PAGES_MAX = 20

export class Keeper {
  readonly #options: KeeperOptions
  readonly #watch: Watch
  readonly #patrol: Patrol
  /** Apart from the other duties: a node must not seem dead because one of those waits for a lock. */
  readonly #beats: Rounds
  readonly #duties: Rounds
  #sweptAt: number
  #timer: NodeJS.Timeout | undefined
  #isBeating = true
  /** Holds of this node that no request owned at the last sweep. */
  #suspects: ReadonlySet<HoldId> = new Set()

  constructor(options: KeeperOptions) {
    this.#options = options
    this.#watch = new Watch(options.deadAfterMs)
    this.#patrol = new Patrol(options.store)
    const alarm = (error: unknown): void =>
      options.alarm(`this node cannot do its work: ${String(error)}`)
    this.#beats = new Rounds(() => this.#watchNodes(), alarm)
    this.#duties = new Rounds(() => this.#doDuties(), alarm)
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
    const dead = this.#watch.look(this.#options.store.clock.monotonicMs(), beats)
    for (const nodeId of dead) await this.#fence(nodeId)
  }

  async #doDuties(): Promise<void> {
    // The beat reports why the database cannot be used.
    if (!this.#isBeating) return
    const { store, ledger } = this.#options
    await this.#chargeOrphans()
    await ledger.flushRefused()
    if (store.clock.monotonicMs() - this.#sweptAt < this.#options.sweepMs) return
    this.#sweptAt = store.clock.monotonicMs()
    await this.#sweep()
    await this.#purge()
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
    // A node that another one was faster to fence has been reported by that one.
    if (!(await fence(store, nodeId))) return
    const fate = (await hasHolds(store, nodeId))
      ? 'what it held is charged as orphaned'
      : 'it held nothing'
    alarm(`node ${nodeId} has stopped: ${fate}`)
  }

  async #chargeOrphans(): Promise<void> {
    for (;;) {
      const holds = await holdsOfDeadNodes(this.#options.store, ORPHANS_PER_ROUND_MAX)
      await this.#submit(holds, (hold) => ({ kind: 'orphan', ...hold }))
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
  async #chargeLost(holds: readonly HeldBy[]): Promise<void> {
    if (holds.length === 0) return
    await this.#submit(holds, (hold) => ({ kind: 'orphan', ...hold }))
    const fate =
      holds.length === 1 ? '1 call ended: it is' : `${holds.length} calls ended: they are`
    this.#options.alarm(`the database has lost how ${fate} charged in full as orphaned`)
  }

  /** A few pages per round, so that shortening retention does not make requests wait. */
  async #purge(): Promise<void> {
    const { store, keepUsageMs } = this.#options
    const olderThan = (await databaseNow(store)) - keepUsageMs
    for (let page = 0; page < PURGE_PAGES_MAX; page++) {
      if (!(await purgeUsage(store, olderThan))) return
    }
  }

  async #submit(holds: readonly HeldBy[], item: (hold: HeldBy) => Item): Promise<void> {
    const { writer } = this.#options
    await Promise.all(
      holds.map((hold) => writer.submit({ item: item(hold), timeoutMs: ITEM_MS_MAX })),
    )
  }

  async #verify(): Promise<void> {
    const open = await verifyOpenBooks(this.#options.store)
    const walked = await this.#patrol.look()
    for (const { check, account, expected, found } of [...open, ...walked]) {
      this.#options.alarm(
        `the books do not balance: ${check} of ${account} is ${found} and should be ${expected}; run \`tollgate ledger verify\``,
      )
    }
  }
}
