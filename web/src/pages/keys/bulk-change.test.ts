// The preview of a bulk change says what each value becomes, and where the keys differ.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KeyRow } from '../../../../src/admin/contract/keys.ts'
import en from '../../i18n/en.json' with { type: 'json' }
import { formatFor } from '../../i18n/format.ts'
import { textsOf } from '../../i18n/i18n.ts'
import { type BulkAction, bulkChangeOf, bulkWords } from './bulk-change.ts'

const words = { ...textsOf('en', en), format: formatFor('en-US') }

/** The fields of a key that a bulk change reads. */
function key(has: Partial<KeyRow>): KeyRow {
  const usual = {
    ...{ status: 'active', budget: '5', period: 'month' },
    ...{ expires_at: null, tags: [], model_count: 1 },
  }
  return { ...usual, ...has } as KeyRow
}

function told(action: BulkAction, keys: readonly KeyRow[], value: readonly string[] = []) {
  const change = bulkChangeOf(action, value, words.format.separators)
  const { line, each } = bulkWords(action, keys, {
    ...{ change, words },
    groupNames: new Map([['g', 'search']]),
  })
  const values = [line.before, line.after].filter((value) => value !== '')
  return { line: `${line.label}: ${values.join(' → ')}`, each }
}

for (const { action, has, value, line } of [
  { action: 'budget', has: { budget: '5' }, value: ['8'], line: 'Budget: $5.00 a month → $8.00' },
  { action: 'budget', has: { budget: null }, value: ['0.5'], line: 'Budget: no limit → $0.50' },
  { action: 'budget', has: {}, value: [], line: 'Budget: $5.00 a month → …' },
  { action: 'group', has: { group: null }, value: ['g'], line: 'Group: outside groups → search' },
  {
    action: 'group',
    has: { group: { id: 'g', name: 'search', status: 'active' } },
    value: ['none'],
    line: 'Group: search → outside groups',
  },
  { action: 'group', has: { group: null }, value: [], line: 'Group: outside groups → …' },
  { action: 'pause', has: {}, value: [], line: 'Status: Active → Paused' },
  { action: 'resume', has: { status: 'paused' }, value: [], line: 'Status: Paused → Active' },
  { action: 'revoke', has: {}, value: [], line: 'Status: Active → Revoked' },
] as const)
  test(`${action}: ${line}`, () => {
    const keys = [key(has as Partial<KeyRow>), key(has as Partial<KeyRow>)]
    assert.deepEqual(told(action, keys, value), { line, each: undefined })
  })

for (const { action, has, value, line, now } of [
  { action: 'tag', has: { tags: ['eu'] }, value: ['batch'], line: 'Tags: +batch', now: 'eu' },
  { action: 'add_models', has: {}, value: ['a', 'b'], line: 'Models: +a, +b', now: '1 model' },
  { action: 'remove_models', has: {}, value: ['a'], line: 'Models: −a', now: '1 model' },
] as const)
  test(`${action} shows what each key has, and ${line}`, () => {
    const keys = [key(has as Partial<KeyRow>), key(has as Partial<KeyRow>)]
    assert.deepEqual(told(action, keys, value), { line, each: [now, now] })
  })

test('a preview of keys that differ shows the number of values and the value of each key', () => {
  const keys = [key({}), key({ budget: null }), key({ budget: '5.00', period: 'day' })]
  assert.deepEqual(told('budget', keys, ['8']), {
    line: 'Budget: 3 different values → $8.00',
    each: ['$5.00 a month', 'no limit', '$5.00 a day'],
  })
})

test('an expiry is shown as a date, and a missing one as never', () => {
  const { line } = told('expiry', [key({})], ['2027-01-31'])
  assert.match(line, /^Expires: never → .*2027/)
})
