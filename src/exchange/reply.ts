// What the flow writes its answer into, what the headers of that say, and those that are being written. The edge
// implements it over HTTP; nothing here or in the flow knows sockets.
import { revokedKey } from '../access/refusal.ts'
import type { Clock } from '../core/clock.ts'
import type { Family } from '../core/endpoints.ts'
import type { GatewayError } from '../core/errors.ts'
import { formatUsd } from '../core/money.ts'
import { LinkedList, type Link } from '../core/runtime.ts'
import type { Balances, RateBalance, Reserved, Settled } from '../ledger/ledger.ts'
import { leastRemaining, remainingBelowFrame } from '../ledger/rules/account.ts'
import type { SseEvent } from '../wire/contract/sse.ts'
import type { OutboundRequest } from './prepare.ts'

export interface Reply {
  /**
   * Aborted when the answer will not be completed: with a ClientGone if the client has left, else with why it was cut.
   * If a client leaves a stream midway, the abort comes a moment later: a provider's usage often follows its last word.
   */
  readonly closed: AbortSignal
  /** Set as soon as the client has left. */
  readonly gone: ClientGone | undefined
  /** Ends the work on the answer, and gives the client the reason. */
  cut(why: GatewayError): void
  /** Whether the client has been sent any part of an answer. Headers and keep-alives do not count. */
  readonly hasBegun: boolean
  /** Headers that go out with the first byte; without effect afterwards. */
  setHeader(name: string, value: string): void
  /**
   * Makes the answer a stream in the words of this encoder; another may replace it while nothing has been sent. The
   * headers go out with the first event, or after a silence so long that a proxy might take the connection for dead.
   * From then on errors, too, are events of the stream.
   */
  beginStream(encoder: StreamEncoder): void
  /** Sends whole events. Resolves when the client has room for more; rejects once the answer is closed. */
  write(events: string): Promise<void>
  /** Sends the end: the last events of a stream that has begun, or a whole JSON answer with status 200. */
  end(last: string): Promise<void>
}

/** What a stream sends of its own accord: while the provider is silent, and when the answer will not complete. */
export interface StreamEncoder {
  readonly keepAlive: string
  fail(error: GatewayError): readonly SseEvent[]
}

/** How long a provider is still read after a client leaves a stream: leaving before the usage comes must not pay. */
export const LINGER_MS = 500

/** Why a request is given up after its client has left. It is still settled. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone'
  constructor() {
    super('the client closed the connection before the answer was complete')
  }
}

type Running = { readonly keyId: string; readonly reply: Pick<Reply, 'cut'> }

/** The running exchanges by key, so that a revoked key gets no further byte. */
export class RunningExchanges {
  readonly #all = new LinkedList<Running>()

  /** The caller removes the link when the exchange has ended. */
  begin(keyId: string, reply: Pick<Reply, 'cut'>): Link<Running> {
    return this.#all.add({ keyId, reply })
  }

  /** The keys that have running exchanges. */
  keyIds(): readonly string[] {
    return [...new Set(this.#all.members().map(({ keyId }) => keyId))]
  }

  cutRevoked(keyIds: readonly string[]): void {
    if (keyIds.length === 0) return
    const revoked = new Set(keyIds)
    const why = revokedKey()
    for (const { keyId, reply } of this.#all.members()) {
      if (revoked.has(keyId)) reply.cut(why)
    }
  }

  cutAll(why: GatewayError): void {
    for (const { reply } of this.#all.members()) reply.cut(why)
  }
}

/** Headers report the client's limits and what the gateway did, under the names of the client's family. */
type Head = Pick<Reply, 'setHeader'>

/** The family of the client's endpoint, the clock by which its countdowns go, and the model it asked for. */
type Client = { readonly family: Family; readonly clock: Clock; readonly model: string }

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
  reply.setHeader('x-tollgate-target', headerText(route.target.name))
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
  const { groupRates } = balances
  // A key in a group learns nothing of the frame, which is shared with others.
  const least = balances.groupId === null ? leastRemaining : remainingBelowFrame
  const remaining = least(balances, client.model)
  const requests = tighterRate(balances.requests, groupRates?.requests ?? null)
  const tokens = tighterRate(balances.tokens, groupRates?.tokens ?? null)
  if (remaining !== null) reply.setHeader('x-tollgate-budget-remaining', formatUsd(remaining))
  const names = RATE_HEADERS[client.family]
  if (requests !== null) setRateHeaders(reply, requests, { names: names.requests, client })
  if (tokens !== null) setRateHeaders(reply, tokens, { names: names.tokens, client })
}

/** Of the rates of a key and its group, the one with less left. */
function tighterRate(ofKey: RateBalance | null, ofGroup: RateBalance | null): RateBalance | null {
  if (ofKey === null || ofGroup === null) return ofKey ?? ofGroup
  return ofGroup.remaining < ofKey.remaining ? ofGroup : ofKey
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

type RateNames = readonly [limit: string, remaining: string, reset: string]

function chatNames(what: string): RateNames {
  return [`x-ratelimit-limit-${what}`, `x-ratelimit-remaining-${what}`, `x-ratelimit-reset-${what}`]
}

function messagesNames(what: string): RateNames {
  return [
    `anthropic-ratelimit-${what}-limit`,
    `anthropic-ratelimit-${what}-remaining`,
    `anthropic-ratelimit-${what}-reset`,
  ]
}

function setRateHeaders(
  reply: Head,
  rate: RateBalance,
  { names: [limit, remaining, reset], client }: { names: RateNames; client: Client },
): void {
  const { family, clock } = client
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
