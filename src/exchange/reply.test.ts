// Running exchanges can be cut by key, until they have ended.
import assert from 'node:assert/strict'
import { validateHeaderValue } from 'node:http'
import { test } from 'node:test'
import { SAMPLE_OUTBOUND, SAMPLE_ROUTE, SAMPLE_TARGET } from '../../test/samples/exchange.ts'
import { GatewayError } from '../core/errors.ts'
import { sampleBalances } from '../../test/samples/ledger-rows.ts'
import type { Balance, Reserved, Settled } from '../ledger/ledger.ts'
import {
  RunningExchanges,
  setBalanceHeaders,
  setHoldHeaders,
  setSettledHeaders,
  setTargetHeaders,
} from './reply.ts'
import type { Reply } from './reply.ts'

function exchange(): { readonly cuts: string[]; cut(why: GatewayError): void } {
  const cuts: string[] = []
  return { cuts, cut: (why) => cuts.push(why.code) }
}

test('only the exchanges of a revoked key are cut', () => {
  const running = new RunningExchanges()
  const [one, two, other] = [exchange(), exchange(), exchange()]
  running.begin('a', one)
  running.begin('a', two)
  running.begin('b', other)
  assert.deepEqual(running.keyIds(), ['a', 'b'])
  running.cutRevoked(['a'])
  assert.deepEqual(
    [one, two, other].map(({ cuts }) => cuts.join()),
    ['revoked_api_key', 'revoked_api_key', ''],
  )
})

test('an exchange that has ended is not cut', () => {
  const running = new RunningExchanges()
  const [ended, runs] = [exchange(), exchange()]
  const first = running.begin('a', ended)
  const second = running.begin('a', runs)
  first.remove()
  running.cutAll(new GatewayError('draining', ''))
  assert.deepEqual([ended.cuts, runs.cuts], [[], ['draining']])
  second.remove()
  assert.deepEqual(running.keyIds(), [])
})

// The headers of an answer: caps, waits, costs and limits in the client's words, whatever fields and models are called.

const NOW = Date.UTC(2026, 10, 15, 12)
const clock = { now: () => NOW, monotonicMs: () => 0 }

const left = (remainingNanodollars: bigint | null): Balance => ({
  ...sampleBalances().key,
  remainingNanodollars,
})
const BALANCES = sampleBalances({
  key: left(2_500_000_000n),
  frame: left(1_000_000_000n),
  requests: { limit: 60, remaining: 7, resetsAt: NOW + 1_001 },
  tokens: { limit: 9_000, remaining: 0, resetsAt: NOW - 1 },
})

/** What is set in the head of a reply. */
function headersOf(set: (reply: Pick<Reply, 'setHeader'>) => void): Record<string, string> {
  const headers = new Map<string, string>()
  set({ setHeader: (name, value) => void headers.set(name, value) })
  return Object.fromEntries(headers)
}

test('each family gets limits in its own headers: chat counts down to the reset, messages names its time', () => {
  const told = (family: 'chat' | 'messages') =>
    headersOf((reply) => setBalanceHeaders(reply, BALANCES, { family, clock, model: 'm' }))
  assert.deepEqual(told('chat'), {
    'x-tollgate-budget-remaining': '1',
    'x-ratelimit-limit-requests': '60',
    'x-ratelimit-remaining-requests': '7',
    'x-ratelimit-reset-requests': '2s',
    'x-ratelimit-limit-tokens': '9000',
    'x-ratelimit-remaining-tokens': '0',
    'x-ratelimit-reset-tokens': '0s',
  })
  assert.deepEqual(told('messages'), {
    'x-tollgate-budget-remaining': '1',
    'anthropic-ratelimit-requests-limit': '60',
    'anthropic-ratelimit-requests-remaining': '7',
    'anthropic-ratelimit-requests-reset': '2026-11-15T12:00:01.001Z',
    'anthropic-ratelimit-tokens-limit': '9000',
    'anthropic-ratelimit-tokens-remaining': '0',
    'anthropic-ratelimit-tokens-reset': '2026-11-15T11:59:59.999Z',
  })
})

