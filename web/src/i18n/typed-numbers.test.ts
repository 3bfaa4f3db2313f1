// Typed amounts and counts are read by each language's rules, or refused with a message.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import de from './de.json' with { type: 'json' }
import en from './en.json' with { type: 'json' }
import { formatFor, separatorsOf } from './format.ts'
import { textsOf } from './i18n.ts'
import { amountProblem, readAmount, readCount, typedAmount } from './typed-numbers.ts'

describe('amounts', () => {
  for (const [locale, typed, amount] of [
    ['en', '12.50', '12.50'],
    ['en', ' 0 ', '0'],
    ['en', '1,000', '1000'],
    ['en', '1,000.50', '1000.50'],
    ['en', '9,000,000', '9000000'],
    ['en', '1 000', '1000'],
    ['en', "1'000", '1000'],
    ['en', '1.000', '1.000'],
    ['en', '0.000000001', '0.000000001'],
    ['de', '12,5', '12.5'],
    ['de', '1.000', '1000'],
    ['de', '1.000,50', '1000.50'],
    ['de', '1\u202f000,50', '1000.50'],
    ['de-AT', '1.000,50', '1000.50'],
    ['de-CH', '1’000.50', '1000.50'],
    ['en-IN', '90,00,000', '9000000'],
    ['en-IN', '1,00,000.50', '100000.50'],
    ['en-IN', '9,000,000', '9000000'],
    ['en-IN', '100,000', '100000'],
  ] as const)
    test(`"${typed}" in ${locale} is ${amount}`, () =>
      assert.equal(readAmount(typed, separatorsOf(locale)), amount))

  for (const [locale, typed, problem] of [
    ['en', '', 'Enter an amount'],
    ['en', '-5', 'An amount cannot be below 0.'],
    ['en', '9,000,000.01', 'An amount can be at most $9,000,000.00.'],
    ['en', '99999999999999999999', 'An amount can be at most $9,000,000.00.'],
    ['en', 'abc', 'such as 12.50 or 1,000'],
    ['en', '12.50 €', 'such as 12.50 or 1,000'],
    ['en', '1e3', 'such as 12.50 or 1,000'],
    ['en', '1,00', 'such as 12.50 or 1,000'],
    ['en', '12,5', 'such as 12.50 or 1,000'],
    ['en', '0,125', 'such as 12.50 or 1,000'],
    ['en', '90,00,000', 'such as 12.50 or 1,000'],
    ['en-IN', '1,00,00', 'such as 12.50 or 1,000'],
    ['en-IN', '100,00,000', 'such as 12.50 or 1,000'],
    ['en', '1000,000', 'such as 12.50 or 1,000'],
    ['en', '1.000,50', 'such as 12.50 or 1,000'],
    ['en', '0.1234567891', 'such as 12.50 or 1,000'],
    ['en-ZA', '1.000', 'such as 12,50 or'],
    ['de', '1.00', 'etwa 12,50 oder 1.000'],
    ['de', '0.125', 'etwa 12,50 oder 1.000'],
    ['de', '1,000.50', 'etwa 12,50 oder 1.000'],
    ['de', '-5', 'Ein Betrag kann nicht unter 0 liegen.'],
    ['de-CH', '1,000', 'etwa 12.50 oder'],
  ] as const)
    test(`"${typed}" in ${locale} is refused`, () => {
      const { t } = locale.startsWith('de') ? textsOf('de', de) : textsOf('en', en)
      const format = formatFor(locale)
      assert.equal(readAmount(typed, format.separators), undefined)
      const said = amountProblem(typed, { t, format }) ?? ''
      assert.ok(said.includes(problem), said)
    })

  for (const locale of ['en', 'de', 'de-AT', 'de-CH', 'en-ZA'])
    test(`a field in ${locale} starts with text that it reads back`, () => {
      const separators = separatorsOf(locale)
      assert.equal(readAmount(typedAmount('1.125', separators), separators), '1.125')
    })
})

describe('counts', () => {
  for (const [locale, typed, count] of [
    ['en', '60', 60],
    ['en', '100 000', 100_000],
    ['en', '100,000', 100_000],
    ['de', '100.000', 100_000],
    ['en', '1000000000', 1_000_000_000],
    ['en', '999999999999', undefined],
    ['en', '1.5', undefined],
    ['en', '1.000', undefined],
    ['de', '1.5', undefined],
    ['de', '1,5', undefined],
    ['en', '0', undefined],
    ['en', '-5', undefined],
    ['en', 'many', undefined],
  ] as const)
    test(`"${typed}" in ${locale} is ${count ?? 'no count'}`, () =>
      assert.equal(readCount(typed, separatorsOf(locale)), count))
})
