// Rows become bars and totals: no day is missing, "no data" differs from zero, and money is exact.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { UsageRow } from '../../../../src/admin/contract/usage.ts'
import { formatFor } from '../../i18n/format.ts'
import { courseOf, groupOf, keyNamesOf, marksOf, totalsBy } from './figures.ts'

const row = (day: string, model: string, cost: string): UsageRow => ({
  key: null,
  key_name: null,
  group: null,
  group_name: null,
  owner: null,
  environment: null,
  tags: null,
  tag: null,
  model,
  provider: null,
  endpoint: null,
  day,
  hour: null,
  requests: 1,
  failed: 0,
  refused: 0,
  input_tokens: 10,
  cached_tokens: 0,
  cache_write_tokens: 0,
  output_tokens: 5,
  reasoning_tokens: 0,
  cost,
  estimated: 0,
  latency_ms_p50: null,
  latency_ms_p95: null,
  first_token_ms_p50: null,
  first_token_ms_p95: null,
})

const span = {
  since: '2026-11-01T10:00:00Z',
  until: '2026-11-04T00:00:00Z',
  step: 'day',
} as const
const asked = { metric: 'cost', rest: 'others' } as const

test('every day of the span has a bar, and a day without rows is marked unknown', () => {
  const { buckets } = courseOf([row('2026-11-02', 'a', '0')], span, asked)
  assert.deepEqual(buckets, [
    { at: '2026-11-01', isKnown: false, values: [0] },
    { at: '2026-11-02', isKnown: true, values: [0] },
    { at: '2026-11-03', isKnown: false, values: [0] },
  ])
})

test('the most expensive groups have their own series, and the others share one', () => {
  const rows = 'abcdefgh'.split('').map((name, index) => row('2026-11-01', name, `${index + 1}`))
  const { series, buckets } = courseOf(rows, span, asked)
  assert.deepEqual(series, ['h', 'g', 'f', 'e', 'd', 'others'])
  assert.deepEqual(buckets[0]?.values, [8, 7, 6, 5, 4, 6])
})

test('hours match however they are written', () => {
  const rows = [{ ...row('', 'a', '2'), day: null, hour: '2026-11-01T10:00:00Z' }]
  const hours = {
    since: '2026-11-01T09:30:00Z',
    until: '2026-11-01T11:00:00Z',
    step: 'hour',
  } as const
  assert.deepEqual(
    courseOf(rows, hours, asked).buckets.map(({ values }) => values),
    [[0], [2]],
  )
})

test('totals are exact', () => {
  const rows = [row('2026-11-01', 'a', '0.1'), row('2026-11-02', 'a', '0.2')]
  assert.equal(totalsBy(rows, ({ model }) => model ?? '')[0]?.cost, '0.3')
})

test('two keys with the same name stay separate and distinguishable', () => {
  const ofKey = (key: string, name: string, cost: string) => ({
    ...row('2026-11-01', '', cost),
    model: null,
    key,
    key_name: name,
  })
  const rows = [
    ofKey('key_0000000001aaaaaa', 'shop', '1'),
    ofKey('key_0000000002bbbbbb', 'shop', '2'),
    ofKey('key_0000000003cccccc', 'blog', '3'),
  ]
  const names = keyNamesOf(rows)
  assert.deepEqual(
    totalsBy(rows, groupOf).map(({ id, cost }) => [names.get(id), cost]),
    [
      ['shop (…aaaaaa)', '1'],
      ['shop (…bbbbbb)', '2'],
      ['blog', '3'],
    ],
  )
  assert.deepEqual(courseOf(rows, span, asked).buckets[0]?.values, [3, 2, 1])
})

// Axis marks are readable: round, whole for counts, and no two look the same.

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
