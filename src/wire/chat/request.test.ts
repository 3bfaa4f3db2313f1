// Request round trips: what the format can express survives, and what it lacks is written another way.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { SAMPLE_CONVERSATION as PLAIN } from '../../../test/samples/conversation.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Message, OpaqueReasoning, Tool } from '../../core/request.ts'
import { decodeRequest } from './request-decode.ts'
import { encodeRequest } from './request-encode.ts'

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
const word = fc.stringMatching(/^[a-z_]{1,12}$/)
const textPart = fc.record({ type: fc.constant('text' as const), text })
const source = fc.oneof(
  fc.record({
    type: fc.constant('base64' as const),
    mediaType: fc.constantFrom('image/png', 'image/jpeg'),
    data: fc.uint8Array({ minLength: 1 }).map((bytes) => Buffer.from(bytes).toString('base64')),
  }),
  fc.record({ type: fc.constant('url' as const), url: fc.webUrl() }),
)
const userPart = fc.oneof(textPart, fc.record({ type: fc.constant('image' as const), source }))
const opaque: fc.Arbitrary<OpaqueReasoning> = fc.record({
  format: fc.constant('chat' as const),
  kind: fc.constant('signature' as const),
  value: fc.base64String({ minLength: 4 }),
})

const turn: fc.Arbitrary<readonly Message[]> = fc.oneof(
  fc
    .record({
      role: fc.constantFrom('system' as const, 'developer' as const),
      parts: fc.tuple(textPart),
    })
    .map((message) => [message]),
  fc
    .record({
      role: fc.constant('user' as const),
      parts: fc.array(userPart, { minLength: 1 }),
      name: word,
    })
    .map((message) => [message]),
  fc.tuple(text, text, opaque, fc.uniqueArray(word, { maxLength: 3 })).map(callTurn),
)

/** An assistant turn with reasoning, text and calls, followed by the results. */
function callTurn([reasoned, said, opaque, ids]: [
  string,
  string,
  OpaqueReasoning,
  string[],
]): Message[] {
  const calls = ids.map((id) => ({ id: `call_${id}`, name: 'f', input: '{"a":1}', custom: false }))
  return [
    {
      role: 'assistant',
      parts: [
        { type: 'reasoning', text: reasoned, opaque },
        { type: 'text', text: said },
        ...calls.map((call) => ({ type: 'tool-call' as const, ...call })),
      ],
    },
    ...calls.map(({ id }) => ({
      role: 'tool' as const,
      callId: id,
      parts: [{ type: 'text' as const, text: said }],
    })),
  ]
}

const tool: fc.Arbitrary<Tool> = fc.oneof(
  fc.record({
    type: fc.constant('function' as const),
    name: word,
    description: text,
    schema: fc.constant({ type: 'object', properties: { a: { type: 'number' } } }),
    strict: fc.boolean(),
  }),
  fc.record({
    type: fc.constant('custom' as const),
    name: word,
    inputFormat: fc.constantFrom<JsonObject>(
      { type: 'text' },
      { type: 'grammar', syntax: 'regex', definition: 'a+' },
    ),
  }),
)

const settings = fc.record(
  {
    outputTokensMax: fc.integer({ min: 1 }),
    parallelToolCalls: fc.boolean(),
    toolChoice: fc.record({
      type: fc.constantFrom('auto' as const, 'none' as const, 'required' as const),
    }),
    outputFormat: fc.oneof(
      fc.constant({ type: 'json' as const }),
      fc.record({ type: fc.constant('json-schema' as const), name: word, schema: fc.constant({}) }),
    ),
    verbosity: fc.constantFrom('low' as const, 'medium' as const, 'high' as const),
    endUser: word,
    cacheKey: word,
    serviceTier: fc.constantFrom('auto', 'default'),
  },
  { requiredKeys: [] },
)

