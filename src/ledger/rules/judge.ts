// May this ask be granted, and with how much output? The rules of docs/using.md (Budgets, Limits), for one ask
// against the accounts as they stand. Pure: judging changes nothing, so a dry run calls the same function.
import { AssertionError } from 'node:assert'
import type { WorstCase } from '../../catalog/worst-case.ts'
import {
  PICO_PER_NANO,
  roundUpToNanodollars,
  tighterLimit,
  type Nanodollars,
} from '../../core/money.ts'
import { limitOf, remainingOf, type Budget } from '../../store/accounts/budgets.ts'
import type { Balances, Grant, Shortage, ShortLeg } from '../ledger.ts'
import { leastRemaining, type Leg } from './account.ts'
import type { Granted, CheckedAsk, Refusal } from './batch.ts'
import { longerWait, rateExceeded } from './rates.ts'
import type { Account, Hold, LegPeriods } from './rows.ts'

/** What a request is judged against: its key, the key's group, and all budgets that must have room, in order (`legsOf`). */
export type Legs = {
  readonly periods: LegPeriods
  readonly key: Account
  readonly group: Account | null
  readonly budgets: readonly OpenLeg[]
}

/** A leg whose period runs. */
export type OpenLeg = Pick<Leg, 'scope'> & { readonly budget: Budget }

export type Verdict = Omit<Granted, 'holdId'> | Refusal

type KeyStatusRefusal = Extract<Refusal, { readonly reason: 'key_status' }>

/** A cap that only other requests' holds require must still leave room for a whole answer to most requests. */
const OUTPUT_TOKENS_AMPLE = 4096
/** A request without an output limit may hold one part in this many of the remaining budget for its output. */
const DEFAULT_OUTPUT_SHARE = 8n

/** The API contract fixes the order of checks: key and group themselves, their rates, then all budgets at once. */
export function judge(ask: CheckedAsk, legs: Legs, now: number): Verdict {
  return judgeStatus(ask, legs, now) ?? judgeRates(ask, legs, now) ?? judgeBudgets(ask, legs)
}

/** Whether a hold may grow by this much. */
export function mayExtend(
  { heldNanodollars }: Pick<Hold, 'heldNanodollars'>,
  legs: Legs,
  extra: Nanodollars,
): boolean {
  const most = requestCostMax(legs)
  if (most !== null && heldNanodollars + extra > most) return false
  return legs.budgets.every(({ budget }) => {
    const limit = limitOf(budget)
    return limit === null || budget.spent + budget.held + extra <= limit
  })
}

/** What a request with this output limit can cost at most. */
export function costAtMost(worst: WorstCase, outputTokens: number): Nanodollars {
  return roundUpToNanodollars(
    worst.fixedPicodollars + worst.outputTokenPicodollars * BigInt(outputTokens),
  )
}

/** What a request to this model can cost at most with these balances: its default output limit depends on what is left. */
export function costAtMostWith(
  { balances, model }: { readonly balances: Balances; readonly model: string },
  worst: WorstCase,
): Nanodollars {
  return costAtMost(worst, outputWanted(worst, leastRemaining(balances, model)))
}

function judgeStatus(ask: CheckedAsk, legs: Legs, now: number): Refusal | undefined {
  const { key, group } = legs
  const refused = (status: KeyStatusRefusal['status']): Refusal => ({
    reserved: false,
    reason: 'key_status',
    status,
  })
  if (key.status === 'paused' || key.status === 'revoked') return refused(key.status)
  if (key.status !== 'active') return refused('unknown')
  if (key.expiresAt !== null && key.expiresAt <= now) return refused('expired')
  if (key.allowVersion !== ask.allowVersion || key.groupId !== ask.groupId) return refused('stale')
  if (key.groupId === null) return undefined
  if (group?.status !== 'active') return refused('archived')
  return group.allowVersion === ask.groupVersion ? undefined : refused('stale')
}

function judgeRates(ask: CheckedAsk, { key, group }: Legs, now: number): Refusal | undefined {
  const ofKey = exceededOf(key, ask, now)
  const ofGroup = group === null ? undefined : exceededOf(group, ask, now)
  const longest = longerWait(ofKey, ofGroup)
  if (longest === undefined) return undefined
  return { reserved: false, reason: 'rate', scope: longest === ofKey ? 'key' : 'group', ...longest }
}

function exceededOf(account: Account, ask: CheckedAsk, now: number) {
  const { rateWindow, concurrency, inFlight } = account
  return (
    rateExceeded(account, rateWindow, { now, tokens: ask.estimatedTokens }) ??
    (concurrency !== null && inFlight >= concurrency
      ? { limit: 'concurrency' as const, retryAfterSeconds: 1 }
      : undefined)
  )
}

