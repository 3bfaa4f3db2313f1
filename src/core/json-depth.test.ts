// How deep JSON is, by its brackets alone; those inside strings do not count.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { DEPTH_MAX, isShallow } from './json-depth.ts'

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
] as const)
  test(what, () => assert.equal(isShallow(text), expected))
