// A tight budget is not a spent one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { blockedTitle } from './blocked-title.ts'

for (const [status, key, frame, title] of [
  [402, '0.01', '5', 'verdict.tight'],
  [402, null, '0.01', 'verdict.tight'],
  [402, '0', '5', 'verdict.blocked'],
  [402, '0.01', '0', 'verdict.blocked'],
  [403, '5', '5', 'verdict.blocked'],
] as const)
  test(`${status} with ${key ?? 'no limit'} and ${frame} left is ${title}`, () => {
    const left = { key: { remaining: key }, frame: { remaining: frame } }
    assert.equal(blockedTitle({ ...left, blocked_by: { status } }), title)
  })