/**
 * Every target is tried by itself: as asked, else with its output lowered where the key allows that. The hold is the
 * dearest of those that fit; what spending keeps out is skipped. The first of the others decides: if only holds in
 * flight keep it out, the request waits for it, and a later target that fits does not take its place until the last try.
 */
function judgeBudgets(ask: CheckedAsk, legs: Legs): Verdict {
  const targets = ask.candidates.map((worst) => tryTarget(ask, worst, legs))
  // A lower count cannot help where everything is spent: nothing that costs anything fits.
  if (!ask.recounted && !targets.every(isWhole) && !isAllSpent(legs)) {
    return { reserved: false, reason: 'recount', isFirstFit: targets.slice(0, 1).every(isWhole) }
  }
  const isReached =
    ask.isLastTry === true ? isKept : ({ grant }: JudgedTarget) => grant !== 'budget'
  const first = targets.find(isReached) ?? targets.find(({ grant }) => grant === 'held')
  if (first === undefined) return refusal('budget', legs, { targets, of: targets.reduce(cheaper) })
  if (!isKept(first)) return refusal('held', legs, { targets, of: first })
  const costs = targets.filter(isKept).map(({ worst, grant }) => {
    return costAtMost(worst, grant.outputTokens)
  })
  return {
    reserved: true,
    amountNanodollars: costs.reduce(dearer),
    outputTokens: first.grant.outputTokens,
    capped: first.grant.capped,
    ...(targets.length > 1 && { grants: targets.map(({ grant }) => grant) }),
  }
}

/** How much of the output that one target is asked for can be paid. */
type JudgedTarget = {
  readonly worst: WorstCase
  readonly wanted: number
  /** The output that fits beside the holds in flight. */
  readonly now: number
  readonly grant: Grant
  /** The least output that would do, if it is kept out. */
  readonly decisive: number
}

function tryTarget(ask: CheckedAsk, worst: WorstCase, legs: Legs): JudgedTarget {
  const wanted = outputWanted(worst, remainingOn(legs))
  const now = affordable(worst, legs, 'beside holds')
  // Free calls pass even when a limit was lowered below what is spent.
  if (now >= wanted || costAtMost(worst, wanted) === 0n) {
    const grant = { outputTokens: wanted, capped: false }
    return { worst, wanted, now, grant, decisive: wanted }
  }
  const later = affordable(worst, legs, 'without holds')
  const onlyHolds = later >= wanted
  const canCap = ask.whenTight === 'cap'
  const minimum = onlyHolds
    ? Math.max(OUTPUT_TOKENS_AMPLE, worst.outputTokensMinimum)
    : worst.outputTokensMinimum
  const decisive = canCap ? Math.min(minimum, wanted) : wanted
  if (canCap && now >= minimum) {
    return { worst, wanted, now, grant: { outputTokens: now, capped: true }, decisive }
  }
  // Waiting helps if the answer, or a capped one, would fit once the holds are released.
  const grant = onlyHolds || (canCap && later >= minimum) ? 'held' : 'budget'
  return { worst, wanted, now, grant, decisive }
}

function isKept(
  target: JudgedTarget,
): target is JudgedTarget & { readonly grant: Exclude<Grant, string> } {
  return typeof target.grant !== 'string'
}

function isWhole(target: JudgedTarget): boolean {
  return isKept(target) && !target.grant.capped
}

function dearer(one: Nanodollars, other: Nanodollars): Nanodollars {
  return one > other ? one : other
}

function cheaper(one: JudgedTarget, other: JudgedTarget): JudgedTarget {
  const isLess = costAtMost(other.worst, other.wanted) < costAtMost(one.worst, one.wanted)
  return isLess ? other : one
}

function isAllSpent({ budgets }: Legs): boolean {
  return budgets.some(({ budget }) => {
    const limit = limitOf(budget)
    return limit !== null && budget.spent >= limit
  })
}

/** What the leg with the least has left; null = none has a limit. */
function remainingOn({ budgets }: Legs): Nanodollars | null {
  let least: Nanodollars | null = null
  for (const { budget } of budgets) least = tighterLimit(least, remainingOf(budget))
  return least
}

/** The most that one request may cost, by its key and its group; null = as much as the budgets have. */
function requestCostMax({ key, group }: Legs): Nanodollars | null {
  return tighterLimit(key.requestCostMax, group === null ? null : group.requestCostMax)
}

