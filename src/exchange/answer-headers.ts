// What the head of an answer tells a client about its limits and about what the gateway did, in its family's words.
import type { Admission } from '../access/admit.ts'
import type { Family } from '../core/endpoints.ts'
import { formatUsd } from '../core/money.ts'
import type { Nanodollars } from '../core/money.ts'
import type { Balances, RateBalance, Settled } from '../ledger/ledger.ts'
import type { Prepared } from './prepare.ts'
import type { Reply } from './reply.ts'

type Told = { readonly family: Family; readonly now: number }

/** What is known before anybody has answered. */
export function setAdmissionHeaders(reply: Reply, { hold }: Admission): void {
  if (hold.capped) reply.setHeader('x-tollgate-output-cap', String(hold.outputTokens))
  if (hold.waitedMs > 0) reply.setHeader('x-tollgate-queued-ms', String(Math.round(hold.waitedMs)))
}

/** Who answers, and what it was not told. Certain only once there is content: until then another may take over. */
export function setTargetHeaders(reply: Reply, { provider, model, dropped }: Prepared): void {
  reply.setHeader('x-tollgate-target', `${provider.name}/${model}`)
  if (dropped.length > 0) reply.setHeader('x-tollgate-dropped', headerText(dropped.join(', ')))
}

/** Whole answers also tell what they cost, and the limits as they stand after it. */
export function setSettledHeaders(reply: Reply, settled: Settled | undefined, told: Told): void {
  if (settled === undefined) return
  reply.setHeader('x-tollgate-cost', formatUsd(settled.costNanodollars))
  if (settled.balances !== undefined) setBalanceHeaders(reply, settled.balances, told)
}

export function setBalanceHeaders(reply: Reply, balances: Balances, told: Told): void {
  const remaining = least(balances.key.remainingNanodollars, balances.frame.remainingNanodollars)
  if (remaining !== null) reply.setHeader('x-tollgate-budget-remaining', formatUsd(remaining))
  setRateHeaders(reply, balances.requests, { ...told, what: 'requests' })
  setRateHeaders(reply, balances.tokens, { ...told, what: 'tokens' })
}

function setRateHeaders(
  reply: Reply,
  rate: RateBalance | null,
  told: Told & { readonly what: 'requests' | 'tokens' },
): void {
  if (rate === null) return
  const { family, now, what } = told
  const figures: Record<string, string> = {
    limit: String(rate.limit),
    remaining: String(rate.remaining),
    // The one family counts down, the other names the moment.
    reset:
      family === 'chat'
        ? `${Math.max(0, Math.ceil((rate.resetsAt - now) / 1000))}s`
        : new Date(rate.resetsAt).toISOString(),
  }
  for (const [figure, value] of Object.entries(figures)) {
    const name =
      family === 'chat' ? `x-ratelimit-${figure}-${what}` : `anthropic-ratelimit-${what}-${figure}`
    reply.setHeader(name, value)
  }
}

function least(one: Nanodollars | null, other: Nanodollars | null): Nanodollars | null {
  if (one === null || other === null) return one ?? other
  return one < other ? one : other
}

/** Field names come from clients and may hold anything; a header may not. */
function headerText(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?').slice(0, 1_000)
}
