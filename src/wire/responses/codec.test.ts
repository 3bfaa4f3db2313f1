// Responses passthrough: the same bytes, except for what must change.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { answerContext } from '../../../test/samples/answer.ts'
import { GatewayError } from '../../core/errors.ts'
import type { JsonObject } from '../../core/json.ts'
import { readJsonAnswer } from '../content/answer.ts'
import type { RequestChange } from '../contract/codec.ts'
import type { SseEvent } from '../contract/sse.ts'
import { sseEvent, SseReader } from '../contract/sse.ts'
import { readJsonBody } from '../json/body.ts'
import { forwardEvents, forwardRequest, forwardResponse } from './codec.ts'

const MODEL = { model: 'gpt-up' }

function forwarded(text: string, change: RequestChange = MODEL): string {
  return Buffer.from(forwardRequest(readJsonBody(Buffer.from(text)), change)).toString()
}

test('responses: a request is passed on unchanged except for what must change', () => {
  assert.equal(
    forwarded('{ "model": "ours",  "input": "ä",\n "unheard_of": [1.0, {"b":2}] }'),
    '{ "model": "gpt-up",  "input": "ä",\n "unheard_of": [1.0, {"b":2}],"store":false,"include":["reasoning.encrypted_content"] }',
  )
})

const CHANGES: readonly [
  what: string,
  sent: JsonObject,
  expected: JsonObject,
  change?: RequestChange,
][] = [
  [
    'state stays in the gateway',
    { store: true, previous_response_id: 'resp_1', include: ['x'] },
    { store: false, include: ['x', 'reasoning.encrypted_content'] },
  ],
  [
    'a response to compare caches with is known only to the gateway',
    { prompt_cache_options: { comparison_response_id: 'resp_1' } },
    { store: false, include: ['reasoning.encrypted_content'] },
  ],
  [
    'other options of the prompt cache stay',
    { prompt_cache_options: { comparison_response_id: 'resp_1', ttl: '12h' } },
    {
      prompt_cache_options: { ttl: '12h' },
      store: false,
      include: ['reasoning.encrypted_content'],
    },
  ],
  [
    'an included field is not requested twice',
    { include: ['reasoning.encrypted_content'] },
    { store: false, include: ['reasoning.encrypted_content'] },
  ],
  [
    'models that do not reason are not asked for encrypted reasoning',
    {},
    { model: 'gpt-4o-mini', store: false },
    { model: 'gpt-4o-mini' },
  ],
  [
    'a deployment whose alias does not reason is not asked for encrypted reasoning',
    {},
    { model: 'prod', store: false },
    { model: 'prod', traits: { alsoKnownAs: ['gpt-4o', 'house'] } },
  ],
  [
    'a deployment of an unknown model is not asked for encrypted reasoning',
    {},
    { model: 'prod', store: false },
    { model: 'prod', traits: { alsoKnownAs: ['house'] } },
  ],
  [
    'a model known to reason is asked for encrypted reasoning, whatever its name',
    {},
    { model: 'prod', store: false, include: ['reasoning.encrypted_content'] },
    { model: 'prod', traits: { alsoKnownAs: ['house'], reasons: true } },
  ],
  [
    'the output limit is what the hold pays for',
    { max_output_tokens: 9000 },
    { store: false, max_output_tokens: 100, include: ['reasoning.encrypted_content'] },
    { model: 'gpt-up', outputTokensMax: 100 },
  ],
  [
    'hosted tools are removed, along with the choice of them',
    {
      tools: [{ type: 'web_search' }, { type: 'function', name: 'f' }, { type: 'local_shell' }],
      tool_choice: { type: 'web_search' },
    },
    {
      tools: [{ type: 'function', name: 'f' }, { type: 'local_shell' }],
      store: false,
      include: ['reasoning.encrypted_content'],
    },
  ],
  [
    'a choice that only hosted tools could meet is removed',
    {
      tools: [{ type: 'shell' }, { type: 'function', name: 'f' }],
      tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'shell' }] },
    },
    {
      tools: [{ type: 'function', name: 'f' }],
      store: false,
      include: ['reasoning.encrypted_content'],
    },
  ],
  [
    'the client’s own tools stay, along with the choice of them',
    {
      tools: [{ type: 'shell', environment: { type: 'local' } }, { type: 'file_search' }],
      tool_choice: { type: 'shell' },
    },
    {
      tools: [{ type: 'shell', environment: { type: 'local' } }],
      tool_choice: { type: 'shell' },
      store: false,
      include: ['reasoning.encrypted_content'],
    },
  ],
  [
    'hosted tools are removed from the input too',
    {
      input: [
        {
          type: 'additional_tools',
          role: 'developer',
          tools: [{ type: 'mcp' }, { type: 'custom' }],
        },
      ],
    },
    {
      input: [{ type: 'additional_tools', role: 'developer', tools: [{ type: 'custom' }] }],
      store: false,
      include: ['reasoning.encrypted_content'],
    },
  ],
  [
    'no empty list of tools is left',
    { tools: [{ type: 'mcp', server_url: 'x' }], tool_choice: 'auto' },
    { store: false, include: ['reasoning.encrypted_content'] },
  ],
]
for (const [what, sent, expected, change] of CHANGES) {
  test(`responses: ${what}`, () => {
    const text = forwarded(JSON.stringify({ model: 'ours', input: 'x', ...sent }), change)
    assert.deepEqual(JSON.parse(text), { model: 'gpt-up', input: 'x', ...expected })
  })
}

