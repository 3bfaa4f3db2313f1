// Google's formats: how requests are encoded, and how answers are decoded, whole and streamed.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SAMPLE_CONVERSATION } from '../../../test/samples/conversation.ts'
import { GatewayError } from '../../core/errors.ts'
import type { CanonicalEvent } from '../../core/events.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Conversation } from '../../core/request.ts'
import { lossesOf } from '../contract/losses.ts'
import { SseReader } from '../contract/sse.ts'
import { geminiCodec, geminiEmbeddingsCodec, vertexEmbeddingsCodec } from './codec.ts'
import { GEMINI_LOSSES } from './request-encode.ts'

const SIGNATURE = { format: 'gemini', kind: 'signature', value: 'c2ln' } as const

function conversation(more: Partial<Conversation>): Conversation {
  return { ...SAMPLE_CONVERSATION, model: 'gemini-2.5-flash', ...more }
}

const hi = { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }], generationConfig: {} }

test('results beyond a hundred thousand fields are sent as texts', () => {
  const fields = Array.from({ length: 60_000 }, (_, index) => [`f${index}`, 0] as const)
  const text = JSON.stringify(Object.fromEntries(fields))
  const messages = ['a', 'b'].flatMap((id): Conversation['messages'] => [
    {
      role: 'assistant',
      parts: [{ type: 'tool-call', id, name: 'f', input: '{}', custom: false }],
    },
    { role: 'tool', callId: id, parts: [{ type: 'text', text }] },
  ])
  const written = JSON.stringify(geminiCodec.encodeRequest(conversation({ messages })))
  assert.equal(written.split('"response":{"f0":0,').length, 2)
  assert.equal(written.split(`"response":${JSON.stringify({ result: text })}`).length, 2)
})

