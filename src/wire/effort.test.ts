// No model is sent an effort that it would refuse, and the client is told what that loses.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import type { TargetFormat } from '../core/endpoints.ts'
import type { Conversation, Effort, Nature } from '../core/request.ts'
import { SAMPLE_CONVERSATION } from '../core/sample-conversation.ts'
import { encodeRequest as encodeChat } from './chat/request-encode.ts'
import { lossesOf } from './losses.ts'
import { encodeRequest as encodeResponse } from './responses/request-encode.ts'

const PLAIN: Nature = { reasons: false }
const REASONER: Nature = { reasons: true }

/** [model, what the catalogue knows about it, requested, sent, what is lost] */
const CASES: readonly (readonly [string, Nature, Effort, Effort | undefined, 'thinking'?])[] = [
  // Models that do not reason: not to think is what they do anyway.
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
  for (const [model, nature, asked, told, lost] of CASES)
    test(`${asked} for ${model} (${JSON.stringify(nature)}) is ${told ?? 'left out'}`, () => {
      const request = asking(model, nature, { effort: asked })
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
  nature: Nature,
  reasoning: Conversation['reasoning'] = {},
): Conversation {
  return { ...SAMPLE_CONVERSATION, model, nature, reasoning }
}

function losses(request: Conversation, format: TargetFormat): readonly string[] {
  const { model, nature = {} } = request
  return lossesOf(request, 'messages', { format, model, nature })
}
