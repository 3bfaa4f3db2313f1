// The response headers that report a client's limits and what the gateway did, named as the client's family names them.
import type { Admission } from '../access/admit.ts'
import type { Family } from '../core/endpoints.ts'
import { formatUsd, tighterLimit } from '../core/money.ts'
import type { Balances, RateBalance, Settled } from '../ledger/ledger.ts'
import { nameOf } from './prepare.ts'
import type { Prepared } from './prepare.ts'
import type { Reply } from './reply.ts'

type Told = { readonly family: Family; readonly now: number }

/** Reports to the client how its limits stand. */
type Teller = { tell(balances: Balances): void }

/** What is known before a target answers. A stream reports the limits before it, a whole answer those after it. */
export function setAdmissionHeaders(reply: Reply, { hold, call }: Admission, teller: Teller): void {
  if (call.stream) teller.tell(hold.balances)
  if (hold.capped) reply.setHeader('x-tollgate-output-cap', String(hold.outputTokens))
  if (hold.waitedMs > 0) reply.setHeader('x-tollgate-queued-ms', String(Math.round(hold.waitedMs)))
}

/** The target that answers, and what it was not sent. Certain only with content: until then another may take over. */
export function setTargetHeaders(reply: Reply, target: Prepared): void {
  reply.setHeader('x-tollgate-target', headerText(nameOf(target)))
  if (target.outputCap !== undefined) {
    reply.setHeader('x-tollgate-output-cap', String(target.outputCap))
  }
  setDroppedHeader(reply, target.dropped)
}

export function setDroppedHeader(reply: Reply, dropped: readonly string[]): void {
  if (dropped.length > 0) reply.setHeader('x-tollgate-dropped', headerText(dropped.join(', ')))
}

/** A whole answer also reports its cost, and the limits after it. */
export function setSettledHeaders(
  reply: Reply,
  settled: Settled | undefined,
  teller: Teller,
): void {
  if (settled === undefined) return
  reply.setHeader('x-tollgate-cost', formatUsd(settled.costNanodollars))
  if (settled.balances !== undefined) teller.tell(settled.balances)
}

export function setBalanceHeaders(reply: Reply, balances: Balances, told: Told): void {
  const { key, frame } = balances
  const remaining = tighterLimit(key.remainingNanodollars, frame.remainingNanodollars)
  if (remaining !== null) reply.setHeader('x-tollgate-budget-remaining', formatUsd(remaining))
  const { family, now } = told
  setRateHeaders(reply, balances.requests, { family, now, what: 'requests' })
  setRateHeaders(reply, balances.tokens, { family, now, what: 'tokens' })
}

/** In this order: the limit, what remains of it, when all of it is available again. */
const RATE_HEADERS = {
  chat: {
    requests: [
      'x-ratelimit-limit-requests',
      'x-ratelimit-remaining-requests',
      'x-ratelimit-reset-requests',
    ],
    tokens: [
      'x-ratelimit-limit-tokens',
      'x-ratelimit-remaining-tokens',
      'x-ratelimit-reset-tokens',
    ],
  },
  messages: {
    requests: [
      'anthropic-ratelimit-requests-limit',
      'anthropic-ratelimit-requests-remaining',
      'anthropic-ratelimit-requests-reset',
    ],
    tokens: [
      'anthropic-ratelimit-tokens-limit',
      'anthropic-ratelimit-tokens-remaining',
      'anthropic-ratelimit-tokens-reset',
    ],
  },
} as const

function setRateHeaders(
  reply: Reply,
  rate: RateBalance | null,
  { family, now, what }: Told & { readonly what: 'requests' | 'tokens' },
): void {
  if (rate === null) return
  const [limit, remaining, reset] = RATE_HEADERS[family][what]
  reply.setHeader(limit, String(rate.limit))
  reply.setHeader(remaining, String(rate.remaining))
  // The chat family states a countdown, the messages family a point in time.
  const isCountdown = family === 'chat'
  const seconds = Math.max(0, Math.ceil((rate.resetsAt - now) / 1000))
  reply.setHeader(reset, isCountdown ? `${seconds}s` : new Date(rate.resetsAt).toISOString())
}

const HEADER_CHARACTERS_MAX = 1_000

/** Fields and models may have any name; a header carries only printable ASCII. A list that is cut off ends in dots. */
function headerText(text: string): string {
  const plain = text.replace(/[^\x20-\x7e]/g, '?')
  return plain.length <= HEADER_CHARACTERS_MAX
    ? plain
    : `${plain.slice(0, HEADER_CHARACTERS_MAX)}...`
}
