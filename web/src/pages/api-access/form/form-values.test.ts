// A key passes through the form unchanged, and only the fields that were touched are sent.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KeyDetail } from '../../../../../src/admin/contract/key.ts'
import { separatorsOf } from '../../../i18n/format.ts'
import { emptyValues, expiryOf, keyChangeOf, newKeyOf, valuesOf } from './form-values.ts'

const now = Date.UTC(2026, 10, 15, 12)
const separators = separatorsOf('de')
const reading = { now, separators }

const key: KeyDetail = {
  id: 'key_00000000000000000000000001',
  name: 'billing production',
  mode: 'live',
  status: 'active',
  state: 'active',
  masked: 'tg_live_…x7Qd',
  old_secret: null,
  environment: 'production',
  owner: null,
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