describe('a request', () => {
  const cases: readonly (readonly [string, Partial<Conversation>, JsonObject])[] = [
    ['the smallest', {}, hi],
    [
      'limits and sampling',
      {
        outputTokensMax: 100,
        sampling: { temperature: 1.5, topP: 0.9, topK: 40, seed: 7, stop: ['END'], logprobs: 2 },
      },
      {
        ...hi,
        generationConfig: {
          maxOutputTokens: 100,
          temperature: 1.5,
          topP: 0.9,
          topK: 40,
          seed: 7,
          stopSequences: ['END'],
        },
      },
    ],
    [
      'instructions before and between turns',
      {
        messages: [
          { role: 'system', parts: [{ type: 'text', text: 'Be brief.' }] },
          { role: 'user', parts: [{ type: 'text', text: 'Hello' }] },
          { role: 'developer', parts: [{ type: 'text', text: 'Be kind.' }] },
        ],
      },
      {
        contents: [
          { role: 'user', parts: [{ text: 'Hello' }, { text: '<system>\nBe kind.\n</system>' }] },
        ],
        systemInstruction: { parts: [{ text: 'Be brief.' }] },
        generationConfig: {},
      },
    ],
    [
      'calls with their signatures, and results in any order',
      {
        model: 'gemini-3.5-flash',
        messages: [
          { role: 'user', parts: [{ type: 'text', text: 'Weather?' }] },
          {
            role: 'assistant',
            parts: [
              { type: 'reasoning', text: 'Hm.', opaque: SIGNATURE },
              {
                type: 'tool-call',
                id: 'a',
                name: 'weather',
                input: '{"city":"Oslo"}',
                custom: false,
              },
              { type: 'tool-call', id: 'b', name: 'weather', input: '', custom: false },
            ],
          },
          { role: 'tool', callId: 'b', parts: [{ type: 'text', text: 'no city' }], isError: true },
          { role: 'tool', callId: 'a', parts: [{ type: 'text', text: '{"sun":true}' }] },
          { role: 'user', parts: [{ type: 'text', text: 'And?' }] },
        ],
        tools: [{ type: 'function', name: 'weather', schema: { properties: {} } }],
        toolChoice: { type: 'tool', name: 'weather' },
      },
      {
        contents: [
          { role: 'user', parts: [{ text: 'Weather?' }] },
          {
            role: 'model',
            parts: [
              {
                functionCall: { name: 'weather', args: { city: 'Oslo' } },
                thoughtSignature: 'c2ln',
              },
              { functionCall: { name: 'weather', args: {} } },
            ],
          },
          {
            role: 'user',
            parts: [
              { functionResponse: { name: 'weather', response: { sun: true } } },
              { functionResponse: { name: 'weather', response: { error: 'no city' } } },
              { text: 'And?' },
            ],
          },
        ],
        tools: [
          {
            functionDeclarations: [
              { name: 'weather', parametersJsonSchema: { type: 'object', properties: {} } },
            ],
          },
        ],
        toolConfig: {
          functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['weather'] },
        },
        generationConfig: {},
      },
    ],
    [
      'signatures of several calls, from a client that separates thoughts from calls',
      {
        model: 'gemini-3.5-flash',
        messages: [
          {
            role: 'assistant',
            parts: [
              { type: 'reasoning', text: '', opaque: SIGNATURE },
              { type: 'reasoning', text: '', opaque: { ...SIGNATURE, value: 'bmV4dA==' } },
              { type: 'tool-call', id: 'a', name: 'f', input: '{}', custom: false },
              { type: 'tool-call', id: 'b', name: 'g', input: '{}', custom: false },
            ],
          },
        ],
      },
      {
        contents: [
          { role: 'user', parts: [{ text: '(no content)' }] },
          {
            role: 'model',
            parts: [
              { functionCall: { name: 'f', args: {} }, thoughtSignature: 'c2ln' },
              { functionCall: { name: 'g', args: {} }, thoughtSignature: 'bmV4dA==' },
            ],
          },
        ],
        generationConfig: {},
      },
    ],
    [
      'calls made by another model, for the third generation',
      {
        model: 'gemini-3.5-flash',
        messages: [
          {
            role: 'assistant',
            parts: [{ type: 'tool-call', id: 'a', name: 'f', input: '{}', custom: false }],
          },
        ],
      },
      {
        contents: [
          { role: 'user', parts: [{ text: '(no content)' }] },
          {
            role: 'model',
            parts: [
              {
                functionCall: { name: 'f', args: {} },
                thoughtSignature: 'skip_thought_signature_validator',
              },
            ],
          },
        ],
        generationConfig: {},
      },
    ],
    [
      'media',
      {
        messages: [
          {
            role: 'user',
            parts: [
              { type: 'image', source: { type: 'base64', mediaType: 'image/png', data: 'aQ==' } },
              { type: 'file', source: { type: 'text', text: 'notes' }, name: 'Diary' },
              { type: 'audio', encoding: 'wav', data: 'YQ==' },
            ],
          },
        ],
      },
      {
        contents: [
          {
            role: 'user',
            parts: [
              { inlineData: { mimeType: 'image/png', data: 'aQ==' } },
              { text: 'Diary' },
              { text: 'notes' },
              { inlineData: { mimeType: 'audio/wav', data: 'YQ==' } },
            ],
          },
        ],
        generationConfig: {},
      },
    ],
    [
      'a schema',
      {
        outputFormat: {
          type: 'json-schema',
          name: 'x',
          description: 'Who',
          schema: { type: 'object', description: 'A person' },
        },
      },
      {
        ...hi,
        generationConfig: {
          responseMimeType: 'application/json',
          responseJsonSchema: { type: 'object', description: 'Who\n\nA person' },
        },
      },
    ],
    ...(
      [
        ['gemini-2.5-flash', { effort: 'low' }, { thinkingBudget: 1024, includeThoughts: true }],
        ['gemini-2.5-flash', { effort: 'none' }, { thinkingBudget: 0 }],
        ['gemini-2.5-pro', { effort: 'none' }, { thinkingBudget: 128 }],
        ['gemini-2.5-pro', { tokensMax: 900, display: 'omitted' }, { thinkingBudget: 900 }],
        ['gemini-2.5-pro', { tokensMax: 60_000, display: 'omitted' }, { thinkingBudget: 32_768 }],
        ['gemini-2.5-flash', { tokensMax: 31_999, display: 'omitted' }, { thinkingBudget: 24_576 }],
        ['gemini-3.8-flash', { effort: 'max' }, { thinkingLevel: 'high', includeThoughts: true }],
        ['gemini-3.8-flash', { effort: 'none' }, { thinkingLevel: 'minimal' }],
        [
          'gemini-3.1-pro-preview',
          { effort: 'minimal' },
          { thinkingLevel: 'low', includeThoughts: true },
        ],
      ] as const
    ).map(
      ([model, reasoning, thinkingConfig]) =>
        [
          `${JSON.stringify(reasoning)} for ${model}`,
          { model, reasoning },
          { ...hi, generationConfig: { thinkingConfig } },
        ] as const,
    ),
  ]
  for (const [name, more, expected] of cases)
    test(name, () => assert.deepEqual(geminiCodec.encodeRequest(conversation(more)), expected))

  for (const [model, traits, effort, lost] of [
    ['gemini-2.5-flash', {}, 'none', []],
    ['gemini-2.5-pro', {}, 'none', ['thinking']],
    ['gemini-3.8-flash', {}, 'none', ['thinking']],
    ['gemini-2.0-flash', {}, 'none', []],
    ['gemini-2.0-flash', {}, 'high', ['thinking']],
    ['gemma-3-27b-it', {}, 'low', ['thinking']],
    ['my-tuned-model', { reasons: false }, 'none', []],
    ['my-tuned-model', { reasons: false }, 'low', ['thinking']],
  ] as const)
    test(`${effort} for ${model} loses ${lost.join() || 'nothing'}`, () => {
      const request = conversation({ model, traits, reasoning: { effort } })
      const target = { losses: GEMINI_LOSSES, model, traits }
      assert.deepEqual(lossesOf(request, 'messages', target), lost)
      const { thinkingConfig } = geminiCodec.encodeRequest(request)[
        'generationConfig'
      ] as JsonObject
      const reasons = model.startsWith('gemini-2.5') || model.startsWith('gemini-3')
      assert.equal(thinkingConfig !== undefined, reasons)
    })
})

