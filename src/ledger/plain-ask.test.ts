// What may cross to the books, and what is stopped before it can fail the others in its batch.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NO_COST } from '../catalog/worst-case.ts'
import { plainAsk } from './plain-ask.ts'
import { SAMPLE_ASK as ask } from './sample-books.ts'

test('an ask crosses to the books without the signal of its client', () => {
  assert.deepEqual(plainAsk({ ...ask, signal: AbortSignal.abort() }), ask)
})

test('a figure that is not a whole, non-negative number is stopped', () => {
  for (const wrong of [0.5, -1, NaN, Infinity, 2 ** 53]) {
    for (const name of ['outputTokens', 'outputTokensMinimum']) {
      const broken = { ...ask, candidates: [NO_COST, { ...NO_COST, [name]: wrong }] }
      assert.throws(() => plainAsk(broken), { name: 'AssertionError' }, `${name} ${wrong}`)
    }
    const broken = { ...ask, estimatedTokens: wrong }
    assert.throws(() => plainAsk(broken), { name: 'AssertionError' }, `estimated ${wrong}`)
  }
  for (const name of ['fixedPicodollars', 'outputTokenPicodollars']) {
    const broken = { ...ask, candidates: [{ ...NO_COST, [name]: -1n }] }
    assert.throws(() => plainAsk(broken), { name: 'AssertionError' }, name)
  }
})
