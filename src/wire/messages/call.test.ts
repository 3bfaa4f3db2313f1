// What admission reads: every byte a model may read is counted, and what no key may request is refused by name.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GatewayError } from '../../core/errors.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { NO_INPUT } from '../../core/request.ts'
import type { InputMeasure } from '../../core/request.ts'
import { packReasoning } from '../content/opaque-reasoning.ts'
import { readJsonBody } from '../json/body.ts'
import { readCall, readCountCall, withoutReasoning } from './call.ts'
import { forwardRequest } from './codec.ts'

const plain = { model: 'm', max_tokens: 10, messages: [{ role: 'user', content: 'Grüße' }] }
const withBlocks = (...blocks: Json[]): JsonObject => ({
  ...plain,
  messages: [{ role: 'user', content: blocks }],
})
const bytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

test('each part of the input is measured by its kind', () => {
  const none: InputMeasure = { ...NO_INPUT, items: 1 }
  const tool = { name: 'f', input_schema: { type: 'object' } }
  const call = { type: 'tool_use', id: 'a', name: 'f', input: { x: 'é' } }
  const schema = { type: 'json_schema', schema: { type: 'object' } }
  const base64 = { type: 'base64', media_type: 'image/png', data: 'AAAA' }
  const short = { type: 'ephemeral' }
  const long = { type: 'ephemeral', ttl: '1h' }
  const marked = {
    type: 'mcp_tool_result',
    tool_use_id: 'a',
    content: [{ type: 'text', text: 'b', cache_control: long }],
  }
  const cited = { type: 'char_location', cited_text: 'd', document_index: 0 }
  const cases: Record<string, [JsonObject, Partial<InputMeasure>]> = {
    'a text': [plain, { textBytes: 7 }],
    'a system prompt': [{ ...plain, system: 'Be kind' }, { textBytes: 14 }],
    'system blocks': [
      { ...plain, system: [{ type: 'text', text: 'Be kind' }] },
      { textBytes: 14, items: 2 },
    ],
    'a text block': [withBlocks({ type: 'text', text: 'abc' }), { textBytes: 3, items: 2 }],
    'an image': [withBlocks({ type: 'image', source: base64 }), { items: 2, images: 1 }],
    'an image by URL': [
      withBlocks({ type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }),
      { items: 2, images: 1, fetched: true },
    ],
    'a document in the place of an image': [
      withBlocks({ type: 'image', source: { ...base64, media_type: 'application/pdf' } }),
      { items: 2, unbounded: true },
    ],
    'a film in the place of an image': [
      withBlocks({ type: 'image', source: { type: 'url', url: 'data:video/mp4;base64,AAAA' } }),
      { items: 2, unbounded: true, audio: true, fetched: true },
    ],
    'a recording': [
      withBlocks({ type: 'document', source: { ...base64, media_type: 'audio/mp3' } }),
      { items: 2, unbounded: true, audio: true },
    ],
    'a PDF': [
      withBlocks({ type: 'document', title: 'T', source: { ...base64, media_type: 'x/pdf' } }),
      { items: 2, textBytes: 1, unbounded: true },
    ],
    'a text file': [
      withBlocks({ type: 'document', source: { type: 'text', data: 'abcd' } }),
      { items: 2, textBytes: 4 },
    ],
    'a document of blocks': [
      withBlocks({
        type: 'document',
        source: { type: 'content', content: [{ type: 'text', text: 'ab' }] },
      }),
      { items: 3, textBytes: 2 },
    ],
    'reasoning with its signature': [
      withBlocks({ type: 'thinking', thinking: 'ab', signature: 'cdef' }),
      { items: 2, textBytes: 6, opaqueBytes: 4 },
    ],
    'a hidden thought': [
      withBlocks({ type: 'redacted_thinking', data: 'abc' }),
      { items: 2, textBytes: 3, opaqueBytes: 3 },
    ],
    'a call': [withBlocks(call), { items: 2, jsonBytes: bytes(call) }],
    'a result': [
      withBlocks({ type: 'tool_result', tool_use_id: 'a', content: 'four' }),
      { items: 2, textBytes: 1, jsonBytes: 4 },
    ],
    'a result of blocks': [
      withBlocks({
        type: 'tool_result',
        tool_use_id: 'a',
        content: [
          { type: 'text', text: 'four', cache_control: short },
          { type: 'image', source: base64 },
        ],
      }),
      { items: 4, textBytes: 1, jsonBytes: 4, images: 1, cacheWrites: 'short' },
    ],
    'a search result': [
      withBlocks({
        type: 'search_result',
        source: 'ab',
        title: 'cd',
        content: [{ type: 'text', text: 'ef' }],
      }),
      { items: 3, textBytes: 6 },
    ],
    'an unknown block': [
      withBlocks({ type: 'hologram', data: 'x' }),
      { items: 2, jsonBytes: bytes({ type: 'hologram', data: 'x' }), unbounded: true },
    ],
    'an unknown field': [
      { ...plain, lore: 'abc' },
      { textBytes: 7, jsonBytes: 3 },
    ],
    'an unknown field of a message': [
      { ...plain, messages: [{ role: 'user', content: 'Hi', lore: 'abc' }] },
      { textBytes: 2, jsonBytes: 3 },
    ],
    'tools and an output schema': [
      { ...plain, tools: [tool], output_config: { format: schema } },
      { textBytes: 7, items: 2, jsonBytes: bytes(tool) + bytes(schema) },
    ],
    'a tool that the model knows by its type': [
      { ...plain, tools: [{ type: 'bash_20250124', name: 'bash' }] },
      {
        textBytes: 7,
        items: 2,
        vendorTools: 1,
        jsonBytes: bytes({ type: 'bash_20250124', name: 'bash' }),
      },
    ],
    'a set of such tools': [
      { ...plain, tools: [{ type: 'browser_toolset_20260801' }] },
      {
        textBytes: 7,
        items: 2,
        vendorTools: 32,
        jsonBytes: bytes({ type: 'browser_toolset_20260801' }),
      },
    ],
    'cache marks': [
      { ...plain, cache_control: short },
      { textBytes: 7, cacheWrites: 'short' },
    ],
    'long cache marks': [
      { ...plain, cache_control: long, tools: [{ ...tool, cache_control: short }] },
      {
        textBytes: 7,
        items: 2,
        jsonBytes: bytes({ ...tool, cache_control: short }),
        cacheWrites: 'long',
      },
    ],
    'a long cache mark on a search tool, which may be kept': [
      { ...plain, tools: [{ type: 'web_search_20250305', cache_control: long }] },
      { textBytes: 7, cacheWrites: 'long' },
    ],
    'a long cache mark inside an unknown block': [
      withBlocks(marked),
      { items: 2, jsonBytes: bytes(marked), unbounded: true, cacheWrites: 'long' },
    ],
    'the citations of an answer': [
      withBlocks({ type: 'text', text: 'abc', citations: [cited, cited] }),
      { items: 4, textBytes: 3 },
    ],
  }
  for (const [what, [body, expected]] of Object.entries(cases)) {
    assert.deepEqual(readCall(body).input, { ...none, ...expected }, what)
  }
})