/** The client's own limit, or a default that leaves others most of the budget `left` (null = no limit). */
function outputWanted(worst: WorstCase, left: Nanodollars | null): number {
  if (worst.outputTokensFrom === 'client' || worst.outputTokenPicodollars === 0n)
    return worst.outputTokens
  if (left === null) return worst.outputTokens
  const share = (left * PICO_PER_NANO) / DEFAULT_OUTPUT_SHARE / worst.outputTokenPicodollars
  return Math.min(worst.outputTokens, Math.max(OUTPUT_TOKENS_AMPLE, Number(share)))
}

/** The output tokens that all legs can pay for after the input: Infinity if free, -1 if not even the input fits. */
function affordable(worst: WorstCase, legs: Legs, holds: 'beside holds' | 'without holds'): number {
  let room = requestCostMax(legs)
  for (const { budget } of legs.budgets) {
    const limit = limitOf(budget)
    if (limit === null) continue
    const left = limit - budget.spent - (holds === 'beside holds' ? budget.held : 0n)
    if (room === null || left < room) room = left
  }
  return room === null ? Infinity : outputFor(worst, room)
}

/** The output tokens that an amount pays for after the input, as above. */
function outputFor(worst: WorstCase, room: Nanodollars): number {
  const forOutput = room * PICO_PER_NANO - worst.fixedPicodollars
  if (forOutput < 0n) return -1
  return worst.outputTokenPicodollars === 0n
    ? Infinity
    : Number(forOutput / worst.outputTokenPicodollars)
}

/**
 * Names the leg that cannot pay for the decisive output, with its figures: of several the one that resets latest,
 * because nothing is let through before that; the others are listed.
 */
function refusal(
  reason: 'budget' | 'held',
  legs: Legs,
  { targets, of: target }: { readonly targets: readonly JudgedTarget[]; readonly of: JudgedTarget },
): Refusal {
  const { worst, wanted, now } = target
  const required = costAtMost(worst, wanted)
  const decisive = costAtMost(worst, target.decisive)
  const [named, ...also] = boundsOf(legs)
    .filter(({ limit, spent, held }) => spent + (reason === 'held' ? held : 0n) + decisive > limit)
    .toSorted(latestFirst)
  if (named === undefined) throw new AssertionError({ message: 'a refusal without a leg' })
  const shortage: Shortage = {
    candidate: targets.indexOf(target),
    scope: named.scope,
    period: named.period,
    limitNanodollars: named.limit,
    spentNanodollars: named.spent,
    heldNanodollars: named.held,
    requiredNanodollars: required,
    affordableOutputTokens: now >= 1 ? now : null,
    resetsAt: named.resetsAt,
    also: also.map(({ scope, period, resetsAt }) => ({ scope, period, resetsAt })),
  }
  return { reserved: false, reason, shortage }
}

type Bound = ShortLeg & {
  readonly limit: Nanodollars
  readonly spent: Nanodollars
  readonly held: Nanodollars
}

/** Everything that limits a request. */
function boundsOf(legs: Legs): readonly Bound[] {
  const bounds: Bound[] = []
  for (const { scope, budget } of legs.budgets) {
    const limit = limitOf(budget)
    const { period, spent, held, periodEndsAt: resetsAt } = budget
    if (limit !== null) bounds.push({ scope, period, resetsAt, limit, spent, held })
  }
  const most = requestCostMax(legs)
  if (most !== null) {
    bounds.push({
      scope: 'request',
      period: null,
      resetsAt: null,
      limit: most,
      spent: 0n,
      held: 0n,
    })
  }
  return bounds
}

/** What never resets is latest; equal ones stay in their order. */
function latestFirst(one: Bound, other: Bound): number {
  const [a, b] = [one.resetsAt ?? Infinity, other.resetsAt ?? Infinity]
  return a === b ? 0 : b - a
}

/**
 * The grants that a hold pays for which is in the books already, for an ask whose answer was lost: nobody has acted on
 * that answer, so any grants within the hold will do.
 */
export function grantsWithin(
  ask: CheckedAsk,
  hold: Pick<Hold, 'heldNanodollars' | 'outputTokens' | 'capped'>,
): readonly Grant[] {
  const { heldNanodollars, outputTokens, capped } = hold
  return ask.candidates.map((worst): Grant => {
    const most = Math.min(outputTokens, worst.outputTokens)
    const paid = outputFor(worst, heldNanodollars)
    if (paid >= most) return { outputTokens: most, capped }
    const isEnough = ask.whenTight === 'cap' && paid >= worst.outputTokensMinimum
    return isEnough ? { outputTokens: paid, capped: true } : 'budget'
  })
}
