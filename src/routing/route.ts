// Where a request may go, in order. Traffic splits by weight and a conversation stays on one target, because both follow
// from one number: each target's lot for this conversation, drawn by hashing (weighted rendezvous). Targets in trouble
// come last.
import { createHash } from 'node:crypto'
import type { Target } from '../catalog/models.ts'
import { SENTENCES } from '../core/sentences.ts'
import type { Provider } from '../providers/upstream/provider.ts'
import type { Breaker, RetryBudget } from './breaker.ts'

/** A way to have a request answered: a target of its model, the provider behind that, and how it has been doing. */
export type Route = {
  readonly target: Target
  readonly provider: Provider
  /** A fallback may write less than the model whose place it takes, and lack some of its abilities. */
  readonly isFallback: boolean
  /** Why it stands where it does among the routes, for later explanation. */
  readonly why: string
  /** Absent where failures are simulated, as in the sandbox. */
  readonly breaker?: Breaker
}

/** The routes of one request in order, and how often requests for its model may be sent again. */
export type Routing = { readonly routes: readonly Route[]; readonly retries: RetryBudget }

/** Requests with the same affinity go the same way. Read only if there is more than one target. */
export type Routed = { readonly affinity: string }

type Ordered = Pick<Route, 'target' | 'isFallback' | 'why' | 'breaker'>

/** `routes`: all of one model, the fallbacks last, in the order of the configuration. */
export function inOrder<Each extends Ordered>(
  routes: readonly Each[],
  request: Routed,
): readonly Each[] {
  const ordered = routes.filter(isTarget).length < 2 ? routes : byLot(routes, request.affinity)
  return ordered.some(isUnstable) ? unstableLast(ordered) : ordered
}

function byLot<Each extends Ordered>(routes: readonly Each[], affinity: string): readonly Each[] {
  const drawn = routes
    .filter(isTarget)
    .map((route) => ({ route, lot: lotOf(route.target, affinity) }))
    .sort((one, other) => one.lot - other.lot)
    .map(({ route }) => route)
  return [...drawn, ...routes.filter(({ isFallback }) => isFallback)]
}

/** Exponentially distributed with the weight as its rate: targets draw the smallest lot in proportion to weight. */
function lotOf(target: Target, affinity: string): number {
  const digest = createHash('sha256').update(`${target.name}\0${affinity}`).digest()
  const fraction = (digest.readUInt32BE(0) + 1) / 2 ** 32
  return -Math.log(fraction) / target.weight
}

function unstableLast<Each extends Ordered>(routes: readonly Each[]): readonly Each[] {
  const stable = routes.filter((route) => !isUnstable(route))
  return [
    ...stable.map((each) => ({
      ...each,
      why: `${each.why}; ${SENTENCES.target_while_others_fail}`,
    })),
    ...routes.filter(isUnstable),
  ]
}

function isTarget({ isFallback }: Ordered): boolean {
  return !isFallback
}

function isUnstable({ breaker }: Ordered): boolean {
  return breaker?.isUnstable() === true
}
