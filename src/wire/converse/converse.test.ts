// Bedrock's Converse: how requests are encoded, and how answers are decoded, whole and streamed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SAMPLE_CONTEXT } from '../../../test/samples/answer-context.ts'
import { GatewayError } from '../../core/errors.ts'
import type { CanonicalEvent } from '../../core/events.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import type { Conversation, ModelTraits, Reasoning } from '../../core/request.ts'
import { lossesOf } from '../contract/losses.ts'
import { sseEvent } from '../contract/sse.ts'
import { messagesCodec } from '../messages/codec.ts'
import { converseCodec } from './codec.ts'
import { CONVERSE_LOSSES } from './request-encode.ts'

const OPAQUE = { format: 'converse', kind: 'signature', value: 'sig' } as const

const request: Conversation = {
  kind: 'chat',
  model: 'amazon.nova-lite-v1:0',
  dropped: [],
  stream: true,
  outputTokensMax: 100,
  sampling: { temperature: 1.5, topP: 0.5, stop: ['END'] },
  choices: 1,
  tools: [{ type: 'function', name: 'weather', description: 'Tells it.', schema: {} }],
  toolChoice: { type: 'required' },
  messages: [
    { role: 'system', parts: [{ type: 'text', text: 'Be brief.' }] },
    {
      role: 'user',
      parts: [
        { type: 'text', text: 'Look.' },
        { type: 'image', source: { type: 'base64', mediaType: 'image/png', data: 'aQ==' } },
        { type: 'file', name: 'my_notes.txt', source: { type: 'text', text: 'x' } },
      ],
    },
    {
      role: 'assistant',
      parts: [
        { type: 'reasoning', text: 'Hm.', opaque: OPAQUE },
        { type: 'tool-call', id: 'call:1', name: 'weather', input: '{"a":1}', custom: false },
      ],
    },
    { role: 'tool', callId: 'call:1', parts: [{ type: 'text', text: 'no' }], isError: true },
  ],
}

test('an empty tool result gets a placeholder, because Bedrock refuses an empty error', () => {
  const messages: Conversation['messages'] = request.messages.map((message) =>
    message.role === 'tool' ? { ...message, parts: [{ type: 'text', text: ' ' }] } : message,
  )
  const { messages: turns } = converseCodec.encodeRequest({ ...request, messages })
  const content = [{ text: '(no content)' }]
  assert.deepEqual((turns as JsonObject[]).at(-1), {
    role: 'user',
    content: [{ toolResult: { toolUseId: 'call_1', content, status: 'error' } }],
  })
})

test('a request with every feature is encoded', () => {
  assert.deepEqual(converseCodec.encodeRequest(request), {
    system: [{ text: 'Be brief.' }],
    messages: [
      {
        role: 'user',
        content: [
          { text: 'Look.' },
          { image: { format: 'png', source: { bytes: 'aQ==' } } },
          { document: { format: 'txt', name: 'my-notes-txt', source: { bytes: 'eA==' } } },
        ],
      },
      {
        role: 'assistant',
        content: [
          { reasoningContent: { reasoningText: { text: 'Hm.', signature: 'sig' } } },
          { toolUse: { toolUseId: 'call_1', name: 'weather', input: { a: 1 } } },
        ],
      },
      {
        role: 'user',
        content: [
          { toolResult: { toolUseId: 'call_1', content: [{ text: 'no' }], status: 'error' } },
        ],
      },
    ],
    inferenceConfig: { maxTokens: 100, temperature: 1, topP: 0.5, stopSequences: ['END'] },
    toolConfig: {
      tools: [
        {
          toolSpec: {
            name: 'weather',
            description: 'Tells it.',
            inputSchema: { json: { type: 'object' } },
          },
        },
      ],
      toolChoice: { any: {} },
    },
  })
})

test('a document’s format follows from its media type', () => {
  const sent = (mediaType: string): unknown => {
    const source = { type: 'base64', mediaType, data: 'aQ==' } as const
    const messages = [{ role: 'user', parts: [{ type: 'file', source }] }] as const
    const [turn] = converseCodec.encodeRequest({ ...request, messages })['messages'] as JsonObject[]
    return (turn?.['content'] as { document: { format: string } }[] | undefined)?.[0]?.document
      .format
  }
  assert.equal(sent('application/pdf'), 'pdf')
  assert.equal(sent('application/vnd.ms-excel'), 'xls')
  assert.equal(
    sent('application/vnd.openxmlformats-officedocument.wordprocessingml.document'),
    'docx',
  )
  assert.equal(sent('text/x-python'), 'txt')
})

