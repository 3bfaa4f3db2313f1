// Embeddings: unit vectors, the same for the same text, near for similar texts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { processorMs } from '../../../test/samples/processor-time.ts'
import { DIMENSIONS, embed } from './embeddings.ts'

const near = (one: string, other: string, dimensions = DIMENSIONS): number => {
  const [first, second] = [embed(one, dimensions), embed(other, dimensions)]
  return first.reduce((sum, value, index) => sum + value * (second[index] ?? 0), 0)
}

test('every input gives a unit vector of the requested size, always the same', () => {
  const input = fc.oneof(fc.string({ unit: 'grapheme' }), fc.array(fc.nat()))
  fc.assert(
    fc.property(input, fc.integer({ min: 1, max: 64 }), (value, dimensions) => {
      const vector = embed(value, dimensions)
      assert.equal(vector.length, dimensions)
      assert.ok(Math.abs(vector.reduce((sum, part) => sum + part * part, 0) - 1) < 1e-5)
      assert.deepEqual(vector, embed(value, dimensions))
    }),
  )
})

test('similar texts are nearer than different ones', () => {
  for (const [text, similar, different] of [
    [
      'The cat sits on the mat',
      'A cat is sitting on a mat',
      'Quarterly revenue grew by ten percent',
    ],
    ['How do I reset my password?', 'password reset', 'The train to Hamburg is late'],
    ['La tour Eiffel à Paris', 'Tour Eiffel, PARIS', 'Le chat dort'],
  ] as const) {
    for (const dimensions of [DIMENSIONS, 256]) {
      const distance = near(text, similar, dimensions) - near(text, different, dimensions)
      assert.ok(distance > 0.2, `${text}: ${distance}`)
    }
  }
})

test('the same tokens are near, other tokens are not', () => {
  const dot = (one: readonly number[], other: readonly number[]) =>
    one.reduce((sum, value, index) => sum + value * (other[index] ?? 0), 0)
  const [first, similar, other] = [
    [1, 2, 3, 4],
    [1, 2, 3, 9],
    [50, 60, 70, 80],
  ].map((tokens) => embed(tokens, DIMENSIONS))
  assert.ok(dot(first ?? [], similar ?? []) > dot(first ?? [], other ?? []) + 0.5)
})

test('a vector is short in JSON, and a text of characters that stand for many is read in part', () => {
  const words = Array.from({ length: 500 }, (_, number) => `word${number}`).join(' ')
  assert.ok(JSON.stringify(embed(words, DIMENSIONS)).length < 11 * DIMENSIONS)
  const startedMs = processorMs()
  embed('\u{fdfa}'.repeat(400_000), DIMENSIONS)
  assert.ok(processorMs() - startedMs < 1_000)
})
