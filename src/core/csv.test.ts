// A spreadsheet shows every value as it is, and runs none, whichever separator its language expects.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { csvText } from './csv.ts'

for (const [value, written] of [
  ['plain', 'plain'],
  [null, ''],
  [-1, "'-1"],
  ['a,b', '"a,b"'],
  ['say "a"', '"say ""a"""'],
  ['=1+1', "'=1+1"],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@a', "'@a"],
  ['＝1+1', "'＝1+1"],
  ['\t=1', "\t'=1"],
  ['a;=1+1', "a;'=1+1"],
  ['a; "=1', '"a; ""\'=1"'],
  ['a\n=1', '"a\n\'=1"'],
  ['a-b=c', 'a-b=c'],
] as const)
  test(`${JSON.stringify(value)} is written as ${JSON.stringify(written)}`, () => {
    assert.equal(csvText(['name'], [[value]]), `name\n${written}`)
  })
