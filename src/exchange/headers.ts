// The headers of a reply: the client's limits and what the gateway did, named as the client's family names them.
import type { Clock } from '../core/clock.ts'
import type { Family } from '../core/endpoints.ts'
import { formatUsd, tighterLimit } from '../core/money.ts'
import type { Balances, RateBalance, Reserved, Settled } from '../ledger/ledger.ts'
import { nameOf } from './prepare.ts'
import type { OutboundRequest } from './prepare.ts'
import type { Reply } from './reply.ts'

type Head = Pick<Reply, 'setHeader'>

/** The family of the client's endpoint, and the clock by which its countdowns go. */
type Client = { readonly family: Family; readonly clock: Clock }

/** What is known before a target answers. */
export function setHoldHeaders(reply: Head, hold: Reserved): void {
  if (hold.capped) reply.setHeader('x-tollgate-output-cap', String(hold.outputTokens))
  if (hold.waitedMs > 0) reply.setHeader('x-tollgate-queued-ms', String(Math.round(hold.waitedMs)))
}

/** The target that answers, and what it was not sent. Certain only with content: until then another may take over. */
export function setTargetHeaders(
  reply: Head,
  { route, outputCap, dropped }: Pick<OutboundRequest, 'route' | 'outputCap' | 'dropped'>,
): void {
  reply.setHeader('x-tollgate-target', headerText(nameOf(route)))
  if (outputCap !== undefined) reply.setHeader('x-tollgate-output-cap', String(outputCap))
  setDroppedHeader(reply, dropped)
}

export function setDroppedHeader(reply: Head, dropped: readonly string[]): void {
  if (dropped.length > 0) reply.setHeader('x-tollgate-dropped', headerText(dropped.join(', ')))
}

/** A whole answer also reports its cost, and the limits after it. */
export function setSettledHeaders(reply: Head, settled: Settled | undefined, client: Client): void {
  if (settled === undefined) return
  reply.setHeader('x-tollgate-cost', formatUsd(settled.costNanodollars))
  if (settled.balances !== undefined) setBalanceHeaders(reply, settled.balances, client)
}

export function setBalanceHeaders(reply: Head, balances: Balances, client: Client): void {
  const { key, frame, requests, tokens } = balances
  const remaining = tighterLimit(key.remainingNanodollars, frame.remainingNanodollars)
  if (remaining !== null) reply.setHeader('x-tollgate-budget-remaining', formatUsd(remaining))
  if (requests !== null) setRateHeaders(reply, requests, { ...client, what: 'requests' })
  if (tokens !== null) setRateHeaders(reply, tokens, { ...client, what: 'tokens' })
}

/** In this order: the limit, what remains of it, when all of it is available again. */
const RATE_HEADERS = {
  chat: {
    requests: chatNames('requests'),
    tokens: chatNames('tokens'),
  },
  messages: {
    requests: messagesNames('requests'),
    tokens: messagesNames('tokens'),
  },
}

function chatNames(what: string) {
  return [
    `x-ratelimit-limit-${what}`,
    `x-ratelimit-remaining-${what}`,
    `x-ratelimit-reset-${what}`,
  ] as const
}

function messagesNames(what: string) {
  return [
    `anthropic-ratelimit-${what}-limit`,
    `anthropic-ratelimit-${what}-remaining`,
    `anthropic-ratelimit-${what}-reset`,
  ] as const
}

function setRateHeaders(
  reply: Head,
  rate: RateBalance,
  { family, clock, what }: Client & { readonly what: 'requests' | 'tokens' },
): void {
  const [limit, remaining, reset] = RATE_HEADERS[family][what]
  reply.setHeader(limit, String(rate.limit))
  reply.setHeader(remaining, String(rate.remaining))
  // The chat family states a countdown, the messages family a point in time.
  const isCountdown = family === 'chat'
  const seconds = Math.max(0, Math.ceil((rate.resetsAt - clock.now()) / 1000))
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
