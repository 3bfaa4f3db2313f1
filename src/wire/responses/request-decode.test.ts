// Responses requests in the canonical form: what is understood, what is dropped by name, and what is refused.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { GatewayError } from '../../core/errors.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Conversation, Message } from '../../core/request.ts'
import { decodeRequest } from './request-decode.ts'

const decode = (rest: JsonObject): Conversation =>
  decodeRequest({ model: 'm', input: 'hi', ...rest })
const messages = (...input: JsonObject[]): readonly Message[] => decode({ input }).messages
const text = (words: string) => ({ type: 'text', text: words })
const call = (id: string, name = 'f') => ({
  type: 'function_call',
  call_id: id,
  name,
  arguments: '{}',
})

describe('responses: input as messages', () => {
  test('a text is the user’s message, after the instructions', () => {
    assert.deepEqual(decode({ instructions: 'Be brief.' }).messages, [
      { role: 'system', parts: [text('Be brief.')] },
      { role: 'user', parts: [text('hi')] },
    ])
  })

  test('results follow their calls, whatever was said between', () => {
    const result = (id: string): JsonObject => ({
      type: 'function_call_output',
      call_id: id,
      output: id,
    })
    const roles = messages(
      { role: 'user', content: 'go' },
      call('a'),
      call('b'),
      result('b'),
      { role: 'user', content: 'wait' },
      result('a'),
      call('c'),
      { role: 'user', content: 'stop' },
      call('d'),
      result('d'),
      result('c'),
    ).map((message) => (message.role === 'tool' ? message.callId : message.role))
    assert.deepEqual(roles, [
      ...['user', 'assistant', 'b', 'a', 'user'],
      ...['assistant', 'c', 'user', 'assistant', 'd'],
    ])
  })

  test('an assistant’s reasoning, texts and calls form one message', () => {
    assert.deepEqual(
      messages(
        { role: 'user', content: 'go' },
        {
          type: 'reasoning',
          id: 'rs_1',
          summary: [
            { type: 'summary_text', text: 'one' },
            { type: 'summary_text', text: 'two' },
          ],
          encrypted_content: 'gAAA',
        },
        {
          type: 'message',
          id: 'msg_1',
          status: 'completed',
          role: 'assistant',
          content: [
            { type: 'output_text', text: 'Fine.' },
            { type: 'refusal', refusal: 'No.' },
          ],
        },
        call('call_1'),
        { type: 'custom_tool_call', call_id: 'call_2', name: 'patch', input: 'x' },
        { type: 'function_call_output', call_id: 'call_1', output: 'done' },
        {
          type: 'custom_tool_call_output',
          call_id: 'call_2',
          output: [
            { type: 'input_text', text: 'see' },
            { type: 'input_image', image_url: 'data:image/png;base64,AAAA' },
          ],
        },
        { role: 'assistant', content: 'Bye.' },
      ),
      [
        { role: 'user', parts: [text('go')] },
        {
          role: 'assistant',
          parts: [
            {
              type: 'reasoning',
              text: 'one\n\ntwo',
              opaque: { format: 'responses', kind: 'encrypted', value: 'gAAA', id: 'rs_1' },
            },
            text('Fine.'),
            { type: 'refusal', text: 'No.' },
            { type: 'tool-call', id: 'call_1', name: 'f', input: '{}', custom: false },
            { type: 'tool-call', id: 'call_2', name: 'patch', input: 'x', custom: true },
          ],
        },
        { role: 'tool', callId: 'call_1', parts: [text('done')] },
        {
          role: 'tool',
          callId: 'call_2',
          parts: [
            text('see'),
            {
              type: 'image',
              source: { type: 'base64', mediaType: 'image/png', data: 'AAAA' },
            },
          ],
        },
        { role: 'assistant', parts: [text('Bye.')] },
      ],
    )
  })

  test('a user may send text, images, files and sound', () => {
    const [message] = messages({
      role: 'user',
      content: [
        { type: 'input_text', text: 'see', prompt_cache_breakpoint: { ttl: '30m' } },
        { type: 'input_image', image_url: 'https://example.com/a.png', detail: 'low' },
        { type: 'input_file', file_data: 'data:application/pdf;base64,AAAA', filename: 'a.pdf' },
        { type: 'input_file', file_url: 'https://example.com/a.pdf' },
        { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } },
      ],
    })
    assert.deepEqual(message?.parts, [
      { ...text('see'), cache: { ttl: '30m' } },
      {
        type: 'image',
        source: { type: 'url', url: 'https://example.com/a.png' },
        detail: 'low',
      },
      {
        type: 'file',
        source: { type: 'base64', mediaType: 'application/pdf', data: 'AAAA' },
        name: 'a.pdf',
      },
      { type: 'file', source: { type: 'url', url: 'https://example.com/a.pdf' } },
      { type: 'audio', data: 'AAAA', encoding: 'mp3' },
    ])
  })

  test('opaque reasoning of another format is unpacked to its original', () => {
    const opaque = { format: 'messages', kind: 'signature', value: 's' }
    const packed = 'tollgate.1.' + Buffer.from(JSON.stringify(opaque)).toString('base64url')
    const [message] = messages({
      type: 'reasoning',
      id: 'rs_1',
      summary: [],
      content: [{ type: 'reasoning_text', text: 'raw' }],
      encrypted_content: packed,
    })
    assert.deepEqual(message?.parts, [{ type: 'reasoning', text: 'raw', opaque }])
  })
})