test('responses: integers of lists that are rewritten stay as they were written', () => {
  const long = '9223372036854775807'
  const tool = `{"type":"function","name":"f","parameters":{"const":${long}}}`
  const item = `{"type":"additional_tools","tools":[{"type":"mcp"}],"row":${long}}`
  const text = forwarded(
    `{"model":"m","input":[{"type":"reasoning","summary":[]},${item}],"tools":[{"type":"mcp"},${tool}],"x":1.0}`,
  )
  assert.ok(text.includes(`"tools":[${tool}]`), text)
  assert.ok(text.includes(`"input":[{"type":"additional_tools","tools":[],"row":${long}}]`), text)
  assert.ok(text.includes('"x":1.0'), text)
})

test('responses: reasoning that the provider cannot read is removed, along with the ids tied to them', () => {
  const foreign = Buffer.from('{"format":"messages","kind":"signature","value":"s"}')
  const user = { id: 'msg_0', role: 'user', content: 'x' }
  const own = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA' }
  const call = { type: 'function_call', id: 'fc_1', call_id: 'c', name: 'f', arguments: '{}' }
  const output = { type: 'function_call_output', id: 'fco_1', call_id: 'c', output: 'y' }
  const { id: _, ...freed } = call
  const input = [
    user,
    own,
    call,
    output,
    { type: 'reasoning', id: 'rs_2', summary: [], encrypted_content: null },
    call,
    output,
    {
      type: 'reasoning',
      id: 'rs_3',
      summary: [],
      encrypted_content: `tollgate.1.${foreign.toString('base64url')}`,
    },
    call,
    user,
  ]
  const sent = JSON.parse(forwarded(JSON.stringify({ model: 'm', input }))) as JsonObject
  assert.deepEqual(sent['input'], [user, own, call, output, freed, output, freed, user])
})

const RECORDED = readFileSync(
  new URL('../../../test/fixtures/responses/reasoning-text-call.sse', import.meta.url),
)
const BODY = {
  model: 'public-model',
  input: 'x',
  previous_response_id: 'resp_before',
  max_output_tokens: 4000,
}
const OURS = {
  id: 'resp_1',
  model: 'public-model',
  previous_response_id: 'resp_before',
  store: true,
  max_output_tokens: 4000,
  max_tool_calls: null,
}

function assertOurs(response: JsonObject): void {
  assert.deepEqual({ ...response, ...OURS }, response)
}

const responseIn = (text: string): JsonObject =>
  (JSON.parse(text.slice(text.indexOf('{'), text.indexOf('\n\n'))) as { response: JsonObject })
    .response

test('responses: events are passed on unchanged except for the names in response objects', () => {
  const forwarder = forwardEvents(answerContext(BODY))
  let changed = 0
  for (const event of new SseReader().read(RECORDED)) {
    const text = forwarder.forward(event, [])
    if (!/"response":/.test(event.data)) {
      assert.equal(text, event.raw)
      continue
    }
    changed++
    assert.match(text, new RegExp(`^event: ${event.event}\ndata: {"type":"${event.event}"`))
    const [before, after] = [responseIn(event.raw), responseIn(text)]
    assertOurs(after)
    assert.deepEqual(after, { ...before, ...OURS })
  }
  assert.equal(changed, 3)
})

test('responses: [DONE] comes once, after the last response', () => {
  const forwarder = forwardEvents(answerContext(BODY))
  const events: SseEvent[] = [
    ...new SseReader().read(RECORDED),
    { event: '', data: '[DONE]', raw: 'data: [DONE]\n\n' },
  ]
  const text = events.map((event) => forwarder.forward(event, [])).join('')
  assert.equal(text.indexOf('[DONE]'), text.lastIndexOf('[DONE]'))
  assert.ok(text.endsWith('}\n\ndata: [DONE]\n\n'))
})

test('responses: a provider without event lines is understood too', () => {
  const data = '{"type":"response.created","response":{"id":"theirs"}}'
  const event = { event: '', data, raw: `data: ${data}\n\n` }
  const text = forwardEvents(answerContext(BODY)).forward(event, [])
  assertOurs(responseIn(text))
})

test('responses: long numbers in a response object stay as they are', () => {
  const data = '{"type":"response.created","response":{"tools":[{"maximum":9223372036854775807}]}}'
  const event = { event: 'response.created', data, raw: '' }
  const text = forwardEvents(answerContext(BODY)).forward(event, [])
  assert.match(text, /"maximum":9223372036854775807}/)
})

test('responses: a stream that breaks keeps its id and continues its numbering', () => {
  const forwarder = forwardEvents(answerContext(BODY))
  const begin = { type: 'response.created', response: { id: 'theirs' } }
  const created = forwarder.forward(sseEvent('response.created', begin), [])
  forwarder.forward({ event: '', data: '', raw: ': comment\n\n' }, [])
  const [error, failed] = forwarder.fail(new GatewayError('provider_failed', 'cut'))
  const told = JSON.parse(failed?.data ?? '') as JsonObject & { response: JsonObject }
  assert.equal((JSON.parse(error?.data ?? '') as JsonObject)['sequence_number'], 1)
  assert.equal(told['sequence_number'], 2)
  assert.equal(told.response['id'], responseIn(created)['id'])
  assert.equal(told.response['status'], 'failed')
})

test('responses: a whole answer is passed on unchanged except for the names', () => {
  const text =
    '{"id":"theirs", "model":"gpt-up-2026","output":[ ],"x":1.0,"store":false,"previous_response_id":null,"max_output_tokens":128000,"max_tool_calls":5}'
  const sent = forwardResponse(readJsonAnswer(Buffer.from(text)), answerContext(BODY))
  assert.equal(
    sent,
    '{"id":"resp_1", "model":"public-model","output":[ ],"x":1.0,"store":true,"previous_response_id":"resp_before","max_output_tokens":4000,"max_tool_calls":null}',
  )
})