test('tools called earlier are always offered, and a choice of none is named as lost', () => {
  const offered = (more: Partial<Conversation>): unknown => {
    const { toolConfig } = converseCodec.encodeRequest({ ...request, ...more })
    const { tools = [], toolChoice } = (toolConfig ?? {}) as { tools?: Spec[]; toolChoice?: Json }
    return [tools.map(({ toolSpec }) => toolSpec.name).join(), toolChoice]
  }
  type Spec = { readonly toolSpec: { readonly name: string } }
  const none = { toolChoice: { type: 'none' } } as const
  const silent = { messages: request.messages.slice(0, 2) }
  assert.deepEqual(offered(none), ['weather', undefined])
  assert.deepEqual(offered({ tools: [], ...none }), ['weather', undefined])
  assert.deepEqual(offered({ ...none, ...silent }), ['', undefined])
  const target = { losses: CONVERSE_LOSSES, model: request.model }
  const losses = (more: Partial<Conversation>): string[] =>
    lossesOf({ ...request, sampling: {}, ...none, ...more }, 'chat', target)
  assert.deepEqual(losses({}), ['tool_choice'])
  assert.deepEqual(losses(silent), [])
})

test('an output schema is sent as JSON text', () => {
  const schema = { type: 'object', properties: { sky: { type: 'string' } } }
  const outputFormat = { type: 'json-schema', name: 'weather', schema } as const
  assert.deepEqual(converseCodec.encodeRequest({ ...request, outputFormat })['outputConfig'], {
    textFormat: {
      type: 'json_schema',
      structure: {
        jsonSchema: {
          name: 'weather',
          schema: JSON.stringify({ ...schema, additionalProperties: false }),
        },
      },
    },
  })
})

test('the effort is sent to models that accept one', () => {
  const told = (model: string, reasoning: Reasoning): unknown =>
    converseCodec.encodeRequest({ ...request, model, reasoning })['additionalModelRequestFields']
  const nova = (maxReasoningEffort: string) => ({
    reasoningConfig: { type: 'enabled', maxReasoningEffort },
  })
  assert.deepEqual(told('eu.amazon.nova-2-lite-v1:0', { effort: 'minimal' }), nova('low'))
  assert.deepEqual(told('eu.amazon.nova-2-lite-v1:0', { effort: 'max' }), nova('medium'))
  assert.deepEqual(told('amazon.nova-2-lite-v1:0', { effort: 'none' }), {
    reasoningConfig: { type: 'disabled' },
  })
  assert.deepEqual(told('openai.gpt-oss-120b-1:0', { tokensMax: 9_000 }), {
    reasoning_effort: 'high',
  })
  assert.equal(told('meta.llama3-1-70b-instruct-v1:0', { effort: 'high' }), undefined)
})

const usage = { inputTokens: 8, outputTokens: 7, cacheReadInputTokens: 3, cacheWriteInputTokens: 1 }

test('reasoning, text and calls decode alike, whole or streamed', () => {
  const streamed = read(
    ['messageStart', { role: 'assistant' }],
    ['contentBlockDelta', { delta: { reasoningContent: { text: 'Hm' } } }],
    ['contentBlockDelta', { delta: { reasoningContent: { signature: 'sig' } } }],
    ['contentBlockStop', {}],
    ['contentBlockDelta', { delta: { text: 'It rains.' } }],
    ['contentBlockStop', {}],
    ['contentBlockStart', { start: { toolUse: { toolUseId: 't1', name: 'umbrella' } } }],
    ['contentBlockDelta', { delta: { toolUse: { input: '{"open":true}' } } }],
    ['contentBlockStop', {}],
    ['messageStop', { stopReason: 'tool_use' }],
    ['metadata', { usage }],
  )
  const whole = converseCodec.decodeResponse({
    output: {
      message: {
        role: 'assistant',
        content: [
          { reasoningContent: { reasoningText: { text: 'Hm', signature: 'sig' } } },
          { text: 'It rains.' },
          { toolUse: { toolUseId: 't1', name: 'umbrella', input: { open: true } } },
        ],
      },
    },
    stopReason: 'tool_use',
    usage,
  })
  assert.deepEqual(whole, streamed)
  assert.deepEqual(
    streamed.filter(({ type }) => /end$|start$|usage/.test(type)),
    [
      { type: 'response-start', id: '', model: '' },
      { type: 'reasoning-start', choice: 0, block: 0 },
      { type: 'reasoning-end', choice: 0, block: 0, opaque: OPAQUE },
      { type: 'text-start', choice: 0, block: 1 },
      { type: 'text-end', choice: 0, block: 1 },
      {
        type: 'tool-call-start',
        choice: 0,
        block: 2,
        id: 't1',
        name: 'umbrella',
        custom: false,
      },
      { type: 'tool-call-end', choice: 0, block: 2 },
      { type: 'choice-end', choice: 0, reason: 'tool-call' },
      {
        type: 'usage',
        usage: {
          inputTokens: 12,
          cachedTokens: 3,
          cacheWriteTokens: 1,
          cacheWriteLongTokens: 0,
          outputTokens: 7,
          reasoningTokens: 0,
        },
      },
      { type: 'response-end' },
    ],
  )
})

