// What a reasoning model refuses is not sent to it, and the client is told; all other models get it.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { Conversation, Effort } from '../core/request.ts'
import { SAMPLE_CONVERSATION } from '../core/sample-conversation.ts'
import { encodeRequest as encodeChat } from './chat/request-encode.ts'
import { lossesOf } from './losses.ts'
import { encodeRequest as encodeResponse } from './responses/request-encode.ts'
import { takesSampling } from './sampling.ts'

function asked(model: string, effort?: Effort): Conversation {
  return {
    ...SAMPLE_CONVERSATION,
    model,
    outputTokensMax: 8_192,
    sampling: { temperature: 0.2, topP: 0.9, logprobs: 3 },
    ...(effort && { reasoning: { effort } }),
  }
}

for (const [model, effort, takes] of [
  ['o1', undefined, false],
  ['o3-2025-04-16', undefined, false],
  ['o4-mini', 'low', false],
  ['gpt-5', undefined, false],
  ['openai/gpt-5-mini', undefined, false],
  ['gpt-5-nano-2025-08-07', 'minimal', false],
  ['gpt-5.1', undefined, true],
  ['gpt-5.1', 'none', true],
  ['gpt-5.1', 'low', false],
  ['gpt-5.1-codex', undefined, false],
  ['gpt-5.2-pro', undefined, false],
  ['gpt-5.4-mini', undefined, true],
  ['gpt-5.5', undefined, false],
  ['gpt-5.6-luna', 'none', true],
  ['gpt-6-sol', 'high', false],
  ['gpt-5-chat-latest', undefined, true],
  ['gpt-4o', undefined, true],
  ['gpt-4.1-mini', undefined, true],
  ['gpt-oss-120b', undefined, true],
  ['openai/gpt-oss-20b', 'low', true],
  ['sandbox-reasoner', undefined, true],
  ['my-deployment', undefined, true],
  ['octopus-o1', undefined, true],
] as const)
  test(`${model}${effort ? ` with effort ${effort}` : ''} takes ${takes ? 'a' : 'no'} temperature`, () => {
    assert.equal(takesSampling(asked(model, effort)), takes)
  })

test('a deployment takes a temperature if the model behind it does', () => {
  for (const [known, takes] of [
    ['gpt-5', false],
    ['gpt-4o', true],
    ['house', true],
  ] as const)
    assert.equal(takesSampling({ ...asked('prod'), nature: { alsoKnownAs: [known] } }), takes)
})

test('sampling settings that a reasoning model refuses are dropped and named in the client’s terms', () => {
  for (const [format, encode] of [
    ['chat', encodeChat],
    ['responses', encodeResponse],
  ] as const) {
    const reasoner = asked('gpt-5')
    const { temperature, top_p, logprobs, top_logprobs, include } = encode(reasoner)
    assert.deepEqual([temperature, top_p, logprobs, top_logprobs], Array(4).fill(undefined))
    assert.doesNotMatch(JSON.stringify(include ?? []), /logprobs/)
    const client = format === 'chat' ? 'responses' : 'chat'
    assert.deepEqual(lossesOf(reasoner, client, { format, model: 'gpt-5' }), [
      'temperature',
      'top_p',
      client === 'chat' ? 'logprobs' : 'top_logprobs',
    ])
    const plain = asked('gpt-4o')
    assert.partialDeepStrictEqual(encode(plain), { temperature: 0.2, top_p: 0.9, top_logprobs: 3 })
    assert.deepEqual(lossesOf(plain, client, { format, model: 'gpt-4o' }), [])
  }
})

test('a temperature of 1 is a reasoning model’s default, so nothing is lost', () => {
  const request = { ...asked('o3'), sampling: { temperature: 1, topP: 1 } }
  assert.deepEqual(lossesOf(request, 'messages', { format: 'responses', model: 'o3' }), [])
  assert.equal(encodeResponse(request)['temperature'], undefined)
})