const sampling = fc.record(
  {
    temperature: fc.constantFrom(0, 0.5, 2),
    topP: fc.constantFrom(0.1, 1),
    frequencyPenalty: fc.constantFrom(-2, 0, 2),
    presencePenalty: fc.constantFrom(-2, 0, 2),
    seed: fc.integer(),
    logitBias: fc.constant({ '17': -100 }),
    stop: fc.array(text, { minLength: 1, maxLength: 4 }),
    logprobs: fc.integer({ min: 0, max: 20 }),
  },
  { requiredKeys: [] },
)

test('a conversation that the format can express survives encoding and decoding', () => {
  fc.assert(
    fc.property(
      fc.array(turn, { minLength: 1, maxLength: 4 }),
      fc.uniqueArray(tool, { selector: ({ name }) => name, minLength: 1, maxLength: 3 }),
      fc.record({
        settings,
        sampling,
        stream: fc.boolean(),
        choices: fc.integer({ min: 1, max: 4 }),
      }),
      (turns, tools, { settings: given, ...rest }) => {
        // A model that takes custom tools and any sampling.
        const asked = { ...PLAIN, model: 'gpt-4.1', ...rest, ...given }
        const request = { ...asked, messages: turns.flat(), tools }
        assert.deepEqual(decodeRequest(copy(encodeRequest(request))), copy(request))
      },
    ),
  )
})

test('an effort survives encoding and decoding', () => {
  for (const effort of ['low', 'medium', 'high'] as const) {
    const request = { ...PLAIN, reasoning: { effort } }
    assert.deepEqual(decodeRequest(encodeRequest(request)), request)
  }
})

test('models that are not OpenAI’s are offered functions in place of custom tools', () => {
  const input = '*** Begin "patch"'
  const encoded = encodeRequest({
    ...PLAIN,
    model: 'llama-4',
    tools: [{ type: 'custom', name: 'patch', description: 'Patches.' }],
    toolChoice: { type: 'tool', name: 'patch' },
    messages: [
      ...PLAIN.messages,
      {
        role: 'assistant',
        parts: [{ type: 'tool-call', id: 'call_1', name: 'patch', input, custom: true }],
      },
      { role: 'tool', callId: 'call_1', parts: [] },
    ],
  })
  const parameters = {
    type: 'object',
    properties: { input: { type: 'string' } },
    required: ['input'],
    additionalProperties: false,
  }
  const { tools, tool_choice: choice, messages } = encoded
  assert.deepEqual(tools, [
    { type: 'function', function: { name: 'patch', description: 'Patches.', parameters } },
  ])
  assert.deepEqual(choice, { type: 'function', function: { name: 'patch' } })
  const call = { name: 'patch', arguments: JSON.stringify({ input }) }
  assert.deepEqual((messages as readonly JsonObject[])[1], {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'call_1', type: 'function', function: call }],
  })
})

test('models that are not OpenAI’s are offered only the tools that are allowed', () => {
  const [a, b] = ['a', 'b'].map((name) => ({ type: 'function' as const, name, schema: {} }))
  assert(a !== undefined && b !== undefined)
  for (const required of [true, false]) {
    const toolChoice = { type: 'allowed' as const, names: ['b'], required }
    const encoded = encodeRequest({ ...PLAIN, model: 'llama-4', tools: [a, b], toolChoice })
    assert.deepEqual(encoded['tools'], [
      { type: 'function', function: { name: 'b', parameters: {} } },
    ])
    assert.equal(encoded['tool_choice'], required ? 'required' : 'auto')
  }
})

function copy<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value
}

