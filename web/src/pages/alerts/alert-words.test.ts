// Delivery results read in the reader's language; an unknown text is shown as it came.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import de from '../../i18n/de.json' with { type: 'json' }
import { textsOf } from '../../i18n/i18n.ts'
import { resultWords } from './alert-words.ts'

for (const [result, told] of [
  ['answered 200', 'Der Empfänger hat mit Status 200 geantwortet.'],
  ['answered 503', 'Der Empfänger hat mit Status 503 geantwortet.'],
  ['taken by the mail server', 'Der Mailserver hat sie angenommen.'],
  ['something new', 'something new'],
] as const)
  test(`${result}: ${told}`, () => {
    assert.equal(resultWords(result, textsOf('de', de).t), told)
  })
