// Axis marks are readable: round, whole for counts, and no two look the same.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatFor } from '../i18n/format.ts'
import { marksOf } from './scale.ts'

for (const [most, isWhole, marks] of [
  [0, true, [0, 1]],
  [1, true, [0, 1]],
  [3, true, [0, 1, 2, 3]],
  [7, true, [0, 2, 4, 6, 8]],
  [10, true, [0, 5, 10]],
  [970, true, [0, 250, 500, 750, 1_000]],
  [0, false, [0, 1]],
  [1.9, false, [0, 0.5, 1, 1.5, 2]],
  [0.000_92, false, [0, 0.000_25, 0.000_5, 0.000_75, 0.001]],
] as const)
  test(`the marks up to ${most} ${isWhole ? 'items' : 'dollars'} are round`, () =>
    assert.deepEqual(marksOf(most, isWhole), marks))

test('no two marks look the same, and the highest is never below the most', () => {
  const { moneyRow, compact } = formatFor('de')
  for (let power = -9; power < 7; power += 1)
    for (let digits = 1; digits < 10; digits += 0.1) {
      const most = digits * 10 ** power
      const costs = marksOf(most, false)
      const counts = marksOf(Math.ceil(most), true)
      assert.ok((costs.at(-1) ?? 0) >= most)
      for (const [marks, words] of [
        [costs, moneyRow(costs.map((mark) => mark.toFixed(12)))],
        [counts, counts.map(compact)],
      ] as const) {
        assert.equal(new Set(words).size, marks.length, `${most}: ${words.join(', ')}`)
        assert.ok(marks.length <= 5)
      }
    }
})
