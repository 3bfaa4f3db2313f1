// Another key cannot reach what one key stored or named, on any upstream: it can neither read nor delete nor build on
// it, nor distinguish it from what never existed. And no request can name anything in the provider account that all
// keys share.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import type { JsonObject } from '../../src/core/json.ts'
import type { TestGateway } from '../support/gateway.ts'
import { startGateway } from '../support/gateway.ts'
import type { Body, Post, Raw, RawAnswer } from './raw.ts'
import { rawCalls } from './raw.ts'

const MODELS = ['sandbox-reasoner', 'sandbox-reasoner@responses', 'sandbox-reasoner@messages']

let gateway: TestGateway
let owner: Raw
let stranger: Raw

before(async () => {
  gateway = await startGateway()
  const models = [...MODELS, 'sandbox-chat'].join(',')
  const [mine, another] = await Promise.all([
    gateway.key('owner', `${models},sandbox-embedding`),
    gateway.key('stranger', models),
  ])
  owner = rawCalls(gateway, mine)
  stranger = rawCalls(gateway, another)
})
after(() => gateway.stop())

/** Every way to reach a stored response or an item of it, and how it is refused. */
const REACHES: Record<string, (caller: Raw, model: string, stored: Stored) => Promise<RawAnswer>> =
  {
    'GET the response': (caller, _, { id }) => caller.call('GET', `/v1/responses/${id}`),
    'GET its input items': (caller, _, { id }) =>
      caller.call('GET', `/v1/responses/${id}/input_items`),
    'DELETE the response': (caller, _, { id }) => caller.call('DELETE', `/v1/responses/${id}`),
    'GET the signpost of an item': (caller, _, { keyId, itemId }) =>
      caller.call('GET', `/v1/responses/${encodeURIComponent(`${keyId}/${itemId}`)}`),
    'DELETE the signpost of an item': (caller, _, { keyId, itemId }) =>
      caller.call('DELETE', `/v1/responses/${encodeURIComponent(`${keyId}/${itemId}`)}`),
    previous_response_id: (caller, model, { id }) =>
      caller.post('responses', { model, input: 'go on', previous_response_id: id }),
    'previous_response_id of a count': (caller, model, { id }) =>
      caller.post('input_tokens', { model, previous_response_id: id }),
    'previous_response_id, a signpost': (caller, model, { keyId, itemId }) =>
      caller.post('responses', {
        model,
        input: 'go on',
        previous_response_id: `${keyId}/${itemId}`,
      }),
    'an item reference': (caller, model, { itemId }) =>
      caller.post('responses', { model, input: [{ type: 'item_reference', id: itemId }] }),
    'an item reference without a type': (caller, model, { itemId }) =>
      caller.post('responses', { model, input: [{ id: itemId }] }),
    'a reference to a thought': (caller, model, { reasoningId }) =>
      caller.post('responses', { model, input: [{ type: 'item_reference', id: reasoningId }] }),
    'a reference to a signpost': (caller, model, { keyId, itemId }) =>
      caller.post('responses', {
        model,
        input: [{ type: 'item_reference', id: `${keyId}/${itemId}` }],
      }),
    'a reference to a response': (caller, model, { id }) =>
      caller.post('responses', { model, input: [{ type: 'item_reference', id }] }),
  }

type Stored = {
  readonly id: string
  readonly itemId: string
  readonly reasoningId: string
  readonly keyId: string
}

const NEVER: Stored = {
  id: 'resp_01m7g000000000000000000000',
  itemId: 'msg_01m7g000000000000000000000',
  reasoningId: 'rs_01m7g000000000000000000000',
  keyId: 'key_01m7g00000000000000000000',
}

async function store(model: string): Promise<Stored> {
  const asked = { model, input: 'Say private', reasoning: { effort: 'medium' } }
  const { body, requestId } = await owner.post('responses', asked)
  const items = body['output'] as Body[]
  const idOf = (type: string): string =>
    String(items.find((item) => item['type'] === type)?.['id'] ?? '')
  return {
    id: String(body['id']),
    itemId: idOf('message'),
    reasoningId: idOf('reasoning'),
    keyId: String((await gateway.logged(requestId))['key']),
  }
}

