// The state on a key's badge, and the forecast of its budget, from the figures alone.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Catalog } from '../../catalog/models.ts'
import type { AccountView } from '../../store/accounts/accounts.ts'
import type { Frame } from '../../store/frame.ts'
import type { Key } from '../../store/keys/keys.ts'
import type { ShownSecrets } from '../../store/keys/secrets.ts'
import { frameAnswerOf, keyRowOf } from './form.ts'

const DAY_MS = 86_400_000
const NOW = Date.UTC(2026, 10, 16)
const USD = 1_000_000_000n

const account: AccountView = {
  period: 'month',
  timezone: 'UTC',
  weekStart: 'mon',
  limitNanodollars: null,
  remainingNanodollars: null,
  spentNanodollars: 0n,
  heldNanodollars: 0n,
  topUpNanodollars: 0n,
  window: null,
  modelBudgets: [],
  requestCostMaxNanodollars: null,
  rpm: null,
  tpm: null,
  concurrency: null,
  periodStartsAt: Date.UTC(2026, 10, 1),
  resetsAt: Date.UTC(2026, 11, 1),
}

const frame: Frame = {
  ...account,
  limitNanodollars: 100n * USD,
  remainingNanodollars: 100n * USD,
  periodSeq: 3,
  version: 1,
}

const key: Key = {
  ...account,
  ...{ id: 'key_1', name: 'one', mode: 'live', status: 'active', whenTight: 'cap' },
  ...{ environment: null, owner: null, description: null, tags: [], models: ['m'] },
  ...{ permissions: [], createdAt: 0, expiresAt: null, lastUsedAt: null },
  ...{ alertThresholds: [50], expiryReminders: [1] },
  ...{ revokedAt: null, revokedReason: null, pausedBy: null, allowVersion: 1, version: 1 },
  ...{ groupId: null, group: null, groupVersion: 0, ownerPersonId: null, ownerPerson: null },
  ...{ framePeriodSeq: 3, frameSpentNanodollars: 0n },
  limitNanodollars: 10n * USD,
  remainingNanodollars: 10n * USD,
}

const catalog: Catalog = {
  get: () => undefined,
  list: () => [],
  aliases: new Map(),
  changesAt: null,
}
const rotating: ShownSecrets = {
  masked: 'new',
  lastUsedAt: null,
  old: { masked: 'old', validUntil: NOW + 1, lastUsedAt: null },
}
const exhausted: Partial<Key> = { spentNanodollars: 10n * USD, remainingNanodollars: 0n }
const noFrame: Partial<Frame> = { remainingNanodollars: 0n }
const noWindow: Pick<AccountView, 'window'> = {
  window: { ...account, period: 'day', limitNanodollars: USD, remainingNanodollars: 0n },
}

type Around = {
  readonly frame?: Partial<Frame>
  readonly isGroupExhausted?: boolean
  readonly secrets?: ShownSecrets
}

function rowOf(given: Partial<Key>, around: Around) {
  const { secrets, isGroupExhausted = false } = around
  const beside = {
    scope: 'everywhere',
    frame: { ...frame, ...around.frame },
    isGroupExhausted,
    catalog,
    secrets,
    refusedWith: undefined,
    now: NOW,
  } as const
  return keyRowOf({ ...key, ...given }, beside, [])
}