describe('responses: tools', () => {
  const NAMESPACE = {
    type: 'namespace',
    name: 'crm',
    description: 'Customers',
    tools: [
      { type: 'function', name: 'find', parameters: null, strict: true },
      { type: 'custom', name: 'note', format: { type: 'text' } },
    ],
  }

  test('functions, custom tools and namespaces become one flat list', () => {
    const request = decode({
      tools: [{ type: 'function', name: 'f', description: 'd' }, NAMESPACE],
    })
    assert.deepEqual(request.tools, [
      { type: 'function', name: 'f', description: 'd', schema: { type: 'object', properties: {} } },
      {
        type: 'function',
        name: 'crm__find',
        schema: { type: 'object', properties: {} },
        strict: true,
      },
      { type: 'custom', name: 'crm__note', inputFormat: { type: 'text' } },
    ])
    assert.deepEqual(request.dropped, ['tools.namespace.description'])
  })

  test('a call into a namespace gets the flat name of its tool', () => {
    const input = [{ ...call('call_1', 'find'), namespace: 'crm' }]
    const [message] = decode({ input, tools: [NAMESPACE] }).messages
    assert.equal(
      message?.parts[0] && 'name' in message.parts[0] && message.parts[0].name,
      'crm__find',
    )
  })

  test('flat names never collide and always fit', () => {
    const names = decode({
      tools: [
        { type: 'function', name: 'crm__find' },
        NAMESPACE,
        { type: 'namespace', name: 'n'.repeat(60), tools: [{ type: 'function', name: 'find' }] },
        { type: 'namespace', name: 'with space', tools: [{ type: 'function', name: 'find' }] },
      ],
    }).tools.map((tool) => tool.name)
    assert.equal(new Set(names).size, names.length)
    for (const name of names) assert.match(name, /^[a-zA-Z0-9_-]{1,64}$/)
  })

  const CHOICES: readonly [choice: JsonObject | string, expected: unknown][] = [
    ['auto', { type: 'auto' }],
    ['none', { type: 'none' }],
    ['required', { type: 'required' }],
    [
      { type: 'function', name: 'f' },
      { type: 'tool', name: 'f' },
    ],
    [
      { type: 'custom', name: 'note', namespace: 'crm' },
      { type: 'tool', name: 'crm__note' },
    ],
    [
      {
        type: 'allowed_tools',
        mode: 'required',
        tools: [
          { type: 'function', name: 'f' },
          { type: 'namespace', name: 'crm' },
          { type: 'web_search' },
          { type: 'apply_patch' },
        ],
      },
      { type: 'allowed', names: ['f', 'crm__find', 'crm__note'], required: true },
    ],
    [{ type: 'web_search' }, undefined],
    [{ type: 'apply_patch' }, undefined],
    [{ type: 'allowed_tools', mode: 'auto', tools: [{ type: 'apply_patch' }] }, undefined],
  ]
  for (const [choice, expected] of CHOICES) {
    test(`tool_choice ${JSON.stringify(choice)}`, () => {
      const taken = [{ type: 'web_search' }, { type: 'apply_patch' }]
      const tools = [{ type: 'function', name: 'f' }, NAMESPACE, ...taken]
      const { toolChoice, dropped } = decode({ tools, tool_choice: choice })
      assert.deepEqual(toolChoice, expected)
      if (expected === undefined) assert.ok(dropped.includes('tool_choice'), dropped.join())
    })
  }

  test('tools that only the provider has are dropped and named, along with the choice of them', () => {
    const request = decode({
      tools: [{ type: 'web_search' }, { type: 'local_shell' }],
      tool_choice: { type: 'web_search' },
    })
    assert.deepEqual(request.tools, [])
    assert.deepEqual(request.dropped.toSorted(), [
      'tool_choice',
      'tools.local_shell',
      'tools.web_search',
    ])
  })
})

