// Text on a terminal is aligned, and cannot control the terminal.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { block, moment, relativeTime, table, usd } from './output.ts'

const now = Date.UTC(2026, 10, 15, 12)

describe('text for people', () => {
  test('a table is as wide as it needs to be', () => {
    const rows = [
      { name: 'a', count: '1' },
      { name: 'longer', count: '1,000' },
    ]
    assert.deepEqual(
      table(rows, [
        ['NAME', (row) => row.name],
        ['COUNT', (row) => row.count, 'right'],
      ]).split('\n'),
      ['NAME    COUNT', 'a           1', 'longer  1,000'],
    )
  })

  test('a block aligns its values', () => {
    assert.equal(
      block([
        ['id', 'x'],
        ['status', 'active'],
      ]),
      '  id      x\n  status  active',
    )
  })

  test('wide characters do not shift what follows', () => {
    const rows = table(
      ['商店', 'shop', '🙂', 'cafe\u0301'],
      [
        ['NAME', (name: string) => name],
        ['X', () => 'x'],
      ],
    )
    assert.deepEqual(rows.split('\n').slice(1), ['商店  x', 'shop  x', '🙂    x', 'cafe\u0301  x'])
  })

  test('text from outside cannot control the terminal', () => {
    assert.equal(block([['model', '\u001b[2Jgpt\nx\u202e']]), '  model  �[2Jgpt�x�')
  })

  test('money names its currency', () => {
    assert.deepEqual([usd(1_500_000_000n), usd(null)], ['1.5 USD', 'none'])
  })

  test('a moment is exact and relative', () => {
    assert.equal(moment(Date.UTC(2026, 11, 1), now), '2026-12-01 00:00:00 UTC (in 16 days)')
  })

  const distances: readonly [number, string][] = [
    [0, 'now'],
    [-1_000, '1 second ago'],
    [80_000, 'in 1 minute'],
    [-86_400_000, '1 day ago'],
  ]
  for (const [ms, text] of distances) {
    test(text, () => assert.equal(relativeTime(now + ms, now), text))
  }
})
