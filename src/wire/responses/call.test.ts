// What admission learns about a responses request: every part that a model could read is counted, hidden ones too.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GatewayError } from '../../core/errors.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { NO_INPUT } from '../../core/request.ts'
import type { InputMeasure } from '../../core/request.ts'
import { readCall } from './call.ts'

const read = (rest: JsonObject) => readCall({ model: 'm', input: 'hi', ...rest })
const bytes = (value: Json): number => Buffer.byteLength(JSON.stringify(value))
const user = (...content: Json[]): JsonObject => ({ input: [{ role: 'user', content }] })
const NOTHING: InputMeasure = { ...NO_INPUT, items: 1 }
const TOOL = { type: 'function', name: 'f', parameters: { type: 'object' } }
const FORMAT = { type: 'json_schema', name: 'n', schema: {} }
const SCREENSHOT = { type: 'computer_call_output', call_id: 'c', output: {} }

const MEASURES: readonly [what: string, body: JsonObject, expected: Partial<InputMeasure>][] = [
  ['UTF-8 bytes of a text', { input: 'für' }, { textBytes: 4 }],
  ['instructions', { instructions: 'four' }, { textBytes: 6 }],
  [
    'items',
    {
      input: [
        { role: 'user', content: 'a' },
        { role: 'user', content: 'b' },
      ],
    },
    { textBytes: 2, items: 2 },
  ],
  ['text parts', user({ type: 'input_text', text: 'abc' }), { items: 2, textBytes: 3 }],
  [
    'images',
    user({ type: 'input_image', image_url: 'data:image/png;base64,…' }),
    { items: 2, images: 1 },
  ],
  [
    'films in place of images',
    user({ type: 'input_image', image_url: 'data:video/mp4;base64,…' }),
    { items: 2, unbounded: true, audio: true },
  ],
  [
    'files that are films',
    user({ type: 'input_file', file_data: 'data:video/mp4;base64,…' }),
    { items: 2, unbounded: true, audio: true },
  ],
  [
    'files',
    user({ type: 'input_file', file_url: 'https://x' }),
    { items: 2, unbounded: true, fetched: true },
  ],
  ['tools', { tools: [TOOL] }, { textBytes: 2, items: 2, jsonBytes: bytes(TOOL) }],
  [
    'tools that the model knows by their type',
    { tools: [{ type: 'apply_patch' }, { type: 'shell', environment: { type: 'local' } }] },
    {
      textBytes: 2,
      items: 3,
      vendorTools: 2,
      jsonBytes:
        bytes({ type: 'apply_patch' }) + bytes({ type: 'shell', environment: { type: 'local' } }),
    },
  ],
  ['no hosted tools', { tools: [{ type: 'web_search' }] }, { textBytes: 2 }],
  ['schemas', { text: { format: FORMAT } }, { textBytes: 2, jsonBytes: bytes(FORMAT) }],
  [
    'calls',
    { input: [{ type: 'function_call', call_id: 'c', name: 'f', arguments: '{"a":1}' }] },
    { textBytes: 2, jsonBytes: 7 },
  ],
  [
    'results',
    { input: [{ type: 'function_call_output', call_id: 'c', output: '12345' }] },
    { textBytes: 1, jsonBytes: 5 },
  ],
  [
    'encrypted thoughts',
    { input: [{ type: 'reasoning', encrypted_content: '12345678' }] },
    { textBytes: 8, opaqueBytes: 8 },
  ],
  ['unknown items', { input: [SCREENSHOT] }, { unbounded: true, jsonBytes: bytes(SCREENSHOT) }],
  [
    'images generated earlier',
    { input: [{ type: 'image_generation_call', id: 'i', result: 'AAAA' }] },
    {
      unbounded: true,
      jsonBytes: bytes({ type: 'image_generation_call', id: 'i', result: 'AAAA' }),
    },
  ],
  ['unknown fields', { documents: ['abc'] }, { textBytes: 2, jsonBytes: 7 }],
  [
    'unknown fields of messages',
    { input: [{ role: 'assistant', content: 'Hi', id: 'msg_1', tool_calls: ['abc'] }] },
    { textBytes: 2, jsonBytes: 7 },
  ],
  [
    'cache marks',
    user({ type: 'input_text', text: '', prompt_cache_breakpoint: { ttl: '12h' } }),
    { items: 2, cacheWrites: 'long' },
  ],
  [
    'cache marks of results',
    {
      input: [
        {
          type: 'function_call_output',
          call_id: 'c',
          output: [{ type: 'input_text', text: 'a', prompt_cache_breakpoint: { ttl: '12h' } }],
        },
      ],
    },
    { items: 2, textBytes: 1, jsonBytes: 72, cacheWrites: 'long' },
  ],
  ['cache options', { prompt_cache_options: {} }, { textBytes: 2, cacheWrites: 'short' }],
]
for (const [what, body, expected] of MEASURES) {
  test(`responses: the input measure counts ${what}`, () => {
    assert.deepEqual(read(body).input, { ...NOTHING, ...expected })
  })
}

