// What admission learns about a request: everything a model could read is counted, known or not.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../core/json.ts'
import { NO_INPUT } from '../../core/request.ts'
import type { InputMeasure } from '../../core/request.ts'
import { packReasoning } from '../content/opaque-reasoning.ts'
import { readJsonBody } from '../json/body.ts'
import { readCall, withoutReasoning } from './call.ts'
import { forwardRequest } from './codec.ts'

const say = (message: JsonObject): JsonObject => ({ model: 'm', messages: [message] })
const user = (content: Json): JsonObject => say({ role: 'user', content })
const jsonBytes = (value: Json): number => Buffer.byteLength(JSON.stringify(value))

test('each part of a request is measured by its kind', () => {
  const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"ö":1}' } }
  const tool = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } }
  const video = { type: 'video_url', video_url: { url: 'https://example.com/film' } }
  const cases: [string, JsonObject, Partial<InputMeasure>][] = [
    ['text in bytes', user('grün'), { items: 1, textBytes: 5 }],
    ['a list of texts', user([{ type: 'text', text: 'a' }, 'b']), { items: 3, textBytes: 2 }],
    [
      'names and reasoned',
      say({ role: 'assistant', name: 'x', reasoning_content: 'yz' }),
      { items: 1, textBytes: 3 },
    ],
    ['an unknown role', say({ role: 'critic' }), { items: 1, textBytes: 6 }],
    ['a result', say({ role: 'tool', content: 'ok' }), { items: 1, jsonBytes: 2 }],
    [
      'a result in parts',
      say({ role: 'tool', content: [{ type: 'text', text: 'ok' }] }),
      { items: 2, jsonBytes: 2 },
    ],
    [
      'a call',
      say({ role: 'assistant', tool_calls: [call] }),
      { items: 2, jsonBytes: jsonBytes(call) },
    ],
    ['a tool', { ...user(''), tools: [tool] }, { items: 2, jsonBytes: jsonBytes(tool) }],
    [
      'a hosted tool counts nothing',
      { ...user(''), tools: [{ type: 'web_search', x: 'long' }] },
      { items: 1 },
    ],
    [
      'an image',
      user([{ type: 'image_url', image_url: { url: 'data:image/png;base64,…' } }]),
      { items: 2, images: 1 },
    ],
    [
      'an image by URL',
      user([{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }]),
      { items: 2, images: 1, fetched: true },
    ],
    [
      'a film in the place of an image',
      user([{ type: 'image_url', image_url: { url: 'data:Video/mp4;base64,…' } }]),
      { items: 2, unbounded: true, audio: true },
    ],
    [
      'a document in the place of an image',
      user([{ type: 'image_url', image_url: 'data:application/pdf;base64,…' }]),
      { items: 2, unbounded: true },
    ],
    [
      'a file',
      user([{ type: 'file', file: { file_data: 'data:…' } }]),
      { items: 2, unbounded: true },
    ],
    [
      'a file that is sound',
      user([{ type: 'file', file: { file_data: 'data:audio/wav;base64,…' } }]),
      { items: 2, unbounded: true, audio: true },
    ],
    [
      'a file that is a film',
      user([{ type: 'file', file: { file_data: 'data:video/mp4;base64,…' } }]),
      { items: 2, unbounded: true, audio: true },
    ],
    [
      'an unknown part',
      user([video]),
      { items: 2, unbounded: true, audio: true, jsonBytes: jsonBytes(video) },
    ],
    ['an unknown field', { ...user(''), documents: ['ab'] }, { items: 1, jsonBytes: 6 }],
    ['a message that is no object', { model: 'm', messages: ['ab'] }, { items: 1, jsonBytes: 2 }],
    ['content of the wrong type', user({ a: 1 }), { items: 1, jsonBytes: 7 }],
  ]
  for (const [what, body, expected] of cases) {
    assert.deepEqual(readCall(body).input, { ...NO_INPUT, ...expected }, what)
  }
})

test('tools that the provider would run are dropped, even if only their name shows it', () => {
  const own = [{ type: 'function', function: { name: 'f' } }, { function: { name: 'g' } }]
  const hosted = [{ type: 'web_search' }, { googleSearch: {} }]
  const { dropped } = readCall({ ...user(''), tools: [...own, ...hosted] })
  assert.deepEqual(dropped, ['tools.web_search', 'tools.googleSearch'])
  const functions = [{ name: 'f' }, { googleSearch: {} }]
  assert.throws(() => readCall({ ...user(''), functions }), /functions\[1\]\.name/)
})

const LONG_MARK: JsonObject = { cache_control: { type: 'ephemeral', ttl: '1h' } }

