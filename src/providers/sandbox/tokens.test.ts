// The token rule, and which parts of a request it counts.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { SAMPLE_CONVERSATION } from '../../../test/samples/conversation.ts'
import type { Conversation, Message, UserPart } from '../../core/request.ts'
import { countSandboxInput, firstTokens, MEDIA_TOKENS, tokensOf } from './tokens.ts'

const conversation = (
  messages: readonly Message[],
  more: Partial<Conversation> = {},
): Conversation => ({
  ...SAMPLE_CONVERSATION,
  messages,
  ...more,
})
const user = (...parts: UserPart[]): Message => ({ role: 'user', parts })
const text = (value: string) => ({ type: 'text', text: value }) as const

test('a token is four bytes; the last one may be shorter', () => {
  for (const [value, tokens] of [
    ['', 0],
    ['a', 1],
    ['four', 1],
    ['fours', 2],
    ['ééé', 2],
    ['😀', 1],
  ] as const) {
    assert.equal(tokensOf(value), tokens, value)
  }
})

test('the beginning of a text has as many tokens as fit the limit, and no more', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat({ max: 12 }), (value, tokens) => {
      const begun = firstTokens(value, tokens)
      assert.ok(value.startsWith(begun))
      assert.equal(tokensOf(begun), Math.min(tokens, tokensOf(value)))
    }),
  )
})

describe('input', () => {
  const pdf = Buffer.from('%PDF-1.7').toString('base64')
  for (const [what, request, tokens] of [
    ['one text', conversation([user(text('hello world!'))]), 3],
    ['each text by itself', conversation([user(text('a'), text('b')), user(text('c'))]), 3],
    [
      'system and assistant texts',
      conversation([
        { role: 'system', parts: [text('12345')] },
        { role: 'assistant', parts: [text('1234'), { type: 'refusal', text: '1' }] },
      ]),
      4,
    ],
    [
      'thoughts are free',
      conversation([{ role: 'assistant', parts: [{ type: 'reasoning', text: 'a long thought' }] }]),
      0,
    ],
    [
      'calls by name and input, whatever its spaces',
      conversation([
        {
          role: 'assistant',
          parts: [
            { type: 'tool-call', id: 'x', name: 'find', input: '{ "a" : 1 }', custom: false },
          ],
        },
      ]),
      1 + 2,
    ],
    ['results', conversation([{ role: 'tool', callId: 'x', parts: [text('12345678')] }]), 2],
    [
      'tools',
      conversation([], {
        tools: [
          { type: 'function', name: 'find', description: 'finds', schema: { type: 'object' } },
        ],
      }),
      1 + 2 + 5,
    ],
    [
      'schemas',
      conversation([], {
        outputFormat: { type: 'json-schema', name: 'any name', schema: { type: 'object' } },
      }),
      5,
    ],
    [
      'an image',
      conversation([
        user({ type: 'image', source: { type: 'base64', mediaType: 'image/png', data: pdf } }),
      ]),
      MEDIA_TOKENS,
    ],
    [
      'a file',
      conversation([
        user({ type: 'file', source: { type: 'base64', mediaType: 'application/pdf', data: pdf } }),
      ]),
      2,
    ],
    [
      'the same file as text',
      conversation([user({ type: 'file', source: { type: 'text', text: '%PDF-1.7' } })]),
      2,
    ],
    [
      'a file by URL',
      conversation([
        user({ type: 'file', source: { type: 'url', url: 'https://example.com/a.pdf' } }),
      ]),
      MEDIA_TOKENS,
    ],
    [
      'embedding inputs',
      {
        kind: 'embedding',
        model: 'sandbox-embedding',
        dropped: [],
        inputs: ['hello world!', 'a', [5, 6, 7]],
        encoding: 'float',
      },
      3 + 1 + 3,
    ],
  ] as const) {
    test(what, () => assert.equal(countSandboxInput(request), tokens))
  }
})
