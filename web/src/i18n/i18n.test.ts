// Texts hold values and plural forms; an unknown name yields nothing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { textsOf } from './i18n.ts'
import type { Catalogue } from './languages.ts'

const catalogue = {
  greeting: 'Hello {{name}}, {{name}}!',
  keys: { count_one: '{{count}} key', count_other: '{{count}} keys', plain: 'Keys' },
} as unknown as Catalogue

for (const { key, values, text } of [
  { key: 'greeting', values: { name: '<b>{{x}}</b>' }, text: 'Hello <b>{{x}}</b>, <b>{{x}}</b>!' },
  { key: 'greeting', values: {}, text: 'Hello , !' },
  { key: 'keys.count', values: { count: 1 }, text: '1 key' },
  { key: 'keys.count', values: { count: 0 }, text: '0 keys' },
  { key: 'keys.count', values: { count: 1_530 }, text: '1,530 keys' },
  { key: 'keys.plain', values: { count: 2 }, text: 'Keys' },
  { key: 'keys', values: {}, text: undefined },
  { key: 'keys.unknown', values: { count: 2 }, text: undefined },
  { key: 'constructor', values: {}, text: undefined },
])
  test(`${key} with ${JSON.stringify(values)} is ${text}`, () => {
    assert.equal(textsOf('en', catalogue).find(key, values), text)
  })