test('text with citations decodes alike, whole or streamed', () => {
  const page = { title: 'Tolls', location: { web: { url: 'https://example.com', domain: 'x' } } }
  const inDocument = { location: { documentPage: { documentIndex: 0, start: 1, end: 2 } } }
  const streamed = read(
    ['messageStart', {}],
    ['contentBlockDelta', { delta: { text: 'It ' } }],
    ['contentBlockDelta', { delta: { text: 'rains.' } }],
    ['contentBlockDelta', { delta: { citation: page } }],
    ['contentBlockDelta', { delta: { citation: inDocument } }],
    ['contentBlockStop', {}],
    ['messageStop', { stopReason: 'end_turn' }],
    ['metadata', { usage }],
  )
  const content = [{ text: 'It ' }, { text: 'rains.' }]
  const whole = converseCodec.decodeResponse({
    output: {
      message: { content: [{ citationsContent: { content, citations: [page, inDocument] } }] },
    },
    stopReason: 'end_turn',
    usage,
  })
  assert.deepEqual(whole, streamed)
  const citation = { url: 'https://example.com', title: 'Tolls', start: 0, end: 9 }
  assert.deepEqual(
    streamed.filter(({ type }) => type.startsWith('text')),
    [
      { type: 'text-start', choice: 0, block: 0 },
      { type: 'text-delta', choice: 0, block: 0, text: 'It ' },
      { type: 'text-delta', choice: 0, block: 0, text: 'rains.' },
      { type: 'text-citation', choice: 0, block: 0, citation },
      { type: 'text-end', choice: 0, block: 0 },
    ],
  )
})

test('an answer without its last frame is incomplete, and an exception is an error', () => {
  const cut = read(['messageStart', {}], ['messageStop', { stopReason: 'end_turn' }])
  assert.ok(!cut.some(({ type }) => type === 'response-end'))
  for (const [type, code] of [
    ['rate_limit_error', 'provider_rate_limited'],
    ['overloaded_error', 'provider_overloaded'],
    ['api_error', 'provider_failed'],
  ] as const) {
    assert.throws(
      () => read(['exception', { type, message: 'no' }]),
      (error) => error instanceof GatewayError && error.code === code,
    )
  }
  const usage = { inputTokens: 9, outputTokens: 500 }
  for (const stopReason of ['malformed_tool_use', 'constructor'])
    assert.throws(
      () => read(['messageStop', { stopReason }], ['metadata', { usage }]),
      (error) => error instanceof GatewayError && error.details.usage?.outputTokens === 500,
    )
})

test('an answer may lack its start, or have two', () => {
  const rest = [
    ['contentBlockDelta', { delta: { text: 'It rains.' } }],
    ['contentBlockStop', {}],
    ['messageStop', { stopReason: 'end_turn' }],
    ['metadata', { usage }],
  ] as const
  const usual = read(['messageStart', {}], ...rest)
  assert.deepEqual(read(...rest), usual)
  assert.deepEqual(read(['messageStart', {}], ['messageStart', {}], ...rest), usual)
})

