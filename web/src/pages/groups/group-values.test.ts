// A group passes through the form unchanged, and only the fields that were touched are sent.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { GroupDetail } from '../../../../src/admin/contract/groups.ts'
import en from '../../i18n/en.json' with { type: 'json' }
import { formatFor, separatorsOf } from '../../i18n/format.ts'
import { textsOf } from '../../i18n/i18n.ts'
import { foundGroups } from './group-list.ts'
import {
  emptyGroup,
  groupChangeOf,
  groupOf,
  groupProblems,
  groupValuesOf,
  type GroupValues,
} from './group-values.ts'

const separators = separatorsOf('de')
const words = { ...textsOf('en', en), format: formatFor('en') }

const noRules: GroupDetail['key_rules'] = {
  ...{ self_service: false, budget_max: null, days_max: null, keys_max: null },
  ...{ environments: null, rpm_max: null, tpm_max: null, concurrency_max: null },
}

const group: GroupDetail = {
  ...{ id: 'grp_1', name: 'search', description: null, status: 'active', version: '3' },
  ...{ budget: '200.5', period: 'month', timezone: 'Europe/Berlin', week_start: 'mon' },
  ...{ top_up: '0', limit: '200.5', spent: '20', held: '0', remaining: '180.5', resets_at: null },
  window: {
    ...{ budget: '10', limit: '15', period: 'day', starts_at: '2026-11-18T00:00:00Z' },
    ...{ spent: '1', held: '0', remaining: '14', resets_at: null },
  },
  ...{ request_cost_max: '0.5', rpm: 600, tpm: null, concurrency: null, models: ['b', 'a'] },
  key_rules: { ...noRules, budget_max: { budget: '5', period: 'week' }, environments: ['test'] },
  ...{ allocated: '0', keys: 2, members: 1, created_at: '2026-11-01T00:00:00Z' },
  ...{ period_starts_at: null, forecast: null, history: [], keys_without_models: [] },
}

const changed = (change: Partial<GroupValues>) =>
  groupChangeOf(group, { ...groupValuesOf(group, separators), ...change }, separators)

test('an untouched group is not changed, whatever its figures are', () => {
  assert.deepEqual(changed({}), {})
})

test('another spelling of the same value is no change', () => {
  assert.deepEqual(
    changed({ budget: '200,50', window: '10,00', request_cost_max: '0,50', models: ['a', 'b'] }),
    {},
  )
})

test('only what was touched is sent, of the rules too', () => {
  assert.deepEqual(
    changed({
      ...{ hasOwnLimit: false, windowPeriod: 'week', request_cost_max: '', hasCeiling: false },
      ...{ keys_max: '3', environments: [], budget_max: '7' },
    }),
    {
      budget: null,
      window: { budget: '10', period: 'week' },
      request_cost_max: null,
      models: null,
      key_rules: {
        keys_max: 3,
        environments: null,
        budget_max: { budget: '7', period: 'week' },
      },
    },
  )
  assert.deepEqual(changed({ hasWindow: false }), { window: null })
})

test('a new group has no second window, no ceiling and no rules', () => {
  const made = groupOf({ ...emptyGroup('UTC'), name: ' a ', budget: '1' }, separators)
  assert.deepEqual(
    [made.name, made.budget, made.window, made.models, made.key_rules],
    ['a', '1', null, null, noRules],
  )
})

const good = { ...emptyGroup('UTC'), name: 'a', budget: '1' }
for (const [given, field] of [
  [{ name: ' ' }, 'name'],
  [{ hasWindow: true, window: '' }, 'window'],
  [{ hasWindow: true, window: '1', windowPeriod: 'month' }, 'windowPeriod'],
  [{ request_cost_max: '0' }, 'request_cost_max'],
  [{ request_cost_max: 'x' }, 'request_cost_max'],
  [{ hasBudgetMax: true }, 'budget_max'],
  [{ days_max: '1.5' }, 'days_max'],
  [{ environments: ['x'.repeat(201)] }, 'environments'],
] satisfies readonly (readonly [Partial<GroupValues>, keyof GroupValues])[])
  test(`${JSON.stringify(given).slice(0, 60)} is a problem of ${field}`, () =>
    assert.deepEqual(Object.keys(groupProblems({ ...good, ...given }, words)), [field]))

test('what does not show is no problem', () => {
  const hidden = { window: 'x', windowPeriod: 'month', budget_max: 'x' } as const
  assert.deepEqual(groupProblems({ ...good, ...hidden }, words), {})
})

test('groups are found by name, description and status, and sorted by what is used of their budget', () => {
  const other = { ...group, id: 'grp_2', name: 'Billing', description: 'night jobs', limit: null }
  const archived = { ...group, id: 'grp_3', name: 'old', status: 'archived' } as const
  const all = [group, other, archived]
  const found = (asked: Partial<Parameters<typeof foundGroups>[1]>) =>
    foundGroups(all, { sort: 'name', order: 'asc', ...asked }).map(({ name }) => name)
  assert.deepEqual(found({}), ['Billing', 'old', 'search'])
  assert.deepEqual(found({ search: 'NIGHT' }), ['Billing'])
  assert.deepEqual(found({ status: 'archived' }), ['old'])
  assert.deepEqual(found({ sort: 'percent', order: 'desc' }), ['old', 'search', 'Billing'])
})