test('a request for a cache is classified by its lifetime', () => {
  const marked = (name: string, ttl?: string): JsonObject =>
    user([{ type: 'text', text: '', [name]: { mode: 'explicit', ...(ttl && { ttl }) } }])
  const cases: [JsonObject, InputMeasure['cacheWrites']][] = [
    [user(''), 'none'],
    [{ ...user(''), prompt_cache_key: 'k' }, 'none'],
    [{ ...user(''), prompt_cache_retention: 'in_memory' }, 'none'],
    [{ ...user(''), prompt_cache_retention: '24h' }, 'long'],
    [{ ...user(''), prompt_cache_options: { mode: 'explicit' } }, 'short'],
    [{ ...user(''), prompt_cache_options: { ttl: '30m' } }, 'short'],
    [marked('prompt_cache_breakpoint'), 'short'],
    [marked('prompt_cache_breakpoint', '12h'), 'long'],
    [marked('cache_control', '1h'), 'long'],
    [{ ...user(''), tools: [{ type: 'function', cache_control: { type: 'ephemeral' } }] }, 'short'],
    // Where LiteLLM looks for marks, too.
    [{ ...user(''), tools: [{ type: 'function', function: LONG_MARK }] }, 'long'],
    [say({ role: 'assistant', tool_calls: [{ id: 'a', ...LONG_MARK }] }), 'long'],
    [say({ role: 'user', content: '', cache_control: { type: 'ephemeral' } }), 'short'],
    [{ ...user(''), cache_control: { type: 'ephemeral', ttl: '1h' } }, 'long'],
  ]
  for (const [body, expected] of cases) {
    assert.equal(readCall(body).input.cacheWrites, expected, JSON.stringify(body))
  }
})

test('abilities are needed only when they are used', () => {
  const cases: [JsonObject, string[]][] = [
    [{ ...user('hi'), reasoning_effort: 'high', response_format: { type: 'json_object' } }, []],
    [{ ...user('hi'), tools: [], functions: [] }, []],
    [{ ...user('hi'), functions: [{ name: 'f' }] }, ['tools']],
    [{ ...user('hi'), response_format: { type: 'json_schema' } }, ['structured_output']],
    [user([{ type: 'image_url' }, { type: 'file' }]), ['images', 'files']],
  ]
  for (const [body, expected] of cases) assert.deepEqual(readCall(body).needs, expected)
})

test('only metadata values that are short texts are recorded', () => {
  const metadata = { team: 'blue', count: 3, long: 'x'.repeat(600) }
  assert.deepEqual(readCall({ ...user(''), metadata }).metadata, { team: 'blue' })
  assert.equal(readCall({ ...user(''), metadata: { count: 3 } }).metadata, undefined)
  assert.equal(readCall({ ...user(''), user: 'old', safety_identifier: 'new' }).endUser, 'new')
})

// The reasoning of earlier turns is removed from a chat request: another format's, or all of it.

const OWN = { type: 'reasoning.text', text: 'mine', signature: 'c2ln' }
const FOREIGN = {
  type: 'reasoning.text',
  text: 'theirs',
  signature: packReasoning({ format: 'messages', kind: 'signature', value: 'x' }, 'chat'),
}
const ASKS = { role: 'user', content: 'tollgate.1. is a word like any other' }
const said = (more: JsonObject): JsonObject => ({ role: 'assistant', content: 'Hello', ...more })

test('packed reasoning of another format is dropped and named, and the rest is passed on', () => {
  const cases: [JsonObject, JsonObject, readonly string[] | undefined][] = [
    [said({ reasoning_details: [OWN] }), said({ reasoning_details: [OWN] }), undefined],
    [
      said({ reasoning_details: [FOREIGN, OWN] }),
      said({ reasoning_details: [OWN] }),
      ['messages.reasoning_details'],
    ],
    [said({ reasoning_details: [FOREIGN] }), said({}), ['messages.reasoning_details']],
  ]
  for (const [message, left, names] of cases) {
    const body = { model: 'm', messages: [ASKS, message] }
    const bytes = Buffer.from(JSON.stringify(body))
    const sent = forwardRequest(readJsonBody(bytes), { model: 'm' })
    assert.deepEqual(JSON.parse(Buffer.from(sent).toString()), { ...body, messages: [ASKS, left] })
    assert.deepEqual(readCall(body).droppedInPassthrough, names)
  }
})

test('all reasoning is removed, whatever its field is called', () => {
  const reasoned = { reasoning: 'a', reasoning_content: 'b', reasoning_details: [OWN, FOREIGN] }
  assert.deepEqual(withoutReasoning({ messages: [ASKS, said(reasoned)] }), {
    changes: { messages: [ASKS, said({})] },
    dropped: ['messages.reasoning_details'],
  })
  assert.equal(withoutReasoning({ messages: [ASKS, said({ reasoning: null })] }), undefined)
})