test('features that the format lacks are expressed in other ways', () => {
  const image = {
    type: 'image' as const,
    source: { type: 'url' as const, url: 'https://x.test/a.png' },
  }
  const result = (id: string, parts: Message['parts']): Message =>
    ({ role: 'tool', callId: id, parts }) as Message
  const call = (id: string) => ({
    type: 'tool-call' as const,
    id,
    name: 'f',
    input: '',
    custom: false,
  })
  const longId = 'x'.repeat(100)
  const { messages } = encodeRequest({
    ...PLAIN,
    messages: [
      { role: 'assistant', parts: [call(longId), call('b')] },
      { ...result(longId, [{ type: 'text', text: 'no' }]), isError: true } as Message,
      result('b', [{ type: 'text', text: 'see' }, image]),
      {
        role: 'user',
        parts: [{ type: 'file', name: 'notes.txt', source: { type: 'text', text: 'a note' } }],
      },
    ],
  }) as { messages: Record<string, unknown>[] }
  const [assistant, failed, shown, media, file] = messages
  type ToolCall = { id: string; function: { arguments: string } }
  const [first] = (assistant?.['tool_calls'] ?? []) as ToolCall[]
  assert.equal(first?.function.arguments, '{}', 'no input is an empty object')
  assert.equal(first?.id.length, 40, 'ids that are too long are cut to fit')
  assert.equal(failed?.['tool_call_id'], first?.id, 'alike in the call and in its result')
  assert.equal(failed?.['content'], 'Error: no', 'a failed result says so')
  assert.equal(shown?.['content'], 'see')
  assert.deepEqual(
    media,
    { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://x.test/a.png' } }] },
    'an image in a result follows in a message of the user, after all results',
  )
  assert.deepEqual(file?.['content'], [{ type: 'text', text: 'notes.txt\n\na note' }])
})

test('a reasoning budget becomes the nearest effort', () => {
  for (const [tokensMax, effort] of [
    [512, 'minimal'],
    [1024, 'low'],
    [2048, 'medium'],
    [32_000, 'high'],
  ] as const) {
    const request = { ...PLAIN, model: 'gpt-5', reasoning: { tokensMax } }
    assert.equal(encodeRequest(request)['reasoning_effort'], effort)
  }
})

test('names too long for a provider are shortened and stay distinct', () => {
  const [one, other] = ['a', 'b'].map(
    (end) => encodeRequest({ ...PLAIN, endUser: 'x'.repeat(80) + end })['user'],
  )
  assert.equal(String(one).length, 64)
  assert.notEqual(one, other)
})

test('models that insist on reasoning beside tools get a placeholder where there is none', () => {
  const opaque = { format: 'chat', kind: 'signature', value: '' } as const
  const messages: Message[] = [
    { role: 'user', parts: [{ type: 'text', text: 'a' }] },
    { role: 'assistant', parts: [{ type: 'reasoning', text: 'hm', opaque }] },
    {
      role: 'assistant',
      parts: [{ type: 'tool-call', id: 'c', name: 'f', input: '{}', custom: false }],
    },
    { role: 'tool', callId: 'c', parts: [] },
  ]
  const tools: Tool[] = [{ type: 'function', name: 'f', schema: {} }]
  const reasoned = (more: object): unknown[] => {
    const sent = encodeRequest({ ...PLAIN, messages, tools, ...more })['messages'] as JsonObject[]
    return sent.flatMap(({ role, reasoning_content: said }) => (role === 'assistant' ? [said] : []))
  }
  assert.deepEqual(reasoned({ model: 'deepseek-v4-pro' }), ['hm', ' '])
  assert.deepEqual(reasoned({ model: 'moonshotai/Kimi-K2.6' }), ['hm', ' '])
  assert.deepEqual(reasoned({ model: 'prod', traits: { alsoKnownAs: ['kimi-k2.5'] } }), ['hm', ' '])
  assert.deepEqual(reasoned({ model: 'deepseek-v4-pro', tools: [] }), ['hm', undefined])
  assert.deepEqual(reasoned({ model: 'deepseek-chat', traits: { reasons: false } }), [
    'hm',
    undefined,
  ])
  assert.deepEqual(reasoned({ model: 'gpt-5' }), ['hm', undefined])
})