test('the output limit and the needed abilities are read', () => {
  const output = (body: JsonObject) => readCall({ ...plain, ...body }).output
  assert.deepEqual(output({}), { tokensMax: 10, choices: 1, reasons: false })
  assert.deepEqual(output({ max_tokens: 0 }), { tokensMax: 0, choices: 1, reasons: false })
  assert.equal(output({ thinking: { type: 'disabled' } }).reasons, false)
  assert.equal(output({ thinking: { type: 'adaptive' } }).reasons, true)
  assert.deepEqual(output({ thinking: { type: 'enabled', budget_tokens: 1024 } }), {
    tokensMax: 10,
    choices: 1,
    reasoningBudget: 1024,
    reasons: true,
  })
  const needs = (body: JsonObject) => readCall({ ...plain, ...body }).needs
  assert.deepEqual(needs({ output_config: { effort: 'high' } }), [])
  assert.deepEqual(needs({ thinking: { type: 'enabled', budget_tokens: 1024 } }), ['reasoning'])
  assert.deepEqual(needs({ tools: [] }), [])
  assert.deepEqual(needs({ tools: [{ name: 'f' }], output_format: { type: 'json_schema' } }), [
    'tools',
    'structured_output',
  ])
})

test('a count needs no output limit', () => {
  const { max_tokens: _, ...body } = plain
  assert.equal(readCountCall(body).output.tokensMax, undefined)
  assert.throws(() => readCall(body), about('invalid_request', 'max_tokens'))
})

