// May this ask be granted, and with how much output? The rules of docs/using.md (Budgets, Limits), for one ask
// against the accounts as they stand. Pure: judging changes nothing, so a dry run calls the same function.
import type { WorstCase } from '../../catalog/worst-case.ts'
import {
  PICO_PER_NANO,
  roundUpToNanodollars,
  tighterLimit,
  type Nanodollars,
} from '../../core/money.ts'
import type { Balances, Grant, Shortage } from '../ledger.ts'
import { limitOf, remainingOf } from './account.ts'
import type { Granted, CheckedAsk, Refusal } from './batch.ts'
import { rateExceeded } from './rates.ts'
import type { Account, Hold } from './rows.ts'

/** The accounts that must all have room. Key first: its refusal is the more useful one. */
export type Legs = { readonly key: Account; readonly frame: Account }

type Verdict = Omit<Granted, 'holdId'> | Refusal

type KeyStatusRefusal = Extract<Refusal, { readonly reason: 'key_status' }>

/** A cap that only other requests' holds require must still leave room for a whole answer to most requests. */
const OUTPUT_TOKENS_AMPLE = 4096
/** A request without an output limit may hold one part in this many of the remaining budget for its output. */
const DEFAULT_OUTPUT_SHARE = 8n

/** The API contract fixes the order of checks: the key itself, its rates, its budget, the frame's budget. */
export function judge(ask: CheckedAsk, legs: Legs, now: number): Verdict {
  return (
    judgeStatus(ask, legs.key, now) ?? judgeRates(ask, legs.key, now) ?? judgeBudgets(ask, legs)
  )
}

/** Whether a hold may grow by this much. One whose period is over cannot: that period is closed. */
export function mayExtend(
  hold: Pick<Hold, 'keyPeriod' | 'framePeriod'>,
  { key, frame }: Legs,
  extra: Nanodollars,
): boolean {
  const fits = (account: Account, period: number): boolean => {
    const limit = limitOf(account)
    if (period !== account.periodSeq) return false
    return limit === null || account.spent + account.held + extra <= limit
  }
  return fits(key, hold.keyPeriod) && fits(frame, hold.framePeriod)
}

/** What a request with this output limit can cost at most. */
export function costAtMost(worst: WorstCase, outputTokens: number): Nanodollars {
  return roundUpToNanodollars(
    worst.fixedPicodollars + worst.outputTokenPicodollars * BigInt(outputTokens),
  )
}

/** What a request can cost at most with these balances: its default output limit depends on what is left. */
export function costAtMostWith({ key, frame }: Balances, worst: WorstCase): Nanodollars {
  const left = tighterLimit(key.remainingNanodollars, frame.remainingNanodollars)
  return costAtMost(worst, outputWanted(worst, left))
}

function judgeStatus(ask: CheckedAsk, key: Account, now: number): Refusal | undefined {
  const refused = (status: KeyStatusRefusal['status']): Refusal => ({
    reserved: false,
    reason: 'key_status',
    status,
  })
  if (key.status === 'paused' || key.status === 'revoked') return refused(key.status)
  if (key.status !== 'active') return refused('unknown')
  if (key.expiresAt !== null && key.expiresAt <= now) return refused('expired')
  return key.allowVersion === ask.allowVersion ? undefined : refused('stale')
}

function judgeRates(ask: CheckedAsk, key: Account, now: number): Refusal | undefined {
  const exceeded =
    rateExceeded(key, key.rateWindow, { now, tokens: ask.estimatedTokens }) ??
    (key.concurrency !== null && key.inFlight >= key.concurrency
      ? { limit: 'concurrency' as const, retryAfterSeconds: 1 }
      : undefined)
  return exceeded && { reserved: false, reason: 'rate', ...exceeded }
}

/**
 * Every target is tried by itself: as asked, else with its output lowered where the key allows that. The hold is the
 * dearest of those that fit; what spending keeps out is skipped. The first of the others decides: if only holds in
 * flight keep it out, the request waits for it, and a later target that fits does not take its place until the last try.
 */