describe('what is at a URL', () => {
  const sent = (url: string, type: 'image' | 'file' = 'image'): unknown => {
    const source = { type: 'url', url } as const
    const part = type === 'image' ? { type, source } : { type, source, name: 'a title' }
    const request = conversation({ messages: [{ role: 'user', parts: [part] }] })
    const { contents } = geminiCodec.encodeRequest(request)
    return (contents as { parts: unknown }[])[0]?.parts
  }
  const fetched = (mimeType: string, fileUri: string) => ({ fileData: { mimeType, fileUri } })

  test('is left to the provider to fetch, with the type that its ending stands for', () => {
    for (const [url, type] of [
      ['https://a.example/cat.png', 'image/png'],
      ['https://a.example/CAT.WEBP?size=1.png#x', 'image/webp'],
      ['https://a.example/cat.jpg', 'image/jpeg'],
      ['https://a.example/cat', 'image/jpeg'],
    ] as const) {
      assert.deepEqual(sent(url), [fetched(type, url)])
    }
    for (const [url, type] of [
      ['https://a.example/report.pdf?signature=abc', 'application/pdf'],
      ['https://a.example/report', 'application/pdf'],
      ['https://a.example/notes.csv', 'text/csv'],
    ] as const) {
      assert.deepEqual(sent(url, 'file'), [{ text: 'a title' }, fetched(type, url)])
    }
  })

  test('is refused where a model cannot fetch it, or would watch a film', () => {
    const losing = (model: string, url: string): string[] => {
      const parts = [{ type: 'image', source: { type: 'url', url } }] as const
      const request = conversation({ model, messages: [{ role: 'user', parts }] })
      return lossesOf(request, 'chat', { losses: GEMINI_LOSSES, model })
    }
    const cat = 'https://a.example/cat.png'
    for (const model of ['gemini-2.5-flash', 'gemini-3-pro', 'my-tuned-model']) {
      assert.deepEqual(losing(model, cat), [])
    }
    for (const [model, url] of [
      ['gemini-2.0-flash', cat],
      ['gemma-3-27b-it', cat],
      ['gemini-3-pro', 'https://www.youtube.com/watch?v=1'],
      ['gemini-3-pro', 'https://YOUTU.BE./1'],
    ] as const) {
      assert.throws(() => losing(model, url), {
        code: 'unsupported_parameter',
        message: /^image_url\.url cannot be used .* takes nothing by URL, and no model a film/,
      })
    }
  })
})

