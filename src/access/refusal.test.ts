// Refusals say which limit, how much, until when and what would help, and carry the same as facts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SAMPLE_CALLER } from '../../test/samples/caller.ts'
import { sampleBalances } from '../../test/samples/ledger-rows.ts'
import type { Refused, Shortage } from '../ledger/ledger.ts'
import { refusalOf, StaleKey } from './refusal.ts'

const caller = { ...SAMPLE_CALLER, name: 'billing bot', groupName: 'finance' }
const outside = { ...caller, groupName: null }

const shortage: Shortage = {
  candidate: 1,
  scope: 'key',
  period: 'month',
  limitNanodollars: 1_000_000_000n,
  spentNanodollars: 590_000_000n,
  heldNanodollars: 0n,
  requiredNanodollars: 930_000_000n,
  affordableOutputTokens: 11_200,
  resetsAt: Date.UTC(2026, 11, 1),
  also: [{ scope: 'group', period: 'day', resetsAt: Date.UTC(2026, 10, 16) }],
}

type Named = Parameters<typeof refusalOf>[0]

const refuse = (refused: Omit<Refused & object, 'reserved'>, key: Named = caller) =>
  refusalOf(key, { reserved: false, ...refused } as Refused)

test('a used-up key budget says what is left, until when and what would help', () => {
  const error = refuse({ reason: 'budget', shortage } as Refused)
  assert.equal(error.code, 'key_budget_exceeded')
  assert.equal(error.status, 402)
  assert.equal(
    error.message,
    'this call may cost up to 0.93 USD and 0.41 USD is left until 1 Dec 00:00 UTC: ' +
      'ask for at most 11,200 output tokens, or have the budget of the key "billing bot" raised',
  )
  assert.equal(error.details.shouldRetry, false)
  assert.deepEqual(error.details.facts, {
    scope: 'key',
    period: 'month',
    limit: '1',
    spent: '0.59',
    held: '0',
    required: '0.93',
    affordable_output_tokens: 11_200,
    resets_at: '2026-12-01T00:00:00.000Z',
    also: [{ scope: 'group', period: 'day', resets_at: '2026-11-16T00:00:00.000Z' }],
  })
})

test('of several targets, the cheapest is named with what it would have cost', () => {
  const refused = { reserved: false, reason: 'budget', shortage } as Refused
  const { message, details } = refusalOf(caller, refused, ['a/dear', 'b/cheap'])
  assert.match(
    message,
    /^this call may cost up to 0\.93 USD at b\/cheap, the cheapest of its 2 targets, and 0\.41 USD is left/,
  )
  assert.equal(details.facts?.['target'], 'b/cheap')
  assert.doesNotMatch(refusalOf(caller, refused, ['a/only']).message, /a\/only/)
})

test('a used-up frame without a reset names no date', () => {
  const error = refuse(
    {
      reason: 'budget',
      shortage: { ...shortage, scope: 'frame', affordableOutputTokens: null, resetsAt: null },
    } as Refused,
    outside,
  )
  assert.equal(error.code, 'frame_budget_exceeded')
  assert.equal(
    error.message,
    'this call may cost up to 0.93 USD and 0.41 USD is left: have the budget of the frame above all keys raised',
  )
})

test('a key in a group learns of the frame only that it refuses, and until when', () => {
  const frame = { ...shortage, scope: 'frame', also: [] } as const
  const told = refuse({ reason: 'budget', shortage: frame } as object as Refused)
  assert.equal(
    told.message,
    'this call may cost up to 0.93 USD and the frame above all keys has no room for it until 1 Dec 00:00 UTC: ' +
      'have the budget of the frame above all keys raised',
  )
  assert.deepEqual(told.details.facts, {
    scope: 'frame',
    period: 'month',
    required: '0.93',
    affordable_output_tokens: null,
    resets_at: '2026-12-01T00:00:00.000Z',
    also: [],
  })
  const held = refuse({ reason: 'held', shortage: frame } as object as Refused)
  assert.deepEqual(held.details.facts, told.details.facts)
  // The longest answer that fits may be what the frame has left.
  const also = [{ scope: 'frame', period: 'day', resetsAt: 0 }] as const
  const both = refuse({ reason: 'budget', shortage: { ...shortage, also } } as object as Refused)
  assert.equal(both.details.facts?.['affordable_output_tokens'], null)
  assert.equal(both.details.facts?.['limit'], '1')
})

