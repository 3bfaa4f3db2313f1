// Notices providers that have failed calls for a while, as far as this process sees by its breakers, and those that answer.
// One that asks for fewer calls is not out of order.
import type { Model, Target } from '../../catalog/models.ts'
import type { Health } from '../../routing/breaker.ts'
import type { FailingProvider } from '../../store/alerts/events.ts'

type Served = { list(): readonly Pick<Model, 'targets' | 'fallbacks'>[] }

/** Where the health of targets is known. */
export type HealthSource = {
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
      const failed = healths.flatMap(({ target, health }) => failureOf(target, health))
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

function failureOf({ name }: Target, health: Health) {
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
