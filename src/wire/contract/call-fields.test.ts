// Lists that no client means to be as long are refused by their names, in every format.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ChatFormat } from '../../core/endpoints.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { codecOf } from '../codecs.ts'
import { readJsonBody } from '../json/body.ts'

const said = { role: 'user', content: 'x' }
const BARE: Readonly<Record<ChatFormat, JsonObject>> = {
  chat: { model: 'm', messages: [said] },
  responses: { model: 'm', input: 'x' },
  messages: { model: 'm', max_tokens: 9, messages: [said] },
}

const LISTS: readonly (readonly [ChatFormat, string, number, (count: number) => Json])[] = [
  ['chat', 'messages', 10_000, (count) => Array<Json>(count).fill(said)],
  ['messages', 'messages', 10_000, (count) => Array<Json>(count).fill(said)],
  ['responses', 'input', 10_000, (count) => Array<Json>(count).fill(said)],
  ['chat', 'tools', 10_000, tools],
  ['responses', 'tools', 10_000, tools],
  ['messages', 'tools', 10_000, tools],
  ['chat', 'functions', 10_000, tools],
  ['chat', 'stop', 10_000, words],
  ['messages', 'stop_sequences', 10_000, words],
  ['responses', 'include', 64, words],
  ['chat', 'metadata', 64, labels],
  ['responses', 'metadata', 64, labels],
  ['messages', 'metadata', 64, labels],
]

for (const [format, name, most, make] of LISTS)
  test(`${format}: ${name} may have ${most} entries, and no more`, () => {
    const { readCall } = codecOf(format)
    readCall({ ...BARE[format], [name]: make(most) })
    assert.throws(() => readCall({ ...BARE[format], [name]: make(most + 1) }), {
      code: 'invalid_request',
      message: `${name} has ${most + 1} entries; at most ${most} are allowed`,
      details: { param: name },
    })
  })

function tools(count: number): Json {
  return Array.from({ length: count }, (_, index) => ({ name: `f${index}`, type: 'function' }))
}

function labels(count: number): Json {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`label_${index}`, 'x']))
}

function words(count: number): Json {
  return Array.from({ length: count }, (_, index) => `w${index}`)
}

// A provider that compacts a conversation reads it twice and writes a summary, and no hold covers that. The request to
// do so is taken out of every format, also where its provider speaks the client's format, and named.

const COMPACTION = [{ type: 'compaction', compact_threshold: 1000 }]
const SEARCH = [{ type: 'web_search' }]

const REQUESTS: readonly (readonly ['chat' | 'responses' | 'messages', JsonObject])[] = [
  ['chat', { messages: [] }],
  ['responses', { input: 'Hi' }],
  ['messages', { messages: [], max_tokens: 9 }],
]

for (const [format, request] of REQUESTS) {
  test(`${format}: a list of compactions is dropped and named`, () => {
    const { readCall, forwardRequest } = codecOf(format)
    const body = { model: 'm', ...request, context_management: COMPACTION }
    assert.deepEqual(readCall(body).dropped, ['context_management'])
    const sent = forwardRequest(readJsonBody(Buffer.from(JSON.stringify(body))), { model: 'up' })
    assert.equal(sent.includes('context_management'), false)
    assert.deepEqual(readCall({ ...body, context_management: null }).dropped, [])
  })
}

test('responses: it is also named where the request may search', () => {
  const body = { model: 'm', input: 'Hi', tools: SEARCH, context_management: COMPACTION }
  assert.deepEqual(codecOf('responses').readCall(body).search?.dropped, ['context_management'])
})