test('each kind of budget has its code, and says whose it is', () => {
  const told = (scope: Shortage['scope']) => {
    const { code, message } = refuse(
      {
        reason: 'budget',
        shortage: { ...shortage, scope },
      } as Refused,
      scope === 'frame' ? outside : caller,
    )
    return [code, message.slice(message.indexOf('USD and ') + 8)]
  }
  const left =
    '0.41 USD is left until 1 Dec 00:00 UTC: ask for at most 11,200 output tokens, or have'
  assert.deepEqual(told('group'), [
    'group_budget_exceeded',
    `${left} the budget of the group "finance" raised`,
  ])
  assert.deepEqual(told('model'), [
    'model_budget_exceeded',
    `${left} the budget of the key "billing bot" for this model raised`,
  ])
  const request: Shortage = {
    ...shortage,
    scope: 'request',
    period: null,
    spentNanodollars: 0n,
    limitNanodollars: 500_000_000n,
  }
  const { code, message } = refuse({ reason: 'budget', shortage: request } as Refused)
  assert.equal(code, 'request_cost_exceeded')
  assert.equal(
    message,
    'this call may cost up to 0.93 USD and one request may cost at most 0.5 USD: ask for at most 11,200 ' +
      'output tokens, or have what one request of the key "billing bot" or its group may cost raised',
  )
})

test('a budget lowered below its spending has nothing left', () => {
  const lowered = { ...shortage, limitNanodollars: 500_000_000n, affordableOutputTokens: null }
  const { message } = refuse({ reason: 'budget', shortage: lowered } as Refused)
  assert.match(message, /0\.93 USD and 0 USD is left until 1 Dec 00:00 UTC: have the budget/)
})

test('a budget that is only held by requests in flight advises a retry', () => {
  const error = refuse({ reason: 'held', shortage } as Refused)
  assert.deepEqual([error.code, error.status], ['budget_reserved', 429])
  assert.equal(error.details.retryAfterSeconds, 1)
})

test('a rate limit names itself and its value', () => {
  const rates = (limit: number) => ({
    requests: { limit, remaining: 0, resetsAt: 0 },
    tokens: null,
  })
  const concurrency = { limit: null, inFlight: 0 }
  const balances = sampleBalances({ ...rates(60), groupRates: { ...rates(90), concurrency } })
  const slowed = (scope: 'key' | 'group') =>
    refuse({ reason: 'rate', scope, limit: 'rpm', retryAfterSeconds: 7, balances } as Refused)
  const error = slowed('key')
  assert.equal(error.code, 'rate_limit_exceeded')
  assert.match(error.message, /^the key .* limited to 60 requests per minute: try again in 7 s/)
  assert.deepEqual(error.details.facts, { limit: 'rpm', scope: 'key' })
  assert.equal(error.details.retryAfterSeconds, 7)
  assert.match(slowed('group').message, /^the group "finance" is limited to 90 requests/)
})

test('each status of a key has its own code', () => {
  for (const [status, code] of [
    ['revoked', 'revoked_api_key'],
    ['unknown', 'revoked_api_key'],
    ['expired', 'expired_api_key'],
    ['paused', 'paused_api_key'],
    ['archived', 'paused_api_key'],
  ] as const) {
    assert.equal(refuse({ reason: 'key_status', status } as Refused).code, code)
  }
  assert.throws(() => refuse({ reason: 'key_status', status: 'stale' } as Refused), StaleKey)
  assert.equal(refuse({ reason: 'unavailable' } as Refused).code, 'ledger_unavailable')
})

test('a reason that must be handled earlier is a fault that names it', () => {
  for (const reason of ['abandoned', 'recount'] as const)
    assert.throws(() => refuse({ reason } as Refused), new RegExp(`refused with "${reason}"`))
})