describe('the state of a key is the first that is true', () => {
  for (const [state, given, around] of [
    ['active', {}, {}],
    ['revoked', { status: 'revoked', ...exhausted }, { frame: noFrame }],
    ['expired', { status: 'expired' }, { frame: noFrame }],
    ['paused', { status: 'paused' }, { frame: noFrame }],
    ['frame_exhausted', exhausted, { frame: noFrame, isGroupExhausted: true }],
    ['frame_exhausted', {}, { frame: noWindow }],
    ['group_exhausted', exhausted, { isGroupExhausted: true }],
    ['paused', { status: 'paused' }, { isGroupExhausted: true }],
    ['budget_exhausted', exhausted, { secrets: rotating }],
    ['budget_exhausted', noWindow, { secrets: rotating }],
    ['rotating', {}, { secrets: rotating }],
    ['expires_soon', { expiresAt: NOW + DAY_MS }, { secrets: rotating }],
    ['expires_soon', { expiresAt: NOW + 7 * DAY_MS, spentNanodollars: 9n * USD }, {}],
    ['budget_high', { spentNanodollars: 9n * USD }, { secrets: rotating }],
    ['budget_high', { expiresAt: NOW + 8 * DAY_MS, spentNanodollars: 8n * USD }, {}],
    ['budget_high', { spentNanodollars: 7n * USD, heldNanodollars: 1n * USD }, {}],
    ['active', { spentNanodollars: 8n * USD - 1n }, {}],
    [
      'active',
      { limitNanodollars: null, remainingNanodollars: null, spentNanodollars: 99n * USD },
      {},
    ],
    ['active', { mode: 'test', ...exhausted, spentNanodollars: 0n }, { frame: noFrame }],
    ['active', { mode: 'test' }, { isGroupExhausted: true }],
  ] as const)
    test(`${state}: ${JSON.stringify(Object.keys(given))}`, () => {
      assert.equal(rowOf(given, around).state, state)
    })
})

describe('a key within the frame', () => {
  for (const [left, binds] of [
    [9n * USD, true],
    [10n * USD, false],
  ] as const)
    test(`with ${left} left in the frame it ${binds ? 'binds' : 'does not bind'}`, () => {
      assert.equal(rowOf({}, { frame: { remainingNanodollars: left } }).frame_binds, binds)
    })

  test('its share is of the limit including the top-up', () => {
    const spent = { frameSpentNanodollars: 3n * USD }
    const row = rowOf(spent, { frame: { topUpNanodollars: 20n * USD } })
    assert.equal(row.frame_share, 0.025)
  })

  test('its share is what it spent in the frame’s period, not in its own or an earlier one', () => {
    const spent = { spentNanodollars: 9n * USD, frameSpentNanodollars: 5n * USD }
    assert.equal(rowOf(spent, {}).frame_share, 0.05)
    assert.equal(rowOf({ ...spent, framePeriodSeq: 2 }, {}).frame_share, 0)
    assert.equal(rowOf(spent, { frame: { periodSeq: null } }).frame_share, 0)
  })

  test('the smallest spending is a share above zero', () => {
    assert.ok((rowOf({ frameSpentNanodollars: 1n }, {}).frame_share ?? 0) > 0)
  })

  test('unavailable models are counted, except for a test key', () => {
    assert.equal(rowOf({}, {}).unavailable_model_count, 1)
    assert.equal(rowOf({ mode: 'test' }, {}).unavailable_model_count, 0)
  })
})

describe('the forecast follows the pace so far', () => {
  const forecast = (spent: bigint, more: Partial<Frame> = {}) =>
    frameAnswerOf({ ...frame, spentNanodollars: spent, ...more }, 0n, NOW).forecast

  // Half of the month is over.
  test('half-way through the period, the forecast is twice the spending', () => {
    assert.deepEqual(forecast(40n * USD), { spent_at_reset: '80', exhausted_at: null })
  })
  test('a budget that will run out early has a date of exhaustion', () => {
    const exhausted_at = new Date(
      Date.UTC(2026, 10, 1) + 12.5 * DAY_MS + 6.25 * DAY_MS,
    ).toISOString()
    assert.deepEqual(forecast(80n * USD), { spent_at_reset: '160', exhausted_at })
  })
  for (const [why, spent, more] of [
    ['nothing was spent', 0n, {}],
    ['all is spent already', 100n * USD, {}],
    ['the period has only begun', USD, { periodStartsAt: NOW - 1_000 }],
    ['the period never ends', USD, { resetsAt: null }],
  ] as const)
    test(`none when ${why}`, () => assert.equal(forecast(spent, more), null))
})
