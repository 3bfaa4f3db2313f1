// Which name someone may have meant, and when it is better to suggest none.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { closest } from './closest.ts'

const names = ['o3', 'gpt-5', 'gpt-5-mini', 'claude-sonnet-4-6', 'sandbox-chat']

for (const [asked, meant] of [
  ['gpt-5-mni', 'gpt-5-mini'],
  ['GPT-5-Mini', 'gpt-5-mini'],
  ['sandbox-chta', 'sandbox-chat'],
  ['claude-sonnet', 'claude-sonnet-4-6'],
  ['anthropic/claude-sonnet-4-6', 'claude-sonnet-4-6'],
  ['o1', 'o3'],
  ['nope', undefined],
  ['something else entirely', undefined],
  ['', undefined],
] as const)
  test(`"${asked}" suggests ${meant ?? 'nothing'}`, () => {
    assert.equal(closest(asked, names), meant)
  })
