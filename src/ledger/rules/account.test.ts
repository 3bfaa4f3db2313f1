// What one account's row says: what is left of its limits, and when its period ends and the next begins.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sampleAccount } from '../../../test/samples/ledger-rows.ts'
import { DAY_MS } from '../../core/units.ts'
import { balancesOf, openPeriod, remainingOf } from './account.ts'
import { countAdmission, unpackWindow } from './rates.ts'

const NOON = Date.UTC(2026, 10, 15, 12)
const MIDNIGHT = Date.UTC(2026, 10, 16)

test('remaining is the limit plus top-ups, minus spent and held', () => {
  const remaining = (limit: bigint | null) =>
    remainingOf(sampleAccount({ limit, topUp: 30n, spent: 70n, held: 20n }))
  assert.equal(remaining(100n), 40n)
  assert.equal(remaining(60n), 0n)
  assert.equal(remaining(10n), 0n, 'a limit may be lowered below what is spent')
  assert.equal(remaining(null), null)
})

test('a period closes with its figures, and the next begins at zero', () => {
  const figures = { spent: 70n, held: 20n, overrun: 5n, grantedLimit: 130n }
  const account = sampleAccount({
    ...figures,
    limit: 100n,
    topUp: 30n,
    period: 'day',
    periodSeq: 4,
    periodStartsAt: NOON - 1,
    periodEndsAt: MIDNIGHT,
  })
  const running = structuredClone(account)
  assert.equal(openPeriod(account, MIDNIGHT - 1), undefined)
  assert.deepEqual(account, running, 'it is not over yet')
  assert.deepEqual(openPeriod(account, MIDNIGHT), {
    ...figures,
    accountId: account.id,
    seq: 4,
    startsAt: NOON - 1,
    endsAt: MIDNIGHT,
    limit: 130n,
  })
  assert.deepEqual(account, {
    ...running,
    topUp: 0n,
    spent: 0n,
    held: 0n,
    overrun: 0n,
    grantedLimit: 0n,
    periodSeq: 5,
    periodStartsAt: MIDNIGHT,
    periodEndsAt: MIDNIGHT + DAY_MS,
  })
})

test('after idle days the open period is today’s, and the previous one keeps its own end', () => {
  const account = sampleAccount({ period: 'day', periodEndsAt: MIDNIGHT })
  const later = MIDNIGHT + 3 * DAY_MS
  assert.equal(openPeriod(account, later + 1)?.endsAt, MIDNIGHT)
  const { periodSeq, periodStartsAt, periodEndsAt } = account
  assert.deepEqual([periodSeq, periodStartsAt, periodEndsAt], [2, later, later + DAY_MS])
})

test('neither an unused account nor one without an end closes a period', () => {
  const unused = sampleAccount({ period: 'day', periodSeq: 0, periodEndsAt: 0 })
  assert.equal(openPeriod(unused, NOON), undefined)
  assert.deepEqual([unused.periodSeq, unused.periodEndsAt], [1, MIDNIGHT])
  const endless = sampleAccount({})
  assert.equal(openPeriod(endless, NOON), undefined)
  assert.equal(endless.periodSeq, 1)
})

test('balances report what remains of each limit of a key', () => {
  const rateWindow = unpackWindow('', NOON)
  for (const tokens of [5, 8]) countAdmission(rateWindow, NOON, tokens)
  const told = (limits: Partial<ReturnType<typeof sampleAccount>>) => {
    const key = sampleAccount({ ...limits, rateWindow, inFlight: 2 })
    const { requests, tokens, concurrency } = balancesOf(key, sampleAccount({ id: 'frame' }), NOON)
    return { requests, tokens, concurrency }
  }
  const resetsAt = NOON + 61_000
  assert.deepEqual(told({ rpm: 3, tpm: 10, concurrency: 4 }), {
    requests: { limit: 3, remaining: 1, resetsAt },
    tokens: { limit: 10, remaining: 0, resetsAt },
    concurrency: { limit: 4, inFlight: 2 },
  })
  const concurrency = { limit: null, inFlight: 2 }
  assert.deepEqual(told({ tpm: 20 }), {
    requests: null,
    tokens: { limit: 20, remaining: 7, resetsAt },
    concurrency,
  })
  assert.deepEqual(told({}), { requests: null, tokens: null, concurrency })
})
