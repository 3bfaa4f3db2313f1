// Refusals of a key, in words that tell its owner what to do: which limit, how much, until when, and what would help.
import { AssertionError } from 'node:assert'
import { GatewayError } from '../core/errors.ts'
import { formatUsd } from '../core/money.ts'
import { iso, usd } from '../core/units.ts'
import type { Refused, Shortage } from '../ledger/ledger.ts'

/** A key, by the name that its owner knows. */
type Named = { readonly name: string }

/** Throws `StaleKey` where the request must be started again. `targets` are the names of the candidates, if it has any. */
export function refusalOf(
  key: Named,
  refused: Refused,
  targets: readonly string[] = [],
): GatewayError {
  switch (refused.reason) {
    case 'budget':
      return budgetExceeded(key, refused.shortage, targets)
    case 'held':
      return new GatewayError(
        'budget_reserved',
        `the budget of ${scopeName(key, refused.shortage)} covers this call, but requests in flight hold it: try again in a moment`,
        { retryAfterSeconds: 1, facts: factsOf(refused.shortage) },
      )
    case 'rate':
      return rateExceeded(key, refused)
    case 'key_status':
      return statusRefused(refused.status)
    case 'unavailable':
      return new GatewayError(
        'ledger_unavailable',
        'budgets cannot be checked right now, so no request is let through: try again shortly',
        { retryAfterSeconds: 2 },
      )
    case 'abandoned':
    case 'recount':
      // For an abandoned request there is no client left to answer, and a recount is done, once, before this is called.
      throw new AssertionError({ message: `the ledger refused with "${refused.reason}"` })
  }
}

function budgetExceeded(key: Named, shortage: Shortage, targets: readonly string[]): GatewayError {
  const cheapest = targets.length > 1 ? targets[shortage.candidate] : undefined
  const where =
    cheapest === undefined ? '' : ` at ${cheapest}, the cheapest of its ${targets.length} targets,`
  const left = shortage.limitNanodollars - shortage.spentNanodollars
  const remaining = formatUsd(left > 0n ? left : 0n)
  const until = shortage.resetsAt === null ? '' : ` until ${moment(shortage.resetsAt)}`
  const cost = `this call may cost up to ${formatUsd(shortage.requiredNanodollars)} USD${where} and ${remaining} USD is left${until}`
  const raise = `have the budget of ${scopeName(key, shortage)} raised`
  const tokens = shortage.affordableOutputTokens
  const help =
    tokens === null
      ? raise
      : `ask for at most ${tokens.toLocaleString('en-US')} output tokens, or ${raise}`
  return new GatewayError(
    shortage.scope === 'key' ? 'key_budget_exceeded' : 'frame_budget_exceeded',
    `${cost}: ${help}`,
    {
      shouldRetry: false,
      facts: { ...factsOf(shortage), ...(cheapest !== undefined && { target: cheapest }) },
    },
  )
}

function factsOf(shortage: Shortage): Record<string, string | number | null> {
  return {
    scope: shortage.scope,
    limit: usd(shortage.limitNanodollars),
    spent: usd(shortage.spentNanodollars),
    held: usd(shortage.heldNanodollars),
    required: usd(shortage.requiredNanodollars),
    affordable_output_tokens: shortage.affordableOutputTokens,
    resets_at: iso(shortage.resetsAt),
  }
}

const RATE_WORDS = {
  rpm: 'requests per minute',
  tpm: 'tokens per minute',
  concurrency: 'concurrent requests',
}

function rateExceeded(key: Named, refused: Refused & { reason: 'rate' }): GatewayError {
  const { limit, retryAfterSeconds, balances } = refused
  const figure = {
    rpm: balances.requests?.limit,
    tpm: balances.tokens?.limit,
    concurrency: balances.concurrency.limit,
  }[limit]
  return new GatewayError(
    'rate_limit_exceeded',
    `the key "${key.name}" is limited to ${figure?.toLocaleString('en-US') ?? 'a number of'} ${RATE_WORDS[limit]}: try again in ${retryAfterSeconds} s`,
    { retryAfterSeconds, facts: { limit } },
  )
}

function statusRefused(status: (Refused & { reason: 'key_status' })['status']): GatewayError {
  switch (status) {
    case 'revoked':
    case 'unknown':
      return revokedKey()
    case 'expired':
      return expiredKey()
    case 'paused':
      return pausedKey()
    case 'stale':
      throw new StaleKey()
  }
}

/** The key was changed after it was looked up: callers that can start again with its new settings do so. */
export class StaleKey extends GatewayError {
  constructor() {
    super(
      'overloaded',
      'the settings of this API key changed while the request was arriving: try again',
      { retryAfterSeconds: 1 },
    )
  }
}

function scopeName(key: Named, shortage: Shortage): string {
  return shortage.scope === 'key' ? `the key "${key.name}"` : 'the frame above all keys'
}

/** Made once: constructing it takes longer than the rest of a refusal. */
const MOMENT = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
})

/** `1 Dec 00:00 UTC`: short enough for a sentence; the exact time is among the facts. */
function moment(at: number): string {
  return `${MOMENT.format(at).replace(',', '')} UTC`
}

/** Also when a running answer is cut. */
export function revokedKey(): GatewayError {
  return new GatewayError(
    'revoked_api_key',
    'this API key has been revoked: use another one, or ask an administrator for a new key',
  )
}

export function expiredKey(): GatewayError {
  return new GatewayError(
    'expired_api_key',
    'this API key has expired: ask an administrator to extend it',
  )
}

export function pausedKey(): GatewayError {
  return new GatewayError(
    'paused_api_key',
    'this API key is paused: ask an administrator to resume it',
  )
}