for (const model of MODELS)
  describe(`a response stored with ${model}`, () => {
    let stored: Stored
    before(async () => {
      stored = await store(model)
      assert.match(stored.itemId, /^msg_/)
      assert.match(stored.reasoningId, /^rs_/)
    })

    for (const [name, reach] of Object.entries(REACHES))
      test(`${name}: a stranger gets the same answer as for a made-up id`, async () => {
        const theirs = await reach(stranger, model, stored)
        const nothing = await reach(stranger, model, NEVER)
        assert.ok(theirs.status === 400 || theirs.status === 404, `${theirs.status}`)
        assert.deepEqual(anonymous(theirs, stored), anonymous(nothing, NEVER))
        assert.equal((await gateway.logged(theirs.requestId))['target'], undefined)
      })

    test('is still there for its owner', async () => {
      const shown = await owner.call('GET', `/v1/responses/${stored.id}`)
      assert.equal(shown.status, 200)
      for (const name of [
        'previous_response_id',
        'previous_response_id of a count',
        'an item reference',
        'a reference to a thought',
      ])
        assert.equal((await REACHES[name]?.(owner, model, stored))?.status, 200, name)
      assert.equal((await owner.call('DELETE', `/v1/responses/${stored.id}`)).status, 200)
    })
  })

/** An answer without the ids it repeats. */
function anonymous({ status, body }: RawAnswer, ids: Stored): unknown {
  let text = JSON.stringify(body)
  for (const [name, id] of Object.entries(ids)) text = text.replaceAll(id, name)
  return { status, body: JSON.parse(text) as unknown }
}

/** Objects in a provider account, by the field that would name them. */
const PNG = { media_type: 'image/png', type: 'base64', data: 'AAAA' }
const user = (content: unknown): JsonObject => ({ messages: [{ role: 'user', content }] }) as never
const input = (content: unknown): JsonObject => ({ input: [{ role: 'user', content }] }) as never
const result = (content: unknown): JsonObject =>
  ({
    messages: [
      { role: 'user', content: 'x' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'n', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content }] },
    ],
  }) as never