test('malformed and forbidden fields are refused by name', () => {
  const file = { type: 'file', file_id: 'file_1' }
  const addition = (definition: JsonObject): JsonObject => ({
    type: 'tool_addition',
    tool: { type: 'tool_definition', definition },
  })
  const cases: [string, string, JsonObject][] = [
    ['invalid_request', 'model', { ...plain, model: '' }],
    ['invalid_request', 'messages', { ...plain, messages: 'Hello' }],
    ['invalid_request', 'stream', { ...plain, stream: 'yes' }],
    ['invalid_request', 'max_tokens', { ...plain, max_tokens: -1 }],
    ['invalid_request', 'max_tokens', { ...plain, max_tokens: 1.5 }],
    ...[5001.5, -1, 1e300, '5000'].map((budget_tokens): [string, string, JsonObject] => [
      'invalid_request',
      'thinking.budget_tokens',
      { ...plain, thinking: { type: 'enabled', budget_tokens } },
    ]),
    ['unsupported_parameter', 'container', { ...plain, container: 'c_1' }],
    ['unsupported_parameter', 'mcp_servers', { ...plain, mcp_servers: [{ url: 'https://x' }] }],
    ['unsupported_parameter', 'fallbacks', { ...plain, fallbacks: [{ model: 'dearer' }] }],
    ['unsupported_parameter', 'thread', { ...plain, thread: { id: 't' } }],
    ['unsupported_parameter', 'service_tier', { ...plain, service_tier: 'priority' }],
    ['unsupported_parameter', 'speed', { ...plain, speed: 'fast' }],
    ['unsupported_parameter', 'inference_geo', { ...plain, inference_geo: 'us' }],
    [
      'unsupported_parameter',
      'messages[0].content[0].source.file_id',
      withBlocks({ type: 'image', source: file }),
    ],
    [
      'unsupported_parameter',
      'messages[0].content[0].content[0].source.file_id',
      withBlocks({ type: 'tool_result', content: [{ type: 'document', source: file }] }),
    ],
    [
      'unsupported_parameter',
      'messages[0].content[0].file_id',
      withBlocks({ type: 'container_upload', file_id: 'file_1' }),
    ],
    [
      'unsupported_parameter',
      'messages[0].content[0].tool.definition',
      withBlocks(addition({ type: 'web_search_20260318', name: 'web_search' })),
    ],
    [
      'unsupported_parameter',
      'messages[0].content[0].tool_changes[0].tool.definition',
      withBlocks({
        type: 'compaction',
        content: 'Much was said.',
        tool_changes: [addition({ type: 'mcp_toolset', mcp_server_name: 'x' })],
      }),
    ],
    [
      'unsupported_parameter',
      'messages[0].content[0].cache_control.ttl',
      withBlocks({ type: 'text', text: 'a', cache_control: { type: 'ephemeral', ttl: '9y' } }),
    ],
  ]
  for (const [code, param, body] of cases) {
    assert.throws(() => readCall(body), about(code, param), param)
  }
  assert.equal(readCall({ ...plain, mcp_servers: [], container: null, speed: null }).model, 'm')
  const own = [
    { name: 'f', input_schema: {} },
    { type: 'bash_20250124', name: 'bash' },
  ]
  assert.equal(readCall(withBlocks(...own.map(addition))).model, 'm')
})

function about(code: string, param: string): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof GatewayError, String(error))
    assert.deepEqual([error.code, error.details.param], [code, param])
    return true
  }
}

test('the user id is recorded as the end user', () => {
  assert.equal(readCall({ ...plain, metadata: { user_id: 'user-7' } }).endUser, 'user-7')
})

