// No model is sent an effort that it would refuse, and the client is told what that loses.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SAMPLE_CONVERSATION } from '../../../test/samples/conversation.ts'
import type { TargetFormat } from '../../core/endpoints.ts'
import type { Conversation, Effort, ModelTraits } from '../../core/request.ts'
import { encodeRequest as encodeChat } from '../chat/request-encode.ts'
import { CODECS, UPSTREAM_CODECS } from '../codecs.ts'
import { lossesOf } from '../contract/losses.ts'
import { encodeRequest as encodeResponse } from '../responses/request-encode.ts'
import { takesSampling } from './effort.ts'

const PLAIN: ModelTraits = { reasons: false }
const REASONER: ModelTraits = { reasons: true }

/** [model, what the catalogue knows about it, requested, sent, what is lost] */
const CASES: readonly (readonly [string, ModelTraits, Effort, Effort | undefined, 'thinking'?])[] =
  [
    // Models that do not reason: not to reason is what they do anyway.
    ['gpt-4o', PLAIN, 'none', undefined],
    ['gpt-4o', PLAIN, 'high', undefined, 'thinking'],
    ['gpt-4o-2024-11-20', {}, 'none', undefined],
    ['gpt-4.1-mini', {}, 'medium', undefined, 'thinking'],
    ['gpt-35-turbo', {}, 'medium', undefined, 'thinking'],
    ['ft:gpt-4o-mini:example::id', {}, 'low', undefined, 'thinking'],
    ['gpt-5-chat-latest', {}, 'none', undefined],
    ['llama-3.3-70b-versatile', PLAIN, 'none', undefined],
    ['llama-3.3-70b-versatile', PLAIN, 'low', undefined, 'thinking'],
    // Models whose reasoning cannot be turned off get their lowest effort.
    ['gpt-5', REASONER, 'none', 'minimal', 'thinking'],
    ['gpt-5-mini', {}, 'none', 'minimal', 'thinking'],
    ['o3', REASONER, 'none', 'low', 'thinking'],
    ['gpt-5-pro', {}, 'none', 'high', 'thinking'],
    ['gpt-5.2-pro', {}, 'low', 'medium'],
    ['gpt-5.1-codex', {}, 'none', 'low', 'thinking'],
    ['openai/gpt-oss-120b', REASONER, 'none', 'low', 'thinking'],
    ['gpt-5.1', REASONER, 'none', 'none'],
    ['gpt-5.4-mini', {}, 'none', 'none'],
    // The nearest effort that a model accepts.
    ['o4-mini', {}, 'minimal', 'low'],
    ['o3', {}, 'xhigh', 'high'],
    ['gpt-5', {}, 'max', 'high'],
    ['gpt-5.1', {}, 'minimal', 'low'],
    ['gpt-5.1', {}, 'xhigh', 'high'],
    ['gpt-5.1-codex-max', {}, 'xhigh', 'xhigh'],
    ['gpt-5.5', {}, 'max', 'xhigh'],
    ['gpt-5.6-sol', {}, 'max', 'max'],
    ['gpt-6-luna', {}, 'max', 'max'],
    ['mistral-small-2603', {}, 'none', 'none'],
    ['mistral-small-2603', {}, 'medium', 'high'],
    ['qwen/qwen3-32b', REASONER, 'none', 'none'],
    ['qwen/qwen3-32b', REASONER, 'high', undefined, 'thinking'],
    // A deployment is sent what the model behind it accepts.
    ['prod', { alsoKnownAs: ['gpt-4o'] }, 'high', undefined, 'thinking'],
    ['prod', { alsoKnownAs: ['gpt-5', 'house'] }, 'none', 'minimal', 'thinking'],
    ['prod', { alsoKnownAs: ['house', 'gpt-5.4'] }, 'none', 'none'],
    // An unknown model is sent only what every server accepts.
    ['my-model', {}, 'none', undefined, 'thinking'],
    ['my-model', {}, 'minimal', 'low'],
    ['my-model', {}, 'medium', 'medium'],
    ['my-model', {}, 'max', 'high'],
    ['my-model', REASONER, 'none', 'low', 'thinking'],
    ['my-model', PLAIN, 'none', undefined],
  ]

describe('an effort', () => {
  for (const [model, traits, asked, told, lost] of CASES)
    test(`${asked} for ${model} (${JSON.stringify(traits)}) is ${told ?? 'left out'}`, () => {
      const request = asking(model, traits, { effort: asked })
      assert.equal(encodeChat(request)['reasoning_effort'], told)
      assert.deepEqual(encodeResponse(request)['reasoning'], told && { effort: told })
      for (const format of ['chat', 'responses'] as const)
        assert.deepEqual(losses(request, format), lost === undefined ? [] : [lost])
    })

  test('a model that does not reason is sent no request for a summary', () => {
    const request = asking('gpt-4.1', PLAIN, { display: 'summary' })
    assert.equal(encodeResponse(request)['reasoning'], undefined)
    assert.deepEqual(losses(request, 'responses'), ['thinking'])
  })
})

function asking(
  model: string,
  traits: ModelTraits,
  reasoning: Conversation['reasoning'] = {},
): Conversation {
  return { ...SAMPLE_CONVERSATION, model, traits, reasoning }
}

function losses(request: Conversation, format: TargetFormat): readonly string[] {
  const { model, traits = {} } = request
  return lossesOf(request, 'messages', { ...UPSTREAM_CODECS[format], model, traits })
}

// What a reasoning model refuses is not sent to it, and the client is told; all other models get it.

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
    assert.equal(takesSampling({ ...asked('prod'), traits: { alsoKnownAs: [known] } }), takes)
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
    assert.deepEqual(lossesOf(reasoner, client, { ...CODECS[format], model: 'gpt-5' }), [
      'temperature',
      'top_p',
      client === 'chat' ? 'logprobs' : 'top_logprobs',
    ])
    const plain = asked('gpt-4o')
    assert.partialDeepStrictEqual(encode(plain), { temperature: 0.2, top_p: 0.9, top_logprobs: 3 })
    assert.deepEqual(lossesOf(plain, client, { ...CODECS[format], model: 'gpt-4o' }), [])
  }
})

test('a temperature of 1 is a reasoning model’s default, so nothing is lost', () => {
  const request = { ...asked('o3'), sampling: { temperature: 1, topP: 1 } }
  assert.deepEqual(lossesOf(request, 'messages', { ...CODECS.responses, model: 'o3' }), [])
  assert.equal(encodeResponse(request)['temperature'], undefined)
})
