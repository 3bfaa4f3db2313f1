// Notices when an account reaches a threshold of its budget, refuses calls because of it, a key is about to expire, a
// provider fails or the ledger raises an alarm, and has the alerts recorded and delivered. A request only leaves its
// balances or its refusal behind; everything else happens on a timer, which also finds thresholds reached without one.
import type { Model, Target } from '../../catalog/models.ts'
import { USUAL_THRESHOLDS } from '../../core/limits.ts'
import { sentence } from '../../core/sentences.ts'
import { DAY_MS, HOUR_MS } from '../../core/units.ts'
import type { Balance, Refusable, Shortage } from '../../ledger/ledger.ts'
import type { Health } from '../../routing/breaker.ts'
import {
  claimDelivery,
  dueDeliveries,
  finishDelivery,
  type Delivery,
} from '../../store/alerts/alerts.ts'
import { findDestination, noteAttempt } from '../../store/alerts/destinations.ts'
import { giveAlarms, giveInactive, giveOutages, giveRecoveries } from '../../store/alerts/events.ts'
import type { FailingProvider } from '../../store/alerts/events.ts'
import {
  giveAlerts,
  giveRefused,
  giveReminders,
  ThresholdScan,
  type RefusedCall,
} from '../../store/alerts/give.ts'
import { percentSpent, reached, readAlertRules, type AlertRules } from '../../store/alerts/rules.ts'
import type { Store } from '../../store/database/store.ts'
import { FRAME_ID } from '../../store/database/tables.ts'
import { describeError, redact, type Log } from '../../telemetry/log.ts'
import { failureOf, type AlertSender } from './sender.ts'

const LOOK_EVERY_MS = 2_000
const SECOND_MS = 1_000
/** The wait after each attempt before the next; after the last attempt the delivery has failed. */
const RETRY_MS = [30, 120, 600, 1_800, 3_600, 10_800, 21_600].map((seconds) => seconds * SECOND_MS)
/** Longer than any attempt takes. */
const ATTEMPT_MS_MAX = 60 * SECOND_MS
const REMEMBERED_MAX = 100_000
const NOTICED_AT_ONCE = 500
const ALARM_LENGTH_MAX = 1_000
/** An account that goes on refusing is looked at again after this long: its period or thresholds may have changed. */
const REFUSING_FOR_MS = 600_000

type WatchParts = {
  readonly store: Store
  readonly log: Log
  readonly sender: AlertSender
  /** After how many days without a sign-in somebody counts as inactive; null = never. */
  readonly inactiveDays?: number | null
}

export class AlertWatch {
  readonly #parts: WatchParts
  #timer: NodeJS.Timeout | undefined
  readonly #thresholdScan: ThresholdScan
  /** The newest balance of each account that was charged since the last look, where it is known: for the ledger. */
  readonly settled = new Map<string, Balance | undefined>()
  /** Accounts that have reached a threshold since the last look. */
  readonly #noticed = new Set<string>()
  /** The highest threshold that each account has reached, and the end of the period it was in. */
  readonly #remembered = new Map<
    string,
    { readonly percent: number; readonly resetsAt: number | null }
  >()
  /** The first call that each budget has refused since the last look; `#refusing` = budgets noticed for it lately. */
  readonly #refused = new Set<RefusedCall>()
  readonly #refusing = new Set<string>()
  #refusingUntilMs = 0
  /** When people are looked at again. */
  #inactiveAgainMs = -Infinity
  /** What the ledger has raised an alarm about since the last look. */
  readonly #alarms = new Set<string>()
  #outages: OutageWatch | undefined
  #rules: AlertRules = new Map()
  #looking: Promise<void> | undefined
  /** Whether the last look failed: an outage is logged once. */
  #isDelayed = false
  #isStopped = false

  constructor(parts: WatchParts) {
    this.#parts = parts
    this.#thresholdScan = new ThresholdScan(parts.store)
  }

  /** From now on, looks by itself. */
  start(): void {
    this.#timer = setInterval(() => void this.look(), LOOK_EVERY_MS)
    this.#timer.unref()
  }