test('tools and edits that run at the provider are dropped and named, and those of the client stay', () => {
  const search = { type: 'web_search_20260318', name: 'web_search' }
  const bash = { type: 'bash_20250124', name: 'bash' }
  const edits = [{ type: 'clear_thinking_20251015' }, { type: 'compact_20260112' }]
  const call = readCall({
    ...plain,
    tools: [search, bash],
    tool_choice: { type: 'tool', name: 'web_search' },
    diagnostics: { previous_message_id: 'msg_1' },
    fallback_credit_token: { token: 'fct_1', mode: 'best_effort' },
    context_management: { edits },
  })
  assert.deepEqual(call.dropped, [
    'diagnostics',
    'fallback_credit_token',
    'tools.web_search_20260318',
    'tool_choice',
    'context_management.edits.compact',
  ])
  assert.equal(call.input.jsonBytes, bytes(bash))
})

// The reasoning of earlier turns is removed: what is foreign, or all of it. The reasoning budget is removed too where the
// turn to continue would no longer begin with reasoning.

const OWN = { type: 'thinking', thinking: 'mine', signature: 'c2ln' }
const FOREIGN = {
  type: 'redacted_thinking',
  data: packReasoning({ format: 'responses', kind: 'encrypted', value: 'x' }, 'messages'),
}
const CALL = { type: 'tool_use', id: 't', name: 'f', input: {} }
const ASKS = { role: 'user', content: 'Hello' }
const RESULT = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't' }] }
const BUDGET = { type: 'enabled', budget_tokens: 1024 }
const answers = (...content: JsonObject[]): JsonObject => ({ role: 'assistant', content })

test('the budget is removed if the turn to continue no longer begins with reasoning', () => {
  const cases: [string, JsonObject[], JsonObject, JsonObject | undefined][] = [
    ['after a call', [ASKS, answers(FOREIGN, CALL), RESULT], BUDGET, undefined],
    ['after its first words', [ASKS, answers(FOREIGN, CALL)], BUDGET, undefined],
    [
      'after a second call',
      [ASKS, answers(FOREIGN, CALL), RESULT, answers(OWN, CALL), RESULT],
      BUDGET,
      undefined,
    ],
    ['thought before', [ASKS, answers(OWN, FOREIGN, CALL), RESULT], BUDGET, BUDGET],
    [
      'in the next turn',
      [ASKS, answers(FOREIGN, CALL), RESULT, answers(OWN), ASKS],
      BUDGET,
      BUDGET,
    ],
    [
      'a model that chooses itself',
      [ASKS, answers(FOREIGN, CALL), RESULT],
      { type: 'adaptive' },
      { type: 'adaptive' },
    ],
    ['as the client sent it', [ASKS, answers(CALL), RESULT], BUDGET, BUDGET],
  ]
  for (const [name, messages, thinking, left] of cases) {
    const body = { model: 'm', max_tokens: 4096, messages, thinking }
    const bytes = Buffer.from(JSON.stringify(body))
    const sent = JSON.parse(
      Buffer.from(forwardRequest(readJsonBody(bytes), { model: 'm' })).toString(),
    ) as JsonObject
    assert.deepEqual(sent['thinking'], left, name)
    const names = readCall(body).droppedInPassthrough ?? []
    assert.equal(names.includes('thinking'), left === undefined, name)
  }
})

test('all reasoning is removed, along with a turn that held nothing else', () => {
  const messages = [ASKS, answers(OWN), answers(FOREIGN, CALL), RESULT]
  assert.deepEqual(withoutReasoning({ messages }), {
    changes: { messages: [ASKS, answers(CALL), RESULT] },
    dropped: ['messages.content.thinking'],
  })
  assert.equal(withoutReasoning({ messages: [ASKS, answers(CALL), RESULT] }), undefined)
})

test('numbers beside reasoning keep all their digits', () => {
  const body = `{"model":"m","messages":[{"role":"assistant","content":[${JSON.stringify(FOREIGN)},{"type":"tool_use","input":{"id":12345678901234567890}}]}]}`
  const sent = Buffer.from(forwardRequest(readJsonBody(Buffer.from(body)), { model: 'm' }))
  assert.match(sent.toString(), /"id":12345678901234567890/)
})
