// Real counts from the real thread, and no harm when it cannot count.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'

import { Tokenizer } from './tokenizer.ts'

// A machine that does much else may take long to start the thread.
const tokenizer = new Tokenizer({ countMsMax: 120_000 })
after(() => tokenizer.close())

test('texts are counted, special tokens as text', async () => {
  assert.equal(await tokenizer.count([]), 0)
  assert.equal(await tokenizer.count(['hello world']), 2)
  assert.equal(await tokenizer.count(['hello world', 'hello world']), 4)
  assert.ok(((await tokenizer.count(['<|endoftext|>'])) ?? 0) > 1)
})

test('several counts at once each get their own', async () => {
  const counts = await Promise.all(
    [1, 2, 3].map((times) => tokenizer.count(['word '.repeat(times)])),
  )
  assert.deepEqual([...counts].toSorted(), counts)
  assert.equal(new Set(counts).size, 3)
})

test('what is larger than any context window is not counted', async () => {
  assert.equal(await tokenizer.count(['x'.repeat(8_000_001)]), undefined)
})

test('what takes too long is left uncounted', async () => {
  const hasty = new Tokenizer({ countMsMax: 0 })
  assert.equal(await hasty.count(['hello world']), undefined)
  await hasty.close()
})

test('a thread that breaks leaves its count open, and the next count gets a new one', async () => {
  assert.equal(await tokenizer.count([{ length: 1 } as unknown as string]), undefined)
  assert.equal(await tokenizer.count(['hello world']), 2)
})
