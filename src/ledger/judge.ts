// May this ask be granted, and with how much output? The rules of docs/using.md (Budgets, Limits), for one ask
// against the accounts as they stand. Pure: judging changes nothing, so a dry run calls the same function.
import type { WorstCase } from '../catalog/tokens.ts'
import {
  PICO_PER_NANO,
  roundUpToNanodollars,
  tighterLimit,
  type Nanodollars,
} from '../core/money.ts'
import { limitOf, remainingOf } from './account.ts'
import type { Account, PlainAsk, Refusal } from './books.ts'
import type { Balances, Shortage } from './ledger.ts'
import { rateExceeded } from './rates.ts'

/** The accounts that must all have room. Key first: its refusal is the more useful one. */
export type Legs = { readonly key: Account; readonly frame: Account }

type Verdict =
  | {
      readonly reserved: true
      readonly amountNanodollars: Nanodollars
      readonly outputTokens: number
      readonly capped: boolean
    }
  | Refusal

type KeyStatusRefusal = Extract<Refusal, { readonly reason: 'key_status' }>

/** A cap that only other requests' holds require must still leave room for a whole answer to most requests. */
const OUTPUT_TOKENS_AMPLE = 4096
/** A request without an output limit may hold one part in this many of the remaining budget for its output. */
const DEFAULT_OUTPUT_SHARE = 8n

/** The API contract fixes the order of checks: the key itself, its rates, its budget, the frame's budget. */
export function judge(ask: PlainAsk, legs: Legs, now: number): Verdict {
  return (
    judgeStatus(ask, legs.key, now) ?? judgeRates(ask, legs.key, now) ?? judgeBudgets(ask, legs)
  )
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

function judgeStatus(ask: PlainAsk, key: Account, now: number): Refusal | undefined {
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

function judgeRates(ask: PlainAsk, key: Account, now: number): Refusal | undefined {
  const exceeded =
    rateExceeded(key, key.rateWindow, { now, tokens: ask.estimatedTokens }) ??
    (key.concurrency !== null && key.inFlight >= key.concurrency
      ? { limit: 'concurrency' as const, retryAfterSeconds: 1 }
      : undefined)
  return exceeded && { reserved: false, reason: 'rate', ...exceeded }
}

function judgeBudgets(ask: PlainAsk, legs: Legs): Verdict {
  const worst = ask.worstCase
  const left = tighterLimit(remainingOf(legs.key), remainingOf(legs.frame))
  const wanted = outputWanted(worst, left)
  const grant = (outputTokens: number): Verdict => ({
    reserved: true,
    amountNanodollars: costAtMost(worst, outputTokens),
    outputTokens,
    capped: outputTokens < wanted,
  })
  // Free calls pass even when a limit was lowered below what is spent.
  if (costAtMost(worst, wanted) === 0n) return grant(wanted)
  const now = affordable(worst, legs, 'beside holds')
  if (now >= wanted) return grant(wanted)
  // A lower count cannot help where everything is spent: nothing that costs anything fits.
  if (!ask.recounted && !isAllSpent(legs)) return { reserved: false, reason: 'recount' }

  const later = affordable(worst, legs, 'without holds')
  const onlyHolds = later >= wanted
  const canCap = ask.whenTight === 'cap'
  const minimum = onlyHolds
    ? Math.max(OUTPUT_TOKENS_AMPLE, worst.outputTokensMinimum)
    : worst.outputTokensMinimum
  if (canCap && now >= minimum) return grant(now)
  // Waiting helps if the answer, or a capped one, would fit once the holds are released.
  const reason = onlyHolds || (canCap && later >= minimum) ? 'held' : 'budget'
  const decisive = reason === 'budget' && canCap ? Math.min(minimum, wanted) : wanted
  return {
    reserved: false,
    reason,
    shortage: shortage(ask, legs, { reason, wanted, decisive, now }),
  }
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
  if (room === null) return Infinity
  const forOutput = room * PICO_PER_NANO - worst.fixedPicodollars
  if (forOutput < 0n) return -1
  return worst.outputTokenPicodollars === 0n
    ? Infinity
    : Number(forOutput / worst.outputTokenPicodollars)
}

/** The first leg that cannot pay for the decisive output, and its figures. */
function shortage(
  ask: PlainAsk,
  legs: Legs,
  found: {
    readonly reason: 'budget' | 'held'
    readonly wanted: number
    readonly decisive: number
    readonly now: number
  },
): Shortage {
  const decisive = costAtMost(ask.worstCase, found.decisive)
  const isShort = (account: Account): boolean => {
    const limit = limitOf(account)
    const held = found.reason === 'held' ? account.held : 0n
    return limit !== null && account.spent + held + decisive > limit
  }
  const scope = isShort(legs.key) ? 'key' : 'frame'
  const account = legs[scope]
  return {
    scope,
    limitNanodollars: limitOf(account) ?? 0n,
    spentNanodollars: account.spent,
    heldNanodollars: account.held,
    requiredNanodollars: costAtMost(ask.worstCase, found.wanted),
    affordableOutputTokens: found.now >= 1 ? found.now : null,
    resetsAt: account.periodEndsAt,
  }
}