  /** For `onRefused` of the ledger. */
  noticeRefused({ keyId, groupId }: Refusable, shortage: Shortage): void {
    // Caps and the cost of one request concern some calls only, whose clients are told.
    if (shortage.scope === 'model' || shortage.scope === 'request') return
    const accountId = { key: keyId, group: groupId ?? keyId, frame: FRAME_ID }[shortage.scope]
    const budget = `${accountId} ${shortage.period}`
    if (this.#refusing.has(budget)) return
    this.#refusing.add(budget)
    this.#refused.add({ accountId, shortage })
  }

  /** For `alarm` of the ledger. */
  noticeAlarm(message: string): void {
    this.#alarms.add(redact(message).slice(0, ALARM_LENGTH_MAX))
  }

  /** From now on, tells when providers fail. */
  watchProviders(source: HealthSource): void {
    this.#outages = new OutageWatch(source)
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    this.#isStopped = true
    await this.#looking
    // If the database cannot record it now, the next process will find it.
    await this.#give().catch(() => {})
  }

  /** Records alerts for what was noticed and delivers what is due. One at a time: an outage must not pile up looks. */
  look(): Promise<void> {
    this.#looking ??= this.#look()
      .then(() => {
        this.#isDelayed = false
      })
      .catch((thrown: unknown) => {
        if (!this.#isDelayed) {
          this.#parts.log.warn('alerts_delayed', { cause: describeError(thrown) })
        }
        this.#isDelayed = true
      })
      .finally(() => {
        this.#looking = undefined
      })
    return this.#looking
  }

  #notice(accountId: string, balance: Balance | undefined): void {
    if (balance === undefined) {
      this.#noticed.add(accountId)
      return
    }
    const { limitNanodollars: limit, spentNanodollars: spent, resetsAt } = balance
    if (limit === null) return
    const thresholds = this.#rules.get(accountId) ?? USUAL_THRESHOLDS
    const percent = reached(thresholds, percentSpent(spent, limit)).at(-1) ?? 0
    const known = this.#remembered.get(accountId)
    const before = known?.resetsAt === resetsAt ? known.percent : 0
    if (percent === before) return
    if (this.#remembered.size >= REMEMBERED_MAX) this.#remembered.clear()
    this.#remembered.set(accountId, { percent, resetsAt })
    // After a reset, a top-up or a higher limit it is lower, and the same threshold can be reached again.
    if (percent > before) this.#noticed.add(accountId)
  }

  async #look(): Promise<void> {
    const { store } = this.#parts
    this.#forgetRefusing(store.clock.monotonicMs())
    this.#rules = await readAlertRules(store)
    for (const id of await this.#thresholdScan.next()) this.#noticed.add(id)
    await this.#give()
    await giveReminders(store)
    await this.#giveOutages()
    await this.#giveInactive(store.clock.monotonicMs())
    const due = await dueDeliveries(store)
    // The next process will find them still due.
    if (this.#isStopped) return
    // In parallel: a destination that does not respond must not delay the others.
    await Promise.all(due.map((delivery) => this.#deliver(delivery)))
  }

  #forgetRefusing(nowMs: number): void {
    if (nowMs < this.#refusingUntilMs) return
    this.#refusing.clear()
    this.#refusingUntilMs = nowMs + REFUSING_FOR_MS
  }

  async #give(): Promise<void> {
    for (const [accountId, balance] of this.settled) this.#notice(accountId, balance)
    this.settled.clear()
    await this.#giveAbout(this.#noticed, giveAlerts)
    await this.#giveAbout(this.#refused, giveRefused)
    await this.#giveAbout(this.#alarms, giveAlarms)
  }

  async #giveInactive(nowMs: number): Promise<void> {
    const { store, inactiveDays = null } = this.#parts
    if (inactiveDays === null || nowMs < this.#inactiveAgainMs) return
    this.#inactiveAgainMs = nowMs + HOUR_MS
    await giveInactive(store, store.clock.now() - inactiveDays * DAY_MS)
  }

  async #giveOutages(): Promise<void> {
    const { store } = this.#parts
    const seen = this.#outages?.look(store.clock.monotonicMs())
    if (seen === undefined) return
    await giveOutages(store, seen.failing)
    await giveRecoveries(store, seen.answering)
  }

  async #giveAbout<Notice>(
    notices: Set<Notice>,
    give: (store: Store, some: readonly Notice[]) => Promise<void>,
  ): Promise<void> {
    const some = [...notices].slice(0, NOTICED_AT_ONCE)
    // Removed first, so that an account that reaches more in the meantime is noticed again.
    for (const notice of some) notices.delete(notice)
    try {
      await give(this.#parts.store, some)
    } catch (thrown) {
      for (const notice of some) notices.add(notice)
      throw thrown
    }
  }

  async #deliver(delivery: Delivery): Promise<void> {
    const { store, sender } = this.#parts
    const retryMs = RETRY_MS[delivery.attempts]
    // If this node dies during the attempt, another one retries as if the attempt had failed.
    const next = store.clock.now() + (retryMs ?? ATTEMPT_MS_MAX)
    if (!(await claimDelivery(store, delivery, next))) return
    try {
      const destination = await findDestination(store, delivery.destinationId)
      if (!destination.enabled) {
        const result = sentence('destination_off')
        return await finishDelivery(store, delivery.id, { state: 'failed', result })
      }
      const result = await sender.send(destination, delivery.alert)
      await finishDelivery(store, delivery.id, { state: 'delivered', result })
      await noteAttempt(store, destination.id, undefined)
    } catch (thrown) {
      const result = failureOf(thrown)
      const state = retryMs === undefined ? 'failed' : 'waiting'
      await finishDelivery(store, delivery.id, { state, result })
      await noteAttempt(store, delivery.destinationId, result)
    }
  }
}

// Providers that have failed calls for a while, as far as this process sees by its breakers, and those that answer. One
// that asks for fewer calls is not out of order.

type Served = { list(): readonly Pick<Model, 'targets' | 'fallbacks'>[] }

/** Where the health of targets is known. */
type HealthSource = {
  readonly catalog: Served
  healthOf(target: Pick<Target, 'provider' | 'model'>): Health
}

/** Longer than a restart at the provider takes; by then a breaker has opened five times. */
const OUT_AFTER_MS = 30_000
/** How often an outage that goes on is told anew, so that no other node takes it for ended. */
const TOLD_EVERY_MS = 10_000

type Seen = {
  readonly failing: readonly FailingProvider[]
  readonly answering: readonly string[]
}

export class OutageWatch {
  readonly #source: HealthSource
  /** Since when a breaker of each provider has been open, and when that was last told. */
  readonly #open = new Map<string, { readonly sinceMs: number; toldMs: number }>()

