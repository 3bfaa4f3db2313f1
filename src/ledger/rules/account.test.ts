// What the rows of accounts say: what is left of their limits, and when a period ends and the next begins.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sampleAccount } from '../../../test/samples/ledger-rows.ts'
import { DAY_MS } from '../../core/units.ts'
import { capOf, newBudget, remainingOf } from '../../store/accounts/budgets.ts'
import { balancesOf, leastRemaining, openPeriod } from './account.ts'
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
  assert.equal(openPeriod(account, account, MIDNIGHT - 1), undefined)
  assert.deepEqual(account, running, 'it is not over yet')
  assert.deepEqual(openPeriod(account, account, MIDNIGHT), {
    ...figures,
    accountId: account.id,
    budget: '',
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
  assert.equal(openPeriod(account, account, later + 1)?.endsAt, MIDNIGHT)
  const { periodSeq, periodStartsAt, periodEndsAt } = account
  assert.deepEqual([periodSeq, periodStartsAt, periodEndsAt], [2, later, later + DAY_MS])
})

test('an unused account begins its first period, one without an end stays in its own', () => {
  const unused = sampleAccount({ period: 'day', periodSeq: 0, periodEndsAt: 0 })
  // Its number says that it never was one.
  assert.equal(openPeriod(unused, unused, NOON)?.seq, 0)
  assert.deepEqual([unused.periodSeq, unused.periodEndsAt], [1, MIDNIGHT])
  const endless = sampleAccount({})
  assert.equal(openPeriod(endless, endless, NOON), undefined)
  assert.equal(endless.periodSeq, 1)
})

test('balances report what remains of each limit of a key', () => {
  const rateWindow = unpackWindow('', NOON)
  for (const tokens of [5, 8]) countAdmission(rateWindow, NOON, tokens)
  const told = (limits: Partial<ReturnType<typeof sampleAccount>>) => {
    const key = sampleAccount({ ...limits, rateWindow, inFlight: 2 })
    const { requests, tokens, concurrency } = balancesOf(
      { key, group: null, frame: sampleAccount({ id: 'frame' }) },
      NOON,
    )
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

test('a further budget rolls by its own period, in the time zone of its account', () => {
  const account = sampleAccount({ period: 'never', timezone: 'Asia/Kolkata' })
  const rule = { period: 'day', timezone: 'Asia/Kolkata', weekStart: 'mon' } as const
  const window = newBudget({ name: 'window', limit: 9n, periodSeq: 3 }, rule, NOON)
  const ends = Date.UTC(2026, 10, 15, 18, 30)
  assert.deepEqual([window.periodStartsAt, window.periodEndsAt], [NOON, ends])
  assert.equal(openPeriod(account, window, ends - 1), undefined)
  const { budget, seq, endsAt } = openPeriod(account, window, ends) ?? {}
  assert.deepEqual([budget, seq, endsAt], ['window', 3, ends])
  assert.deepEqual([window.periodSeq, window.periodEndsAt], [4, ends + DAY_MS])
})

test('balances have every leg, and the least of them is what is left for a call', () => {
  const rule = { period: 'day', timezone: 'UTC', weekStart: 'mon' } as const
  const further = (name: 'window' | `model:${string}`, limit: bigint) =>
    newBudget({ name, limit, periodSeq: 1 }, rule, NOON)
  const key = sampleAccount({
    limit: 90n,
    groupId: 'grp_a',
    budgets: [further('window', 80n), further(capOf('m'), 10n), further(capOf('n'), 70n)],
  })
  const group = sampleAccount({
    id: 'grp_a',
    limit: 60n,
    rpm: 7,
    budgets: [further('window', 50n)],
  })
  const frame = sampleAccount({ id: 'frame', limit: 40n, budgets: [further('window', 30n)] })
  const balances = balancesOf({ key, group, frame }, NOON)
  const { key: main, keyWindow, models, group: ofGroup, groupWindow } = balances
  assert.deepEqual(
    [main, keyWindow, ...models, ofGroup, groupWindow, balances.frame, balances.frameWindow].map(
      (leg) => leg?.remainingNanodollars,
    ),
    [90n, 80n, 10n, 70n, 60n, 50n, 40n, 30n],
  )
  assert.deepEqual([balances.groupId, balances.groupRates?.requests?.limit], ['grp_a', 7])
  assert.equal(leastRemaining(balances, 'm'), 10n)
  assert.equal(leastRemaining(balances, 'n'), 30n)
  const alone = balancesOf({ key: sampleAccount({}), group: null, frame: sampleAccount({}) }, NOON)
  assert.equal(leastRemaining(alone, 'm'), null)
})
