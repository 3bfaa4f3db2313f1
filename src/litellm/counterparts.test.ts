// The table of settings in docs/coming-from-litellm.md is the one that the import goes by.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { COUNTERPARTS } from './counterparts.ts'

const WORDS = { taken: 'taken over', needless: 'not needed', left: 'not taken over' } as const

test('docs/coming-from-litellm.md lists every setting with its counterpart', () => {
  const [, tables = ''] = readFileSync('docs/coming-from-litellm.md', 'utf8').split(
    '## Every setting',
  )
  const listed = tables.split('\n').filter((line) => line.startsWith('| `'))
  const told = COUNTERPARTS.map(({ names, is, here }) => {
    const all = names.map((name) => `\`${name}\``).join(', ')
    return `| ${all} | ${WORDS[is]} | ${here} |`
  })
  assert.deepEqual(listed, told)
})

test('no setting is in a section twice', () => {
  const names = COUNTERPARTS.flatMap(({ section, names: all }) =>
    all.map((name) => `${section}.${name}`),
  )
  assert.deepEqual(
    names.filter((name, index) => names.indexOf(name) !== index),
    [],
  )
})