function judgeBudgets(ask: CheckedAsk, legs: Legs): Verdict {
  const trials = ask.candidates.map((worst) => tryTarget(ask, worst, legs))
  // A lower count cannot help where everything is spent: nothing that costs anything fits.
  if (!ask.recounted && !trials.every(isWhole) && !isAllSpent(legs)) {
    return { reserved: false, reason: 'recount', isFirstFit: trials.slice(0, 1).every(isWhole) }
  }
  const isReached = ask.isLastTry === true ? isKept : ({ grant }: Trial) => grant !== 'budget'
  const first = trials.find(isReached) ?? trials.find(({ grant }) => grant === 'held')
  if (first === undefined) return refusal('budget', legs, { trials, of: trials.reduce(cheaper) })
  if (!isKept(first)) return refusal('held', legs, { trials, of: first })
  const costs = trials.filter(isKept).map(({ worst, grant }) => {
    return costAtMost(worst, grant.outputTokens)
  })
  return {
    reserved: true,
    amountNanodollars: costs.reduce(dearer),
    outputTokens: first.grant.outputTokens,
    capped: first.grant.capped,
    ...(trials.length > 1 && { grants: trials.map(({ grant }) => grant) }),
  }
}

/** How much of the output that one target is asked for can be paid. */
type Trial = {
  readonly worst: WorstCase
  readonly wanted: number
  /** The output that fits beside the holds in flight. */
  readonly now: number
  readonly grant: Grant
  /** The least output that would do, if spending keeps it out. */
  readonly decisive: number
}

function tryTarget(ask: CheckedAsk, worst: WorstCase, legs: Legs): Trial {
  const wanted = outputWanted(worst, tighterLimit(remainingOf(legs.key), remainingOf(legs.frame)))
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

function isKept(trial: Trial): trial is Trial & { readonly grant: Exclude<Grant, string> } {
  return typeof trial.grant !== 'string'
}

function isWhole(trial: Trial): boolean {
  return isKept(trial) && !trial.grant.capped
}

function dearer(one: Nanodollars, other: Nanodollars): Nanodollars {
  return one > other ? one : other
}

function cheaper(one: Trial, other: Trial): Trial {
  const isLess = costAtMost(other.worst, other.wanted) < costAtMost(one.worst, one.wanted)
  return isLess ? other : one
}

function isAllSpent({ key, frame }: Legs): boolean {
  return [key, frame].some((account) => {
    const limit = limitOf(account)
    return limit !== null && account.spent >= limit
  })
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
  const roomOf = (account: Account): Nanodollars | null => {
    const limit = limitOf(account)
    if (limit === null) return null
    return limit - account.spent - (holds === 'beside holds' ? account.held : 0n)
  }
  const room = tighterLimit(roomOf(legs.key), roomOf(legs.frame))
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

/** Names the first leg that cannot pay for the decisive output, and its figures. */
function refusal(
  reason: 'budget' | 'held',
  legs: Legs,
  { trials, of: trial }: { readonly trials: readonly Trial[]; readonly of: Trial },
): Refusal {
  const { worst, wanted, now } = trial
  const required = costAtMost(worst, wanted)
  const decisive = reason === 'held' ? required : costAtMost(worst, trial.decisive)
  const isShort = (account: Account): boolean => {
    const limit = limitOf(account)
    const held = reason === 'held' ? account.held : 0n
    return limit !== null && account.spent + held + decisive > limit
  }
  const scope = isShort(legs.key) ? 'key' : 'frame'
  const account = legs[scope]
  const shortage: Shortage = {
    candidate: trials.indexOf(trial),
    scope,
    limitNanodollars: limitOf(account) ?? 0n,
    spentNanodollars: account.spent,
    heldNanodollars: account.held,
    requiredNanodollars: required,
    affordableOutputTokens: now >= 1 ? now : null,
    resetsAt: account.periodEndsAt,
  }
  return { reserved: false, reason, shortage }
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