test('what comes after the stop reason is no part of the answer', () => {
  const events = read(
    ['contentBlockDelta', { delta: { text: 'It rains.' } }],
    ['messageStop', { stopReason: 'end_turn' }],
    ['contentBlockDelta', { delta: { text: 'It snows.' } }],
    ['messageStop', { stopReason: 'max_tokens' }],
    ['metadata', { usage }],
  )
  const [end] = events.filter(({ type }) => type === 'choice-end')
  assert.deepEqual(end, { type: 'choice-end', choice: 0, reason: 'stop' })
  assert.doesNotMatch(JSON.stringify(events), /snows/)
})

test('a messages client learns that a stop sequence was met, and which one if it gave only one', () => {
  const events = read(
    ['contentBlockDelta', { delta: { text: 'One, two, ' } }],
    ['messageStop', { stopReason: 'stop_sequence' }],
    ['metadata', { usage }],
  )
  for (const [stops, met] of [
    [['three'], 'three'],
    [['three', 'four'], null],
  ] as const) {
    const context = { ...SAMPLE_CONTEXT, body: { stop_sequences: stops } }
    const { stop_reason, stop_sequence } = messagesCodec.encodeResponse(events, context)
    assert.deepEqual([stop_reason, stop_sequence], ['stop_sequence', met])
  }
})

test('an answer without a stop reason cannot be used', () => {
  const failure = { code: 'provider_failed', message: /cannot be used/ }
  const text = ['contentBlockDelta', { delta: { text: 'It ' } }] as const
  assert.throws(() => read(text, ['metadata', { usage }]), failure)
  assert.throws(() => read(['metadata', { usage }]), failure)
})

test('the input of a call that never started is ignored', () => {
  const delta = { toolUse: { input: '{}' } }
  assert.deepEqual(read(['messageStart', {}], ['contentBlockDelta', { delta }]).slice(1), [])
})

test('blocks whose pieces arrive mixed come one after the other', () => {
  const begin = (contentBlockIndex: number, name: string) =>
    ['contentBlockStart', { contentBlockIndex, start: { toolUse: { name } } }] as const
  const piece = (contentBlockIndex: number, input: string) =>
    ['contentBlockDelta', { contentBlockIndex, delta: { toolUse: { input } } }] as const
  const events = read(
    begin(0, 'a'),
    begin(1, 'b'),
    piece(1, '[1]'),
    ['contentBlockDelta', { contentBlockIndex: 2, delta: { text: 'Both.' } }],
    piece(0, '[0'),
    piece(0, ']'),
    ['contentBlockStop', { contentBlockIndex: 0 }],
    ['messageStop', { stopReason: 'tool_use' }],
  )
  const told = events.flatMap((event) => {
    if (event.type === 'tool-call-start') return event.name
    return 'text' in event ? event.text : []
  })
  assert.deepEqual(told, ['a', '[0', ']', 'b', '[1]', 'Both.'])
})

test('an answer without content is the provider’s failure', () => {
  for (const output of [null, {}, { message: {} }, { message: { content: 'It rains.' } }])
    assert.throws(() => converseCodec.decodeResponse({ output, stopReason: 'end_turn', usage }), {
      code: 'provider_failed',
      message: /no content/,
    })
})

function read(...frames: readonly (readonly [string, JsonObject])[]): CanonicalEvent[] {
  const decode = converseCodec.decodeEvents()
  return frames.flatMap(([name, data]) => decode(sseEvent(name, data)))
}

test('the log is told a stop reason only if it is a name', () => {
  for (const [stopReason, cause] of [
    ['malformed_tool_use', 'stop reason malformed_tool_use'],
    ['the prompt said: open the gate', 'stop reason'],
  ] as const) {
    assert.throws(() => read(['messageStop', { stopReason }], ['metadata', {}]), { cause })
  }
})

test('effort none is honoured by Nova 2, and named as lost for other reasoning models', () => {
  const lost = (model: string, traits: ModelTraits = {}): readonly string[] => {
    const wish = { ...request, model, reasoning: { effort: 'none' } } as const
    return lossesOf({ ...wish, sampling: {} }, 'chat', { losses: CONVERSE_LOSSES, model, traits })
  }
  assert.deepEqual(lost('eu.amazon.nova-2-lite-v1:0'), [])
  assert.deepEqual(lost('openai.gpt-oss-120b-1:0'), ['reasoning_effort'])
  assert.deepEqual(lost('amazon.nova-pro-v1:0', { reasons: false }), [])
})
