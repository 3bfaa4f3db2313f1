// What became of a delivery is told in the reader's language; why a connection failed, as the gateway found it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import de from '../../i18n/de.json' with { type: 'json' }
import { textsOf } from '../../i18n/texts.ts'
import { resultWords } from './alert-words.ts'

for (const [result, told] of [
  ['answered 200', 'Der Empfänger hat mit Status 200 geantwortet.'],
  ['answered 503', 'Der Empfänger hat mit Status 503 geantwortet.'],
  ['taken by the mail server', 'Der Mailserver hat sie angenommen.'],
  ['there is no host of this name (a.test)', 'there is no host of this name (a.test)'],
] as const)
  test(`${result}: ${told}`, () => {
    assert.equal(resultWords(result, textsOf('de', de).t), told)
  })
