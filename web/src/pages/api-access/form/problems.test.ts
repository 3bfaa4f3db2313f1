// What the key form refuses before calling the gateway, and what it only warns about: no value is changed silently.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import en from '../../../i18n/en.json' with { type: 'json' }
import { formatFor } from '../../../i18n/format.ts'
import { textsOf } from '../../../i18n/texts.ts'
import { budgetWarning } from './budget-warning.ts'
import { emptyValues } from './form-values.ts'
import type { KeyFormValues } from './form-values.ts'
import { problemsOf } from './problems.ts'

const now = Date.UTC(2026, 10, 15, 12)
const words = { ...textsOf('en', en), format: formatFor('en') }
const good = { ...emptyValues('UTC'), name: 'demo', models: ['sandbox-chat'], budget: '1,000' }

test('a valid form has no problem', () => assert.deepEqual(problemsOf(good, words, now), {}))

const count = 'Enter a whole number from 1 to 1,000,000,000, or leave it empty for no limit.'
for (const [field, value, problem] of [
  ['name', 'x'.repeat(5_000), 'At most 200 characters: this has 5,000.'],
  ['owner', 'x'.repeat(201), 'At most 200 characters: this has 201.'],
  ['description', 'x'.repeat(2_001), 'At most 2,000 characters: this has 2,001.'],
  ['tags', ['x'.repeat(201)], 'At most 200 characters: this has 201.'],
  ['tags', Array.from({ length: 51 }, String), 'At most 50 tags.'],
  ['rpm', '1.5', count],
  ['tpm', '999999999999', count],
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