test('responses: every known setting has its canonical form', () => {
  const request = decode({
    stream: true,
    max_output_tokens: 100,
    temperature: 0.2,
    top_p: 0.9,
    top_logprobs: 3,
    include: ['message.output_text.logprobs', 'reasoning.encrypted_content'],
    parallel_tool_calls: false,
    text: {
      verbosity: 'low',
      format: { type: 'json_schema', name: 'n', schema: { type: 'object' }, strict: true },
    },
    reasoning: { effort: 'high', summary: 'auto' },
    safety_identifier: 'user-1',
    metadata: { a: 'b' },
    prompt_cache_key: 'key',
    service_tier: 'auto',
    store: false,
    truncation: 'disabled',
    client_metadata: { a: 1 },
    stream_options: { include_obfuscation: false },
  })
  assert.deepEqual(request, {
    kind: 'chat',
    model: 'm',
    stream: true,
    messages: [{ role: 'user', parts: [text('hi')] }],
    tools: [],
    parallelToolCalls: false,
    outputTokensMax: 100,
    outputFormat: { type: 'json-schema', name: 'n', schema: { type: 'object' }, strict: true },
    verbosity: 'low',
    reasoning: { effort: 'high', display: 'summary' },
    sampling: { temperature: 0.2, topP: 0.9, logprobs: 3 },
    choices: 1,
    endUser: 'user-1',
    metadata: { a: 'b' },
    cacheKey: 'key',
    serviceTier: 'auto',
    dropped: [],
  })
})

test('responses: fields without a canonical form are dropped and named', () => {
  const { dropped } = decode({
    truncation: 'auto',
    max_tool_calls: 3,
    unheard_of: 1,
    include: ['web_search_call.results'],
    reasoning: { effort: 'low', context: 'all_turns', mode: 'standard' },
    input: [{ role: 'assistant', content: 'x', phase: 'commentary' }],
  })
  assert.deepEqual(dropped.toSorted(), [
    'include.web_search_call.results',
    'input.phase',
    'max_tool_calls',
    'reasoning.context',
    'truncation',
    'unheard_of',
  ])
})

describe('responses: empty reasoning settings ask no model to reason', () => {
  for (const reasoning of [{}, { effort: null, summary: null }, { context: 'auto' }])
    test(JSON.stringify(reasoning), () => {
      const request = decode({ reasoning })
      assert.deepEqual([request.reasoning, request.dropped], [undefined, []])
    })
})

const user = (part: JsonObject): JsonObject => ({ input: [{ role: 'user', content: [part] }] })
const REFUSED: readonly [param: string, body: JsonObject][] = [
  ['input', { input: 3 }],
  ['input[0]', { input: ['x'] }],
  ['input[0].role', { input: [{ role: 'robot', content: 'x' }] }],
  ['input[0].content', { input: [{ role: 'user', content: 3 }] }],
  ['input[0].content[0]', user({ type: 'text', text: 'chat’s own' })],
  ['input[0].content[0].text', user({ type: 'input_text' })],
  ['input[0].content[0].image_url', user({ type: 'input_image', image_url: 'ftp://x' })],
  [
    'input[0].content[0].image_url',
    user({ type: 'input_image', image_url: 'data:image/png;base64,a?' }),
  ],
  ['input[0].content[0].file_data', user({ type: 'input_file', filename: 'a.pdf' })],
  ['input[0].content[0]', { input: [{ role: 'system', content: [{ type: 'input_image' }] }] }],
  [
    'input[0].call_id',
    { input: [{ type: 'function_call_output', call_id: 'call_9', output: 'x' }] },
  ],
  ['input[0].arguments', { input: [{ type: 'function_call', call_id: 'c', name: 'f' }] }],
  ['input[0]', { input: [{ id: 'msg_1' }] }],
  ['input[0]', { input: [{ type: 'item_reference', id: 'msg_1' }] }],
  ['input[0]', { input: [{ type: 'compaction', encrypted_content: 'x' }] }],
  ['input[0]', { input: [{ type: 'web_search_call', id: 'ws_1', status: 'completed' }] }],
  ['instructions', { instructions: 3 }],
  ['tools', { tools: 'f' }],
  ['tools[0]', { tools: ['f'] }],
  ['tools[0].name', { tools: [{ type: 'function' }] }],
  ['tools[0].parameters', { tools: [{ type: 'function', name: 'f', parameters: 'x' }] }],
  ['tools[0].tools[0].type', { tools: [{ type: 'namespace', name: 'n', tools: [{}] }] }],
  ['tool_choice', { tool_choice: 'sometimes' }],
  ['tool_choice', { tools: [{ type: 'custom', name: 'c' }], tool_choice: { type: 'shell' } }],
  ['text.format.type', { text: { format: { type: 'yaml' } } }],
  ['text.format.schema', { text: { format: { type: 'json_schema', name: 'n' } } }],
  ['reasoning.effort', { reasoning: { effort: 'enormous' } }],
  ['metadata.a', { metadata: { a: 1 } }],
]
for (const [param, body] of REFUSED) {
  test(`responses: refused at ${param}: ${JSON.stringify(body)}`, () => {
    assert.throws(
      () => decode(body),
      (error) =>
        error instanceof GatewayError &&
        error.status === 400 &&
        error.details.param === param &&
        error.message.includes(param),
    )
  })
}

test('responses: the refusal of an item lists the types that any model takes', () => {
  assert.throws(() => decode({ input: [{ type: 'mesage', role: 'user', content: 'x' }] }), {
    code: 'unsupported_parameter',
    message:
      /the type "mesage", .* takes message, function_call, function_call_output, custom_tool_call, custom_tool_call_output, reasoning, additional_tools, item_reference;/,
  })
})