test('the tightest leg and the tighter rate are reported', () => {
  const rate = (remaining: number) => ({ limit: 60, remaining, resetsAt: NOW })
  const rates = { requests: rate(3), tokens: rate(9), concurrency: { limit: null, inFlight: 0 } }
  const told = (model: string) =>
    headersOf((reply) => {
      const models = [{ model: 'm', ...left(5n) }]
      const balances = sampleBalances({ ...BALANCES, models, groupRates: rates, group: left(700n) })
      setBalanceHeaders(reply, balances, { family: 'chat', clock, model })
    })
  assert.partialDeepStrictEqual(told('n'), {
    'x-tollgate-budget-remaining': '0.0000007',
    'x-ratelimit-remaining-requests': '3',
    'x-ratelimit-remaining-tokens': '0',
  })
  assert.equal(told('m')['x-tollgate-budget-remaining'], '0.000000005')
})

test('a key in a group is told what is left below the frame, or nothing', () => {
  const told = (frame: bigint, more: Partial<Parameters<typeof sampleBalances>[0]> = {}) =>
    headersOf((reply) => {
      const balances = sampleBalances({
        ...BALANCES,
        groupId: 'grp_1',
        frame: left(frame),
        ...more,
      })
      setBalanceHeaders(reply, balances, { family: 'chat', clock, model: 'm' })
    })['x-tollgate-budget-remaining']
  assert.equal(told(1_000_000_000n), '2.5')
  assert.equal(told(0n), '0')
  assert.equal(told(5n, { frameWindow: left(0n) }), '0')
})

test('limits that are not set have no headers', () => {
  const set = (reply: Pick<Reply, 'setHeader'>) =>
    setBalanceHeaders(reply, sampleBalances(), { family: 'chat', clock, model: 'm' })
  assert.deepEqual(headersOf(set), {})
})

test('a cap and a wait are reported if there was one', () => {
  const told = (more: { capped: boolean; waitedMs: number }) => {
    const hold: Reserved = {
      ...{ reserved: true, holdId: 1, groupId: null, amountNanodollars: 1n, outputTokens: 300 },
      ...{ balances: BALANCES, ...more },
    }
    return headersOf((reply) => setHoldHeaders(reply, hold))
  }
  assert.deepEqual(told({ capped: true, waitedMs: 12.6 }), {
    'x-tollgate-output-cap': '300',
    'x-tollgate-queued-ms': '13',
  })
  assert.deepEqual(told({ capped: false, waitedMs: 0 }), {})
})

test('a whole answer reports its cost, and the limits after it if they are known', () => {
  const spooled: Settled = {
    durableIn: 'spool',
    costNanodollars: 1_500_000n,
    overrunNanodollars: 0n,
  }
  const told = (settled: Settled | undefined) =>
    headersOf((reply) => setSettledHeaders(reply, settled, { family: 'chat', clock, model: 'm' }))
  assert.deepEqual(told(undefined), {})
  assert.deepEqual(told(spooled), { 'x-tollgate-cost': '0.0015' })
  assert.partialDeepStrictEqual(told({ ...spooled, balances: BALANCES }), {
    'x-tollgate-cost': '0.0015',
    'x-tollgate-budget-remaining': '1',
    'x-ratelimit-remaining-requests': '7',
  })
})

const outbound = (model: string, dropped: readonly string[]) => {
  const route = { ...SAMPLE_ROUTE, target: { ...SAMPLE_TARGET, name: `local/${model}`, model } }
  return { ...SAMPLE_OUTBOUND, route, dropped }
}

test('a list too long for a header is cut and marked as cut', () => {
  const dropped = (characters: number) => {
    const sent = outbound('m', ['x'.repeat(characters)])
    return headersOf((reply) => setTargetHeaders(reply, sent))['x-tollgate-dropped']
  }
  assert.equal(dropped(1_000), 'x'.repeat(1_000))
  assert.equal(dropped(1_001), `${'x'.repeat(1_000)}...`)
  assert.deepEqual(
    headersOf((reply) => setTargetHeaders(reply, outbound('m', []))),
    { 'x-tollgate-target': 'local/m' },
  )
})

test('characters that a header cannot carry are replaced', () => {
  const sent = outbound('通义-7b', ['größe', '🚪\n'])
  const headers = headersOf((reply) => setTargetHeaders(reply, sent))
  for (const [name, value] of Object.entries(headers)) validateHeaderValue(name, value)
  assert.deepEqual(headers, {
    'x-tollgate-target': 'local/??-7b',
    'x-tollgate-dropped': 'gr??e, ???',
  })
})
