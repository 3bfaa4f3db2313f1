// A key passes through the form unchanged, and only the fields that were touched are sent.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KeyDetail } from '../../../../../src/admin/contract/keys.ts'
import { budgetWarning } from '../../../base/amounts.ts'
import en from '../../../i18n/en.json' with { type: 'json' }
import { formatFor, separatorsOf } from '../../../i18n/format.ts'
import { textsOf } from '../../../i18n/i18n.ts'
import {
  emptyValues,
  expiryOf,
  keyChangeOf,
  type KeyFormValues,
  newKeyOf,
  problemsOf,
  valuesOf,
} from './form-values.ts'

const now = Date.UTC(2026, 10, 15, 12)
const separators = separatorsOf('de')
const reading = { now, separators }

const key: KeyDetail = {
  id: 'key_00000000000000000000000001',
  name: 'billing production',
  mode: 'live',
  status: 'active',
  state: 'active',
  paused_by: null,
  refused_with: null,
  masked: 'tg_live_…x7Qd',
  old_secret: null,
  group: null,
  environment: 'production',
  owner: null,
  owner_person: null,
  tags: ['eu', 'finance'],
  permissions: ['models', 'chat'],
  budget: '100.00',
  top_up: '0',
  limit: '100.00',
  period: 'month',
  timezone: 'Europe/Berlin',
  week_start: 'mon',
  spent: '0',
  held: '0',
  remaining: '100',
  resets_at: null,
  window: null,
  model_budgets: [],
  request_cost_max: null,
  frame_share: 0,
  frame_binds: false,
  rpm: 60,
  tpm: null,
  concurrency: null,
  created_at: '2026-11-01T00:00:00Z',
  expires_at: '2027-02-15T12:34:56Z',
  last_used_at: null,
  version: '3',
  description: null,
  models: ['b', 'a'],
  callable_models: ['b', 'a'],
  unavailable_models: [],
  closest_models: {},
  when_tight: 'cap',
  alert_thresholds: [50, 80, 100],
  expiry_reminders: [30, 10, 1],
  secret_last_used_at: null,
  period_starts_at: null,
  forecast: null,
  history: [],
  revoked_at: null,
  revoked_reason: null,
}

test('an untouched key is not changed', () => {
  assert.deepEqual(keyChangeOf(key, valuesOf(key, separators), reading), {})
})

test('another spelling of the same value is no change', () => {
  const values = {
    ...valuesOf(key, separators),
    budget: '100',
    models: ['a', 'b'],
    tags: ['finance', 'eu'],
  }
  assert.deepEqual(keyChangeOf(key, values, reading), {})
})

test('only changed fields are sent', () => {
  const values = {
    ...valuesOf(key, separators),
    budget: '150,5',
    rpm: '',
    owner: ' ann@example.com ',
    alert_thresholds: ['90', '50'],
    expiry_reminders: ['1', '10', '30'],
  }
  assert.deepEqual(keyChangeOf(key, values, reading), {
    alert_thresholds: [90, 50],
    budget: '150.5',
    rpm: null,
    owner: 'ann@example.com',
  })
})

test('a key without its own limit sends null, whatever amount was typed before', () => {
  const values = { ...valuesOf(key, separators), hasOwnLimit: false }
  assert.deepEqual(keyChangeOf(key, values, reading), { budget: null })
})

test('a second window is sent whole, and a cost of one request may be left out', () => {
  const values = { ...valuesOf(key, separators), hasWindow: true, window: '5,50' }
  assert.deepEqual(keyChangeOf(key, values, reading), { window: { budget: '5.5', period: 'day' } })
  const further = { ...values, windowPeriod: 'week', request_cost_max: '0,5' } as const
  assert.deepEqual(keyChangeOf(key, further, reading), {
    window: { budget: '5.5', period: 'week' },
    request_cost_max: '0.5',
  })
})

test('a group and caps for models pass through unchanged, and only their changes are sent', () => {
  const cap = {
    model: 'a',
    budget: '4',
    limit: '4',
    period: 'week',
    spent: '0',
    held: '0',
  } as const
  const figures = { remaining: '4', starts_at: '2026-11-16T00:00:00Z', resets_at: null }
  const group = { id: 'grp_1', name: 'search', status: 'active' } as const
  const capped: KeyDetail = { ...key, group, model_budgets: [{ ...cap, ...figures }] }
  const values = valuesOf(capped, separators)
  assert.deepEqual(keyChangeOf(capped, values, reading), {})
  const further = { model: 'b', budget: '1,5', period: 'day' } as const
  const changed = { ...values, group: '', model_budgets: [...values.model_budgets, further] }
  assert.deepEqual(keyChangeOf(capped, changed, reading), {
    group: null,
    model_budgets: [
      { model: 'a', budget: '4', period: 'week' },
      { model: 'b', budget: '1.5', period: 'day' },
    ],
  })
})

