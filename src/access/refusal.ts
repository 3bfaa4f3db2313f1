// Refusals of a key, in words that tell its owner what to do: which limit, how much, until when, and what would help.
import { AssertionError } from 'node:assert'
import { GatewayError, type ErrorCode } from '../core/errors.ts'
import type { JsonObject } from '../core/json.ts'
import { formatUsd } from '../core/money.ts'
import { iso, usd } from '../core/units.ts'
import type { Refused, BudgetScope, Shortage, ShortLeg } from '../ledger/ledger.ts'

/** A key, by the name that its owner knows. */
type Named = { readonly name: string; readonly groupName: string | null }

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
        { retryAfterSeconds: 1, facts: factsOf(key, refused.shortage) },
      )
    case 'rate':
      return rateExceeded(key, refused)
    case 'key_status':
      return statusRefused(key, refused.status)
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
  const isRequest = shortage.scope === 'request'
  const room = roomOf(key, shortage)
  const cost = `this call may cost up to ${formatUsd(shortage.requiredNanodollars)} USD${where} and ${room}`
  const raise = isRequest
    ? `have what one request of the key "${key.name}" or its group may cost raised`
    : `have the budget of ${scopeName(key, shortage)} raised`
  const tokens = tokensTold(key, shortage)
  const help =
    tokens === null
      ? raise
      : `ask for at most ${tokens.toLocaleString('en-US')} output tokens, or ${raise}`
  return new GatewayError(EXCEEDED[shortage.scope], `${cost}: ${help}`, {
    shouldRetry: false,
    facts: { ...factsOf(key, shortage), ...(cheapest !== undefined && { target: cheapest }) },
  })
}

/** What is left, in words. */
function roomOf(key: Named, shortage: Shortage): string {
  const { scope, limitNanodollars, spentNanodollars, resetsAt } = shortage
  const left = limitNanodollars - spentNanodollars
  const remaining = formatUsd(left > 0n ? left : 0n)
  const until = resetsAt === null ? '' : ` until ${moment(resetsAt)}`
  if (scope === 'request') return `one request may cost at most ${remaining} USD`
  if (isFrameHidden(key, shortage)) return `the frame above all keys has no room for it${until}`
  return `${remaining} USD is left${until}`
}

/** A key in a group learns of the frame only that it refuses, and until when: others share it. */
function isFrameHidden({ groupName }: Named, { scope }: Pick<ShortLeg, 'scope'>): boolean {
  return scope === 'frame' && groupName !== null
}

/** How much the tightest budget would still pay for is a figure of the frame where that may be it. */
function tokensTold(key: Named, shortage: Shortage): number | null {
  const isHidden = [shortage, ...shortage.also].some((leg) => isFrameHidden(key, leg))
  return isHidden ? null : shortage.affordableOutputTokens
}

const EXCEEDED: Readonly<Record<BudgetScope, ErrorCode>> = {
  key: 'key_budget_exceeded',
  group: 'group_budget_exceeded',
  frame: 'frame_budget_exceeded',
  model: 'model_budget_exceeded',
  request: 'request_cost_exceeded',
}

function factsOf(key: Named, shortage: Shortage): JsonObject {
  return {
    scope: shortage.scope,
    period: shortage.period,
    ...(!isFrameHidden(key, shortage) && {
      limit: usd(shortage.limitNanodollars),
      spent: usd(shortage.spentNanodollars),
      held: usd(shortage.heldNanodollars),
    }),
    required: usd(shortage.requiredNanodollars),
    affordable_output_tokens: tokensTold(key, shortage),
    resets_at: iso(shortage.resetsAt),
    also: shortage.also.map(({ scope, period, resetsAt }) => ({
      scope,
      period,
      resets_at: iso(resetsAt),
    })),
  }
}

const RATE_WORDS = {
  rpm: 'requests per minute',
  tpm: 'tokens per minute',
  concurrency: 'concurrent requests',
}

function rateExceeded(key: Named, refused: Refused & { reason: 'rate' }): GatewayError {
  const { scope, limit, retryAfterSeconds, balances } = refused
  const rates = scope === 'key' ? balances : balances.groupRates
  const figure = {
    rpm: rates?.requests?.limit,
    tpm: rates?.tokens?.limit,
    concurrency: rates?.concurrency.limit,
  }[limit]
  return new GatewayError(
    'rate_limit_exceeded',
    `${accountName(key, scope)} is limited to ${figure?.toLocaleString('en-US') ?? 'a number of'} ${RATE_WORDS[limit]}: try again in ${retryAfterSeconds} s`,
    { retryAfterSeconds, facts: { limit, scope } },
  )
}

function statusRefused(
  key: Named,
  status: (Refused & { reason: 'key_status' })['status'],
): GatewayError {
  switch (status) {
    case 'revoked':
    case 'unknown':
      return revokedKey()
    case 'expired':
      return expiredKey()
    case 'paused':
      return pausedKey()
    case 'archived':
      return archivedGroup(key)
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

function scopeName(key: Named, { scope }: Shortage): string {
  if (scope === 'model') return `${accountName(key, 'key')} for this model`
  return scope === 'frame' ? 'the frame above all keys' : accountName(key, scope)
}

function accountName(key: Named, scope: BudgetScope): string {
  return scope === 'group' ? `the group "${key.groupName}"` : `the key "${key.name}"`
}

/** Made once, when it is first needed: constructing it takes longer than the rest of a refusal. */
let momentFormat: Intl.DateTimeFormat | undefined

/** `1 Dec 00:00 UTC`: short enough for a sentence; the exact time is among the facts. */
function moment(at: number): string {
  momentFormat ??= new Intl.DateTimeFormat('en-GB', {
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    timeZone: 'UTC',
  })
  return `${momentFormat.format(at).replace(',', '')} UTC`
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

export function archivedGroup({ groupName }: Pick<Named, 'groupName'>): GatewayError {
  return new GatewayError(
    'paused_api_key',
    `the group "${groupName}" of this API key is archived: ask an administrator to activate it, or to move the key`,
  )
}

export function pausedKey(): GatewayError {
  return new GatewayError(
    'paused_api_key',
    'this API key is paused: ask an administrator to resume it',
  )
}