describe('an answer', () => {
  const usageMetadata = {
    promptTokenCount: 20,
    cachedContentTokenCount: 5,
    candidatesTokenCount: 7,
    thoughtsTokenCount: 3,
  }
  const chunks: JsonObject[] = [
    piece([{ text: 'Let me see.', thought: true }]),
    piece([{ text: 'It is ' }]),
    piece([{ text: 'sunny.' }]),
    piece([{ text: '', thoughtSignature: 'dGV4dA==' }]),
    piece([
      {
        functionCall: { id: 'x1', name: 'umbrella', args: { open: false } },
        thoughtSignature: 'c2ln',
      },
    ]),
    { ...piece([], 'STOP'), usageMetadata },
  ]
  const expected = [
    'response-start',
    'reasoning-start',
    'reasoning-delta Let me see.',
    'reasoning-end',
    'text-start',
    'text-delta It is ',
    'text-delta sunny.',
    'text-end',
    'reasoning-start',
    'reasoning-end dGV4dA== text',
    'reasoning-start',
    'reasoning-end c2ln',
    'tool-call-start x1 umbrella',
    'tool-call-delta {"open":false}',
    'tool-call-end',
    'choice-end tool-call',
    'usage 20 5 10 3',
    'response-end',
  ]

  test('decodes from a stream', () => assert.deepEqual(read(...chunks).map(spell), expected))

  test('counts beside the first words come before and after them: they cover them, too', () => {
    const counted = { ...piece([{ text: 'a' }]), usageMetadata }
    const types = read(counted, counted).map(({ type }) => type)
    assert.deepEqual(types, [
      'response-start',
      'usage',
      'text-start',
      'text-delta',
      'usage',
      'text-delta',
      'usage',
    ])
  })

  test('decodes alike when whole', () => {
    const parts = chunks.flatMap(({ candidates }) =>
      (candidates as { content: { parts: JsonObject[] } }[]).flatMap(
        ({ content }) => content.parts,
      ),
    )
    const whole = { ...piece(parts, 'STOP'), usageMetadata }
    assert.deepEqual(
      geminiCodec
        .decodeResponse(whole)
        .map(spell)
        .filter((line) => !line.startsWith('text-delta')),
      expected.filter((line) => !line.startsWith('text-delta')),
    )
  })

  test('maps each finish reason', () => {
    for (const [reason, line] of [
      ['MAX_TOKENS', 'choice-end limit'],
      ['CONTINUATION', 'choice-end limit'],
      ['IMAGE_PROHIBITED_CONTENT', 'choice-end refusal IMAGE_PROHIBITED_CONTENT'],
      ['IMAGE_RECITATION', 'choice-end refusal IMAGE_RECITATION'],
      ['SAFETY', 'choice-end refusal SAFETY'],
      ['RECITATION', 'choice-end refusal RECITATION'],
      ['constructor', 'choice-end stop'],
    ] as const) {
      assert.equal(spell(read(piece([{ text: 'x' }], reason)).at(-2)), line)
    }
    const blocked = read({ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } })
    assert.deepEqual(blocked.map(spell).slice(1), [
      'choice-end refusal PROHIBITED_CONTENT',
      'response-end',
    ])
    const blockReasonMessage = 'It is harmful.'
    const explained = read({ promptFeedback: { blockReason: 'OTHER', blockReasonMessage } })
    assert.equal(spell(explained.at(-2)), 'choice-end refusal It is harmful.')
  })

  test('is incomplete without a finish reason', () => {
    assert.ok(!read(piece([{ text: 'x' }])).some(({ type }) => type === 'response-end'))
  })

  test('fails with its usage if it cannot be used', () => {
    const usageMetadata = { promptTokenCount: 9, thoughtsTokenCount: 500 }
    assert.throws(
      () => read({ ...piece([], 'MALFORMED_FUNCTION_CALL'), usageMetadata }),
      (error) => {
        assert.ok(error instanceof GatewayError)
        const { inputTokens, outputTokens } = error.details.usage ?? {}
        assert.deepEqual([error.code, inputTokens, outputTokens], ['provider_failed', 9, 500])
        return true
      },
    )
    assert.throws(() => read(piece([], 'MALFORMED_FUNCTION_CALL')), fails('provider_failed'))
  })

  test('may end in an error', () => {
    for (const [code, status, ours] of [
      [429, 'RESOURCE_EXHAUSTED', 'provider_rate_limited'],
      [503, 'UNAVAILABLE', 'provider_overloaded'],
      [400, 'INVALID_ARGUMENT', 'invalid_request'],
      [500, 'INTERNAL', 'provider_failed'],
    ] as const) {
      assert.throws(() => read({ error: { code, status, message: 'no' } }), fails(ours))
    }
  })
})

