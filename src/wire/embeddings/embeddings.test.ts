// Embeddings: vectors survive both encodings, the client gets the one it requested, and limits hold.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { GatewayError } from '../../core/errors.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { readJsonAnswer } from '../content/answer.ts'
import type { AnswerContext } from '../contract/codec.ts'
import { decodeVector, embeddingsCodec, encodeVector } from './codec.ts'

const answerTo = (body: JsonObject): AnswerContext => ({
  model: 'public-model',
  body,
  createdAt: 1,
  now: () => 2,
  requestId: 'req_1',
  newId: (prefix) => `${prefix}_1`,
})

test('vectors survive both encodings', () => {
  const vector = fc.array(fc.float({ noNaN: true, noDefaultInfinity: true }), { minLength: 1 })
  fc.assert(
    fc.property(vector, fc.constantFrom('float', 'base64'), (numbers, encoding) => {
      const sent = numbers.map((each) => each + 0) // JSON has no negative zero.
      assert.deepEqual(decodeVector(encodeVector(sent, encoding)), sent)
    }),
  )
  assert.equal(encodeVector([1, -2], 'base64'), 'AACAPwAAAMA=', 'least significant byte first')
})

test('a malformed vector is the provider’s failure', () => {
  const embeddings: Json[] = [null, 7, '', 'AAA=', [1, 'x'], { a: 1 }]
  for (const embedding of embeddings) {
    assert.throws(
      () => embeddingsCodec.decodeResponse({ data: [{ index: 0, embedding }] }),
      (error) => error instanceof GatewayError && error.code === 'provider_failed',
      JSON.stringify(embedding),
    )
  }
  assert.throws(() => embeddingsCodec.decodeResponse({ data: [] }))
  assert.throws(() => embeddingsCodec.decodeResponse({ error: { message: 'no' } }))
})

test('the client gets the encoding it requested, whichever the provider sent', () => {
  const data = (embedding: Json): string => JSON.stringify([{ index: 0, embedding, extra: 1 }])
  for (const [asked, sent, got] of [
    ['base64', [0.5, -1], 'AAAAPwAAgL8='],
    ['base64', 'AAAAPwAAgL8=', 'AAAAPwAAgL8='],
    ['float', 'AAAAPwAAgL8=', [0.5, -1]],
    [null, [0.5, -1], [0.5, -1]],
  ] as const) {
    const body = readJsonAnswer(Buffer.from(`{"model":"up", "data":${data(sent)},"x":1.0}`))
    const forwarded = embeddingsCodec.forwardResponse(
      body,
      answerTo({ input: 'one', encoding_format: asked }),
    )
    assert.equal(forwarded, `{"model":"public-model", "data":${data(got)},"x":1.0}`)
  }
})

test('as many vectors come back as there were inputs', () => {
  const failure = { code: 'provider_failed', message: /inputs: 2, vectors: 1/ }
  const two = answerTo({ input: ['one', 'two'] })
  const body = (count: number) => {
    const data = Array.from({ length: count }, (_, index) => ({ index, embedding: [0.5] }))
    return readJsonAnswer(Buffer.from(JSON.stringify({ data })))
  }
  const { decodeResponse, encodeResponse, forwardResponse } = embeddingsCodec
  forwardResponse(body(2), two)
  assert.throws(() => forwardResponse(body(1), two), failure)
  encodeResponse(decodeResponse(body(2).value), two)
  assert.throws(() => encodeResponse(decodeResponse(body(1).value), two), failure)
})

test('at most 2048 inputs fit, and one list of tokens counts as one', () => {
  const read = (input: Json): number => embeddingsCodec.readCall({ model: 'm', input }).input.items
  assert.equal(read(Array.from({ length: 2048 }, () => 'a')), 2048)
  assert.equal(read(Array.from({ length: 9000 }, (_, index) => index)), 1)
  assert.throws(() => read(Array.from({ length: 2049 }, () => 'a')), /at most 2048/)
  assert.throws(() => read(Array.from({ length: 2049 }, () => [1])), /at most 2048/)
  for (const bad of [[1.5], [-1], [[]], [[1, 'a']], [null], {}, 7]) assert.throws(() => read(bad))
})