test('responses: admission learns the limit, needs, searches and labels of a request', () => {
  const call = read({
    stream: true,
    max_output_tokens: 50,
    reasoning: { effort: 'low' },
    tools: [TOOL, { type: 'web_search' }, { type: 'mcp' }],
    text: { format: FORMAT },
    safety_identifier: 'u',
    metadata: { a: 'b' },
    input: [
      { role: 'developer', content: 'first' },
      { role: 'user', content: [{ type: 'input_text', text: 'second' }] },
      { role: 'user', content: 'third' },
    ],
  })
  const { input: _, ...rest } = call
  assert.deepEqual(rest, {
    model: 'm',
    stream: true,
    output: { tokensMax: 50, choices: 1, reasons: true },
    needs: ['tools', 'structured_output'],
    dropped: ['tools.web_search', 'tools.mcp'],
    search: { searchesMax: 5, dropped: ['tools.mcp'] },
    endUser: 'u',
    metadata: { a: 'b' },
  })
})

const REFUSED: readonly [param: string, body: JsonObject][] = [
  ['model', { model: '' }],
  ['model', { model: 3 }],
  ['input', { input: null }],
  ['input', { input: 5 }],
  ['input', { input: [] }],
  ['stream', { stream: 'yes' }],
  ['store', { store: 'no' }],
  ['max_output_tokens', { max_output_tokens: 0 }],
  ['max_output_tokens', { max_output_tokens: 1.5 }],
  ['conversation', { conversation: 'conv_1' }],
  ['background', { background: true }],
  ['prompt', { prompt: { id: 'pmpt_1' } }],
  ['service_tier', { service_tier: 'priority' }],
  ['input[0].content[0].file_id', user({ type: 'input_file', file_id: 'file-1' })],
  [
    'input[0].output[0].file_id',
    {
      input: [
        {
          type: 'function_call_output',
          call_id: 'c',
          output: [{ type: 'input_image', file_id: 'file-1' }],
        },
      ],
    },
  ],
  [
    'input[0].output.file_id',
    {
      input: [
        {
          type: 'computer_call_output',
          call_id: 'c',
          output: { type: 'computer_screenshot', file_id: 'file-1' },
        },
      ],
    },
  ],
  ['input[0]', { input: [{ type: 'item_reference', id: 'msg_1' }] }],
  ['input[0].id', { input: [{ type: 'image_generation_call', id: 'ig_1', result: null }] }],
  ['reasoning.mode', { reasoning: { mode: 'pro' } }],
  ['multi_agent', { multi_agent: { enabled: true } }],
  ['prompt_cache_options.ttl', { prompt_cache_options: { ttl: '9d' } }],
]
for (const [param, body] of REFUSED) {
  test(`responses: ${JSON.stringify(body)} is refused before any provider is called`, () => {
    assert.throws(
      () => read(body),
      (error) =>
        error instanceof GatewayError && error.status === 400 && error.details.param === param,
    )
  })
}

test('responses: hosted tools are found in the input and in namespaces, and named', () => {
  const input = [
    { type: 'additional_tools', role: 'developer', tools: [{ type: 'web_search' }, TOOL] },
    { type: 'tool_search_output', call_id: 'c', tools: [{ type: 'mcp' }] },
  ]
  assert.deepEqual(read({ input }).dropped, ['tools.web_search', 'tools.mcp'])
  const space = (...inner: Json[]): JsonObject => ({ type: 'namespace', name: 'n', tools: inner })
  const tools = [space(TOOL), space(TOOL, { type: 'code_interpreter' })]
  assert.deepEqual(read({ tools }).dropped, ['tools.namespace'])
})

test('responses: the id of a response to compare caches with is named, and changes no price', () => {
  const comparison_response_id = 'resp_1'
  const call = read({ prompt_cache_options: { comparison_response_id } })
  assert.deepEqual(call.dropped, ['prompt_cache_options.comparison_response_id'])
  assert.equal(call.input.cacheWrites, 'none')
  const lasting = read({ prompt_cache_options: { comparison_response_id, ttl: '12h' } })
  assert.equal(lasting.input.cacheWrites, 'long')
  const search = read({
    prompt_cache_options: { comparison_response_id },
    tools: [{ type: 'web_search' }],
  }).search
  assert.deepEqual(search?.dropped, ['prompt_cache_options.comparison_response_id'])
  assert.deepEqual(read({ prompt_cache_options: { comparison_response_id: null } }).dropped, [])
})

test('responses: restricted fields pass with their default values', () => {
  read({ background: false, conversation: null, service_tier: 'auto', store: null, tools: null })
})

test('responses: reasoning that no provider of this format could read is named', () => {
  const reasoning = (encrypted_content?: string): JsonObject => ({
    input: [
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [],
        ...(encrypted_content && { encrypted_content }),
      },
    ],
  })
  const packed = (opaque: JsonObject): string =>
    `tollgate.1.${Buffer.from(JSON.stringify(opaque)).toString('base64url')}`
  for (const unreadable of [
    packed({ format: 'messages', kind: 'signature', value: 'c2ln' }),
    // As a client of another format carries it.
    packed({ format: 'responses', kind: 'encrypted', value: 'gAAAA' }),
    'tollgate.1.damaged',
    undefined,
  ]) {
    assert.deepEqual(
      read(reasoning(unreadable)).droppedInPassthrough,
      ['input.reasoning'],
      String(unreadable),
    )
  }
  assert.equal(read(reasoning('gAAAA')).droppedInPassthrough, undefined)
})