test('an error carries its reason and its retry delay', () => {
  const error = {
    code: 400,
    status: 'INVALID_ARGUMENT',
    message: 'API key not valid.',
    details: [
      { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' },
      { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.07s' },
    ],
  }
  assert.deepEqual(geminiCodec.decodeError({ error }), {
    message: 'API key not valid.',
    code: 'API_KEY_INVALID',
    type: '400',
    retryAfterSeconds: 34.07,
  })
  assert.deepEqual(geminiCodec.decodeError({}), {})
})

describe('embeddings', () => {
  const request = {
    kind: 'embedding',
    model: 'gemini-embedding-001',
    dropped: [],
    inputs: ['one', 'two'],
    dimensions: 256,
    encoding: 'float',
  } as const

  test('send one request per text and read one vector per request', () => {
    assert.deepEqual(geminiEmbeddingsCodec.encodeRequest(request), {
      requests: ['one', 'two'].map((text) => ({
        model: 'models/gemini-embedding-001',
        content: { parts: [{ text }] },
        outputDimensionality: 256,
      })),
    })
    const vectors = geminiEmbeddingsCodec.decodeResponse({
      embeddings: [{ values: [0.5, -1] }, { values: [2] }],
    })
    assert.deepEqual(
      vectors.filter(({ type }) => type === 'embedding'),
      [
        { type: 'embedding', index: 0, vector: [0.5, -1] },
        { type: 'embedding', index: 1, vector: [2] },
      ],
    )
    assert.equal(vectors.at(-1)?.type, 'response-end')
  })

  test('refuse token numbers and malformed vectors', () => {
    assert.throws(
      () => geminiEmbeddingsCodec.encodeRequest({ ...request, inputs: [[1, 2]] }),
      fails('unsupported_parameter'),
    )
    assert.throws(
      () => geminiEmbeddingsCodec.decodeResponse({ embeddings: [{ values: 'x' }] }),
      fails('provider_failed'),
    )
  })

  test('treat an answer without vectors as the provider’s failure', () => {
    for (const codec of [geminiEmbeddingsCodec, vertexEmbeddingsCodec]) {
      assert.throws(() => codec.decodeResponse({}), fails('provider_failed'))
    }
  })
})

function piece(parts: readonly JsonObject[], finishReason?: string): JsonObject {
  const end = finishReason === undefined ? {} : { finishReason }
  return {
    responseId: 'r1',
    modelVersion: 'gemini-2.5-flash',
    candidates: [{ index: 0, content: { role: 'model', parts }, ...end }],
  }
}

function read(...chunks: readonly JsonObject[]): CanonicalEvent[] {
  const decode = geminiCodec.decodeEvents()
  const text = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\r\n\r\n`).join('')
  return new SseReader().read(Buffer.from(text)).flatMap((event) => decode(event))
}

function spell(event: CanonicalEvent | undefined): string {
  if (event === undefined) return ''
  if ('text' in event) return `${event.type} ${event.text}`
  if (event.type === 'reasoning-end') {
    return [event.type, event.opaque?.value, event.opaque?.id].filter(Boolean).join(' ')
  }
  if (event.type === 'tool-call-start') return `${event.type} ${event.id} ${event.name}`
  if (event.type === 'choice-end') {
    return [event.type, event.reason, event.explanation].filter(Boolean).join(' ')
  }
  if (event.type === 'usage') {
    const { inputTokens, cachedTokens, outputTokens, reasoningTokens } = event.usage
    return `usage ${inputTokens} ${cachedTokens} ${outputTokens} ${reasoningTokens}`
  }
  return event.type
}

function fails(code: string) {
  return (error: unknown): boolean => error instanceof GatewayError && error.code === code
}
