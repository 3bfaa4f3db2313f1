// Real counts from the real thread, and no harm when it cannot count.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'

import { countTokens as countOlder } from 'gpt-tokenizer/encoding/cl100k_base'

import { sampleOf, Tokenizer } from './tokenizer.ts'

// A busy machine may take long to count.
const tokenizer = new Tokenizer({ countMsMax: 120_000 })
after(() => tokenizer.close())

test('texts are counted, and special tokens count as text', async () => {
  assert.deepEqual(await tokenizer.count([]), { likely: 0, most: 0 })
  assert.deepEqual(await tokenizer.count(['hello world']), { likely: 2, most: 2 })
  assert.deepEqual(await tokenizer.count(['hello world', 'hello world']), { likely: 4, most: 4 })
  assert.ok(((await tokenizer.count(['<|endoftext|>']))?.likely ?? 0) > 1)
})

test('beyond ASCII, the highest count is that of an older vocabulary', async () => {
  const text = 'પ્રતિષ્ઠા અને અધિકારોની દૃષ્ટિએ સર્વ માનવો જન્મથી સ્વતંત્ર અને સમાન હોય છે.'
  const { likely = 0, most = 0 } = (await tokenizer.count([text])) ?? {}
  assert.equal(most, countOlder(text))
  assert.ok(most > 3 * likely, `${most} and ${likely}`)
})

test('each of several concurrent counts gets its own result', async () => {
  const counts = await Promise.all(
    [1, 2, 3].map(async (times) => (await tokenizer.count(['word '.repeat(times)]))?.likely ?? 0),
  )
  assert.deepEqual(
    counts.toSorted((one, other) => one - other),
    counts,
  )
  assert.equal(new Set(counts).size, 3)
})

test('one concurrent count too many gets no result, and later counts do', async () => {
  const counts = await Promise.all(Array.from({ length: 65 }, () => tokenizer.count(['hello'])))
  assert.deepEqual(
    counts.map((count) => count?.likely),
    [...Array(64).fill(1), undefined],
  )
  assert.deepEqual(await tokenizer.count(['hello']), { likely: 1, most: 1 })
})

test('a short request is a sample of itself', async () => {
  const sample = sampleOf(['hello world', '', 'hello world'])
  assert.deepEqual(sample, { pieces: ['hello world', '', 'hello world'], times: 1 })
  assert.equal(await tokenizer.estimate(sample), 4)
})

test('a sample tells how many tokens a long request has, whatever it is made of', async () => {
  const rows = Array.from({ length: 20_000 }, (_, row) => `${row},${row ** 2 % 9_973},"open"\n`)
  const prose = 'The gate opens at noon, and whoever has paid may pass. '.repeat(2_000)
  const hex = Array.from({ length: 20_000 }, (_, index) => (index ** 3 % 65_521).toString(16))
  for (const texts of [rows, [rows.join('')], [prose, hex.join(''), 'short', rows.join('')]]) {
    const sample = sampleOf(texts)
    assert.ok(sample.pieces.join('').length <= 16_384)
    const { likely = 0 } = (await tokenizer.count(texts)) ?? {}
    const estimated = (await tokenizer.estimate(sample)) ?? 0
    assert.ok(Math.abs(estimated - likely) < likely / 4, `${estimated} instead of ${likely}`)
  }
})

test('closing the thread ends a waiting count without a result', async () => {
  const closing = new Tokenizer({ countMsMax: 120_000 })
  const counting = closing.count(['hello world'])
  await closing.close()
  assert.equal(await counting, undefined)
})

test('a text larger than any context window is not counted', async () => {
  assert.equal(await tokenizer.count(['x'.repeat(8_000_001)]), undefined)
})

test('a count that takes too long gets no result, but the first one may wait for the thread to load', async () => {
  const hasty = new Tokenizer({ countMsMax: 0 })
  assert.deepEqual(await hasty.count(['hello world']), { likely: 2, most: 2 })
  assert.equal(await hasty.count(['hello world '.repeat(100_000)]), undefined)
  await hasty.close()
})

test('a count whose thread breaks gets no result, and the next one gets a new thread', async () => {
  assert.equal(await tokenizer.count([{ length: 1 } as unknown as string]), undefined)
  assert.deepEqual(await tokenizer.count(['hello world']), { likely: 2, most: 2 })
})