const output = (content: unknown): JsonObject =>
  ({
    input: [
      { type: 'function_call', call_id: 'c', name: 'n', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c', output: content },
    ],
  }) as never

const NAMED: Record<Exclude<Post, 'embeddings'>, Record<string, JsonObject>> = {
  chat: {
    'file.file_id': user([{ type: 'file', file: { file_id: 'file-1' } }]),
    'file.file_id beside data': user([
      { type: 'file', file: { file_id: 'file-1', file_data: 'data:text/plain;base64,AAAA' } },
    ]),
    'image_url of the account': user([{ type: 'image_url', image_url: { url: 'gs://b/x.png' } }]),
    'image_url without its object': user([{ type: 'image_url', image_url: 'GS://b/x.png' }]),
    'video_url of a disk': user([{ type: 'video_url', video_url: { url: 'file:///etc/x' } }]),
    'file_data of the account': user([{ type: 'file', file: { file_data: 'oss://b/x.pdf' } }]),
    'pictures of the account': user([
      { type: 'video', video: ['https://a/1.png', 'oss://b/2.png'] },
    ]),
    'audio.id': { messages: [{ role: 'assistant', audio: { id: 'audio_1' } }] },
    conversation: { conversation: 'conv_1' },
    container: { container: 'c_1' },
    prompt: { prompt: { id: 'pmpt_1' } },
    mcp_servers: { mcp_servers: [{ url: 'https://example.com' }] },
    thread: { thread: { id: 't_1' } },
  },
  responses: {
    conversation: { conversation: 'conv_1' },
    'conversation.id': { conversation: { id: 'conv_1' } },
    'prompt.id': { prompt: { id: 'pmpt_1' } },
    background: { background: true },
    container: { container: 'c_1' },
    'input_image.file_id': input([{ type: 'input_image', file_id: 'file-1' }]),
    'input_file.file_id': input([{ type: 'input_file', file_id: 'file-1' }]),
    'function_call_output, input_file.file_id': output([{ type: 'input_file', file_id: 'file-1' }]),
    'function_call_output, input_image.file_id': output([
      { type: 'input_image', file_id: 'file-1' },
    ]),
    'image_url of the account': input([{ type: 'input_image', image_url: 'gs://b/x.png' }]),
    'file_url of the account': output([{ type: 'input_file', file_url: 'gs://b/x.pdf' }]),
  },
  messages: {
    container: { container: 'c_1' },
    'container.id': { container: { id: 'c_1' } },
    mcp_servers: { mcp_servers: [{ type: 'url', url: 'https://example.com', name: 'x' }] },
    thread: { thread: { id: 't_1' } },
    'image.source.file_id': user([{ type: 'image', source: { type: 'file', file_id: 'file_1' } }]),
    'document.source.file_id': user([
      { type: 'document', source: { type: 'file', file_id: 'file_1' } },
    ]),
    'document.source.content, image': user([
      {
        type: 'document',
        source: {
          type: 'content',
          content: [{ type: 'image', source: { type: 'file', file_id: 'file_1' } }],
        },
      },
    ]),
    'tool_result, image.source.file_id': result([
      { type: 'image', source: { type: 'file', file_id: 'file_1' } },
    ]),
    'tool_result, document.source.file_id': result([
      { type: 'document', source: { type: 'file', file_id: 'file_1' } },
    ]),
    'source.url of the account': result([
      { type: 'image', source: { type: 'url', url: 's3://b/x.png' } },
    ]),
    container_upload: user([{ type: 'container_upload', file_id: 'file_1' }]),
    'file_id beside base64': user([{ type: 'image', source: { ...PNG, file_id: 'file_1' } }]),
  },
  input_tokens: {
    conversation: { conversation: 'conv_1' },
    'prompt.id': { prompt: { id: 'pmpt_1' } },
    'input_image.file_id': input([{ type: 'input_image', file_id: 'file-1' }]),
  },
  count_tokens: {
    container: { container: 'c_1' },
    mcp_servers: { mcp_servers: [{ type: 'url', url: 'https://example.com', name: 'x' }] },
    'image.source.file_id': user([{ type: 'image', source: { type: 'file', file_id: 'file_1' } }]),
  },
}

const PLAIN: Record<Exclude<Post, 'embeddings'>, JsonObject> = {
  chat: { messages: [{ role: 'user', content: 'x' }] },
  responses: { input: 'x' },
  input_tokens: { input: 'x' },
  messages: { messages: [{ role: 'user', content: 'x' }], max_tokens: 10 },
  count_tokens: { messages: [{ role: 'user', content: 'x' }] },
}

describe('objects in the provider account cannot be named', () => {
  for (const [endpoint, bodies] of Object.entries(NAMED) as [keyof typeof NAMED, never][])
    for (const [name, body] of Object.entries(bodies) as [string, JsonObject][])
      for (const model of MODELS)
        test(`${endpoint}, ${model}: ${name}`, async () => {
          const answer = await owner.post(endpoint, { model, ...PLAIN[endpoint], ...body })
          assert.equal(answer.status, 400, JSON.stringify(answer.body))
          const { code, param } = answer.body['error'] as Body
          assert.equal(code, 'unsupported_parameter')
          assert.equal(typeof param, 'string')
          assert.equal((await gateway.logged(answer.requestId))['target'], undefined)
        })
})

test('models of another key look the same as unknown ones', async () => {
  const theirs = await stranger.call('GET', '/v1/models/sandbox-embedding')
  const nothing = await stranger.call('GET', '/v1/models/never-heard-of-it')
  assert.deepEqual([theirs.status, theirs.body['error'].code], [404, 'model_not_found'])
  assert.deepEqual([nothing.status, nothing.body['error'].code], [404, 'model_not_found'])
  const call = await stranger.post('embeddings', { model: 'sandbox-embedding', input: 'x' })
  const guess = await stranger.post('embeddings', { model: 'sandbox-embeddinx', input: 'x' })
  assert.deepEqual([call.status, call.body['error'].code], [403, 'model_not_allowed'])
  assert.deepEqual([guess.status, guess.body['error'].code], [403, 'model_not_allowed'])
})
