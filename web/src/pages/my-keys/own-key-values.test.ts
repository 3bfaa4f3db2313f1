// A key of one's own begins as large as the rules of its group allow, and sends nothing that they refuse.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OwnGroup } from '../../../../src/admin/contract/people.ts'
import { lifetimesOf, ownKeyOf, startValues } from './own-key-values.ts'

const separators = { decimal: '.', group: ',', groupDigits: 3 }
const german = { decimal: ',', group: '.', groupDigits: 3 }
const now = Date.parse('2026-11-18T00:00:00Z')

const rules = {
  ...{ self_service: true, days_max: 60, keys_max: 3, environments: ['dev', 'test'] },
  ...{ budget_max: { budget: '12.5', period: 'week' as const } },
  ...{ rpm_max: 60, tpm_max: null, concurrency_max: 2 },
}
const group: OwnGroup = {
  ...{ id: 'grp_1', name: 'search', description: null, status: 'active', own_keys: 0 },
  ...{ role: { id: 'member', name: 'Member' }, may_create_keys: true, models: ['small'] },
  ...{ key_rules: rules, remaining: null, resets_at: null },
}
const free: OwnGroup = { ...group, key_rules: null, models: null }

test('the rules are where it begins', () => {
  assert.deepEqual(startValues(group, german), {
    ...{ name: '', environment: 'dev', models: ['small'], budget: '12,5', period: 'week' },
    days: '60',
  })
  assert.deepEqual(lifetimesOf(group), ['7', '30', '60'])
})

test('without rules everything is offered', () => {
  assert.equal(startValues(free, separators).days, '90')
  assert.deepEqual(lifetimesOf(free), ['7', '30', '90', '365', ''])
})

test('it is sent once everything that is needed is there', () => {
  const values = startValues(group, separators)
  assert.equal(ownKeyOf(group, values, { now, separators }), undefined)
  assert.deepEqual(ownKeyOf(group, { ...values, name: ' mine ' }, { now, separators }), {
    ...{ name: 'mine', group: 'grp_1', models: ['small'], budget: '12.5', period: 'week' },
    ...{ environment: 'dev', expires_at: '2027-01-17T00:00:00.000Z' },
    ...{ rpm: 60, tpm: null, concurrency: 2 },
  })
  const wrong = { ...values, name: 'mine', budget: 'much' }
  assert.equal(ownKeyOf(group, wrong, { now, separators }), undefined)
})