test('an invalid list in a hidden field is not sent', () => {
  const hidden = { hasOwnLimit: false, alert_thresholds: ['abc'] }
  const values = { ...valuesOf(key, separators), ...hidden }
  assert.deepEqual(keyChangeOf(key, values, reading), { budget: null })
})

test('a new key has every field', () => {
  const values = { ...emptyValues('UTC'), name: ' demo ', models: ['sandbox-chat'], budget: '1' }
  const created = newKeyOf(values, reading)
  assert.equal(created.name, 'demo')
  assert.equal(created.budget, '1')
  assert.equal(created.owner, null)
  assert.equal(created.environment, null)
  assert.equal(created.mode, 'live')
  assert.equal(created.expires_at, null)
  assert.deepEqual(created.alert_thresholds, [50, 80, 100])
  assert.deepEqual(created.expiry_reminders, [30, 10, 1])
})

test('a lifetime counts from now, and a date lasts until the end of that day', () => {
  const values = emptyValues('UTC')
  assert.equal(expiryOf({ ...values, lifetime: '7' }, now), '2026-11-22T12:00:00.000Z')
  const end = new Date(expiryOf({ ...values, lifetime: 'date', lastDay: '2027-01-31' }, now) ?? '')
  assert.equal(end.getHours(), 23)
  assert.equal(end.getDate(), 31)
  assert.equal(expiryOf({ ...values, lifetime: 'date' }, now), null)
})

test('a key whose last day is not changed expires when it did before', () => {
  const values = valuesOf(key, separators)
  assert.equal(expiryOf(values, now), key.expires_at)
  const later = expiryOf({ ...values, lastDay: '2027-02-16' }, now) ?? ''
  assert.equal(new Date(later).getHours(), 23)
})

// What the key form refuses before calling the gateway, and what it only warns about: no value is changed silently.

const words = { ...textsOf('en', en), format: formatFor('en') }
const good = { ...emptyValues('UTC'), name: 'demo', models: ['sandbox-chat'], budget: '1,000' }

test('a valid form has no problem', () => assert.deepEqual(problemsOf(good, words, now), {}))

const cap = { model: 'a', budget: '1', period: 'day' }
const count = 'Enter a whole number from 1 to 1,000,000,000, or leave it empty for no limit.'
for (const [field, value, problem] of [
  ['name', 'x'.repeat(5_000), 'At most 200 characters: this has 5,000.'],
  ['owner', 'x'.repeat(201), 'At most 200 characters: this has 201.'],
  ['description', 'x'.repeat(2_001), 'At most 2,000 characters: this has 2,001.'],
  ['tags', ['x'.repeat(201)], 'At most 200 characters: this has 201.'],
  ['tags', Array.from({ length: 51 }, String), 'At most 50 tags.'],
  ['rpm', '1.5', count],
  ['tpm', '999999999999', count],
  ['request_cost_max', '0', 'The amount must be above 0.'],
  ['model_budgets', [{ ...cap, model: '' }], 'Choose a model.'],
  ['model_budgets', [cap, cap], 'There are two budgets for a: remove one.'],
  ['model_budgets', [{ ...cap, budget: '-1' }], 'An amount cannot be below 0.'],
  ['budget', '1,00', words.t('form.amount.shape', { example: '12.50', grouped: '1,000' })],
] satisfies readonly (readonly [keyof KeyFormValues, unknown, string])[])
  test(`${field}: ${problem}`, () =>
    assert.deepEqual(problemsOf({ ...good, [field]: value }, words, now), { [field]: problem }))

test('the content of a hidden field is no problem', () => {
  const values: KeyFormValues = {
    ...good,
    ...{ hasOwnLimit: false, budget: '1,00', alert_thresholds: ['abc'] },
    ...{ lifetime: 'never', lastDay: '', expiry_reminders: ['soon'] },
  }
  assert.deepEqual(problemsOf(values, words, now), {})
  const shown = { ...values, hasOwnLimit: true, lifetime: 'date' } as const
  assert.deepEqual(Object.keys(problemsOf(shown, words, now)).toSorted(), [
    'alert_thresholds',
    'budget',
    'expiry_reminders',
    'lastDay',
  ])
})

for (const [amount, warning] of [
  ['0.00', 'With a budget of 0, every call that costs something is refused.'],
  ['5', undefined],
  ['6', 'More than is left in the frame now: $5.00.'],
  ['11', 'More than the whole frame of $10.00: the frame will stop it first.'],
] as const)
  test(`a budget of ${amount} ${warning ? 'shows a warning' : 'shows no warning'}`, () =>
    assert.equal(budgetWarning(amount, words, { limit: '10', remaining: '5' }), warning))
