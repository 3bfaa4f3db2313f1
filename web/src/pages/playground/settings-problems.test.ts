// What the playground refuses before it calls the gateway, by field.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import en from '../../i18n/en.json' with { type: 'json' }
import { formatFor } from '../../i18n/format.ts'
import { textsOf } from '../../i18n/i18n.ts'
import { readTemperature, settingsProblems } from './settings-problems.ts'

const words = { ...textsOf('en', en), format: formatFor('en') }

for (const [maxTokens, temperature, fields] of [
  ['512', '', []],
  ['', '0.7', []],
  ['0', '', ['maxTokens']],
  ['1.5', '', ['maxTokens']],
  ['many', '2.1', ['maxTokens', 'temperature']],
  ['512', '0,7', ['temperature']],
  ['512', '-1', ['temperature']],
] as const)
  test(`"${maxTokens}" tokens at "${temperature}" have problems in: ${fields.join(', ') || 'none'}`, () =>
    assert.deepEqual(
      Object.keys(settingsProblems({ system: '', maxTokens, temperature }, words)),
      fields,
    ))

test('a temperature is read by the rules of the language', () => {
  assert.equal(readTemperature('0,7', formatFor('de').separators), 0.7)
})