  constructor(source: HealthSource) {
    this.#source = source
  }

  look(nowMs: number): Seen {
    const failing: FailingProvider[] = []
    const answering: string[] = []
    for (const [provider, targets] of targetsByProvider(this.#source.catalog)) {
      const healths = targets.map((target) => ({ target, health: this.#source.healthOf(target) }))
      const failed = healths.flatMap(({ target, health }) => failingTarget(target, health))
      if (failed.length === 0) {
        this.#open.delete(provider)
        if (healths.some(({ health }) => health.name === 'answering')) answering.push(provider)
        continue
      }
      const resting = failed.find(({ isResting }) => isResting)
      // One that failed once and was not called since says nothing.
      if (resting === undefined) continue
      const { target, reason } = resting
      if (this.#isOut(provider, nowMs)) failing.push({ provider, target, reason })
    }
    return { failing, answering }
  }

  /** Whether it is to be told now. */
  #isOut(provider: string, nowMs: number): boolean {
    const open = this.#open.get(provider) ?? { sinceMs: nowMs, toldMs: -Infinity }
    this.#open.set(provider, open)
    if (nowMs - open.sinceMs < OUT_AFTER_MS || nowMs - open.toldMs < TOLD_EVERY_MS) return false
    open.toldMs = nowMs
    return true
  }
}

function failingTarget({ name }: Target, health: Health) {
  if (health.name !== 'resting' && health.name !== 'failing') return []
  const { reason, refusal } = health.why
  if (reason === 'provider_rate_limited') return []
  return [{ target: name, reason: refusal ?? reason, isResting: health.name === 'resting' }]
}

/** Each target once, however many models it serves. */
function targetsByProvider(catalog: Served): ReadonlyMap<string, readonly Target[]> {
  const targets = catalog.list().flatMap((model) => [...model.targets, ...model.fallbacks])
  const once = new Map(targets.map((target) => [target.name, target]))
  return Map.groupBy(once.values(), ({ provider }) => provider)
}
