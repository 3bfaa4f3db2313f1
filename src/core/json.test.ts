// What JSON has inside, by its brackets and colons alone; those inside strings do not count.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEPTH_MAX, isModest } from './json.ts'

const nested = (levels: number, core = ''): string => '['.repeat(levels) + core + ']'.repeat(levels)

for (const [what, text, expected] of [
  ['exactly as deep as allowed', nested(DEPTH_MAX), true],
  ['one level deeper', nested(DEPTH_MAX + 1), false],
  ['objects', `${'{"a":'.repeat(DEPTH_MAX + 1)}1${'}'.repeat(DEPTH_MAX + 1)}`, false],
  ['many arrays side by side', `[${`${nested(DEPTH_MAX - 1)},`.repeat(9)}1]`, true],
  ['brackets in a string', JSON.stringify({ a: '['.repeat(1_000) }), true],
  ['brackets after a quote in a string', JSON.stringify({ a: `"${'['.repeat(1_000)}` }), true],
  ['brackets after a string that ends with a backslash', `["\\\\",${nested(DEPTH_MAX)}]`, false],
  ['never closed', '['.repeat(1_000_000), false],
  ['a string that never ends', `["${'['.repeat(1_000)}`, true],
  ['nothing', '', true],
  ['many objects and lists', `[${'[],{},'.repeat(590_000)}1]`, true],
  ['too many of them', `[${'[],{},'.repeat(610_000)}1]`, false],
  ['many members', `{${'"a":1,'.repeat(1_190_000)}"a":1}`, true],
  ['too many of them in one object', `{${'"a":1,'.repeat(1_210_000)}"a":1}`, false],
  ['colons in a string', JSON.stringify({ a: ':'.repeat(1_210_000) }), true],
] as const)
  test(what, () => assert.equal(isModest(text), expected))
