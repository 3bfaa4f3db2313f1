// Files in the account that all keys share, distinguished from what only looks like one. That each is refused, in every
// format and place, is tested with the whole gateway (test/matrix/isolation.test.ts).
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ChatFormat, Format } from '../../core/endpoints.ts'
import { GatewayError } from '../../core/errors.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { CODECS } from '../codecs.ts'
import { readJsonBody } from '../json/body.ts'
import { REFUSED_FIELDS } from './fields.ts'

const TALK = 's3://bucket/x is where it lies'

const turn = (role: string, ...content: JsonObject[]): JsonObject => ({ role, content })

test('texts that mention such files are accepted', () => {
  CODECS.chat.readCall({
    model: 'm',
    messages: [turn('user', { type: 'text', text: TALK })],
  })
  CODECS.messages.readCall({
    model: 'm',
    max_tokens: 10,
    messages: [turn('user', { type: 'document', source: { type: 'text', data: TALK } })],
  })
})

function readImage(url: string): void {
  const image = { type: 'image_url', image_url: { url } }
  CODECS.chat.readCall({ model: 'm', messages: [turn('user', image)] })
}

test('public addresses and base64 are accepted, however they are spelled', () => {
  for (const url of [
    'HTTPS://a.example/x.png',
    ' http://a.example/x.png',
    'https://storage.googleapis.com/public/x.png',
    'https://a.example/generativelanguage.googleapis.com',
    'data:image/png;base64,iVBORw0K',
    '/9j/4AAQSkZJRgABAQ+/==',
    'about:blank',
    '',
  ]) {
    readImage(url)
  }
})

test('files of a server’s disk and of its account are refused, however they are spelled', () => {
  const disk = /use an http or data URL, because this one names a file on a provider's own disk$/
  const account = /use an http or data URL, because this one is read with the rights of a provider/
  for (const [url, why] of [
    ['FILE:///etc/passwd', disk],
    ['file:/etc/passwd', disk],
    // As Python reads them.
    ['fi\nle:///etc/passwd', disk],
    ['\0file:///etc/passwd', disk],
    ['g\ts://bucket/x', account],
    ['s3://bucket/x.png', account],
    // What was uploaded to Google, whoever did it.
    ['https://generativelanguage.googleapis.com/v1beta/files/abc', account],
    ['https://a@GENERATIVELANGUAGE.googleapis.com.:443/v1beta/files/abc', account],
    ['https://europe-west1-aiplatform.googleapis.com/v1/x', account],
    // A server such as SGLang opens a bare path.
    ['/srv/ann/passport.jpg', disk],
    ['../passport.png', disk],
  ] as const) {
    assert.throws(
      () => readImage(url),
      (error) =>
        error instanceof GatewayError &&
        error.code === 'unsupported_parameter' &&
        why.test(error.message),
      JSON.stringify(url),
    )
  }
})

test('a citation in an earlier answer is not taken for a file to open', () => {
  const annotations = [{ type: 'file_citation', file_id: 'file-1', filename: 'x', index: 0 }]
  const said = { type: 'output_text', text: TALK, annotations }
  CODECS.responses.readCall({ model: 'm', input: [turn('assistant', said)] })
})

// Fields that no request may carry: refused by name in every format, unless their value means the same as no value.

const BODIES: Record<Format, JsonObject> = {
  chat: { model: 'm', messages: [] },
  responses: { model: 'm', input: 'x' },
  messages: { model: 'm', messages: [], max_tokens: 10 },
  embeddings: { model: 'm', input: 'x' },
}
const FORMATS = Object.keys(BODIES) as Format[]

/** Values that do not mean the same as leaving the field out. */
const GIVEN: Readonly<Record<string, Json>> = {
  options: { num_predict: 100_000 },
  google: { cached_content: 'cachedContents/1' },
  best_of: 8,
  n_cmpl: 8,
  multi_agent: { enabled: true, max_concurrent_subagents: 100 },
}

describe('fields that no request may carry', () => {
  for (const name of Object.keys(REFUSED_FIELDS))
    test(`${name} is refused in every format, unless it is null`, () => {
      for (const format of FORMATS) {
        const { readCall } = CODECS[format]
        const given = { ...BODIES[format], [name]: GIVEN[name] ?? 'x' }
        assert.throws(
          () => readCall(given),
          (error) =>
            error instanceof GatewayError &&
            error.code === 'unsupported_parameter' &&
            error.details.param === name,
        )
        readCall({ ...BODIES[format], [name]: null })
      }
    })

  test('a field that differs from a known one only in case is refused', () => {
    const names: Record<Format, readonly string[]> = {
      chat: ['Model', 'MAX_TOKENS', 'max_to\u212aens', 'N', 'N_Predict', 'me\u017f\u017fages'],
      responses: ['mODEL', 'Max_Output_Tokens', 'Service_Tier'],
      messages: ['Model', 'Max_Tokens', 'Anthropic_Beta'],
      embeddings: ['Model', 'Input', 'Extra_Body'],
    }
    for (const format of FORMATS)
      for (const name of names[format])
        assert.throws(
          () => CODECS[format].readCall({ ...BODIES[format], [name]: 7 }),
          (error) => error instanceof GatewayError && error.details.param === name,
          `${format}: ${name}`,
        )
    CODECS.chat.readCall({ ...BODIES.chat, myOwnField: 1, Größe: 2, 'x-y': 3 })
  })

  test('values that mean the same as leaving the field out are accepted', () => {
    const harmless: JsonObject = {
      background: false,
      deferred: false,
      service_tier: 'default',
      speed: 'standard',
      modalities: ['text'],
      search_parameters: { mode: 'off' },
      enable_search: false,
      auto_max_new_tokens: false,
      multi_agent: { enabled: false },
      options: { temperature: 0.5 },
      google: { thinking_config: { thinking_budget: 0 } },
      n_cmpl: 1,
      best_of: 1,
      mcp_servers: [],
      vector_store_ids: [],
    }
    for (const format of FORMATS) CODECS[format].readCall({ ...BODIES[format], ...harmless })
  })
})

// Lists that no client means to be as long are refused by their names, in every format.

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
    const { readCall } = CODECS[format]
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
    const { readCall, forwardRequest } = CODECS[format]
    const body = { model: 'm', ...request, context_management: COMPACTION }
    assert.deepEqual(readCall(body).dropped, ['context_management'])
    const sent = forwardRequest(readJsonBody(Buffer.from(JSON.stringify(body))), { model: 'up' })
    assert.equal(sent.includes('context_management'), false)
    assert.deepEqual(readCall({ ...body, context_management: null }).dropped, [])
  })
}

test('responses: it is also named where the request may search', () => {
  const body = { model: 'm', input: 'Hi', tools: SEARCH, context_management: COMPACTION }
  assert.deepEqual(CODECS.responses.readCall(body).search?.dropped, ['context_management'])
})
