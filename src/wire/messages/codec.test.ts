// Passthrough: only what must change does, and every other byte is the client's or the provider's own.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SAMPLE_CONTEXT } from '../../../test/samples/answer-context.ts'
import type { Json } from '../../core/json.ts'
import { readJsonAnswer } from '../content/answer.ts'
import { packReasoning } from '../content/opaque-reasoning.ts'
import { SseReader } from '../contract/sse.ts'
import { readJsonBody } from '../json/body.ts'
import { forwardEvents, forwardRequest, forwardResponse } from './codec.ts'

function forwarded(body: string, outputTokensMax?: number): string {
  const change = { model: 'claude', ...(outputTokensMax === undefined ? {} : { outputTokensMax }) }
  return Buffer.from(forwardRequest(readJsonBody(Buffer.from(body)), change)).toString()
}

test('only the model and the limit change', () => {
  const body =
    '{ "max_tokens":4096, "model":"m",\n "messages":[{"role":"user", "content":"\\u0041"}], "new":{"x":1.0} }'
  assert.equal(forwarded(body, 4096), body.replace('"m"', '"claude"'))
  assert.equal(forwarded(body, 100), body.replace('"m"', '"claude"').replace('4096', '100'))
  assert.equal(forwarded('{"model":"m","messages":[]}'), '{"model":"claude","messages":[]}')
})

test('tools that run at the provider are removed, along with what depends on them', () => {
  const client = '{"name":"f","input_schema":{"type":"object"}}'
  const search = '{"type":"tool_search_tool_bm25_20251119","name":"tool_search"}'
  const deferred = client.replace('"f"', '"g","defer_loading":true')
  const cases: [string, Json | undefined, Json | undefined][] = [
    [`"tools":[${client}],"tool_choice":{"type":"any"}`, [JSON.parse(client)], { type: 'any' }],
    [`"tools":[${deferred}]`, [JSON.parse(deferred)], undefined],
    [`"tools":[${search},${deferred}]`, [JSON.parse(client.replace('"f"', '"g"'))], undefined],
    [`"tools":[${search}],"tool_choice":{"type":"any"}`, undefined, undefined],
    [
      `"tools":[${search},${client}],"tool_choice":{"type":"tool","name":"tool_search"}`,
      [JSON.parse(client)],
      undefined,
    ],
  ]
  for (const [members, tools, choice] of cases) {
    const body = JSON.parse(forwarded(`{"model":"m","messages":[],${members}}`)) as Record<
      string,
      Json
    >
    assert.deepEqual([body['tools'], body['tool_choice']], [tools, choice], members)
  }
})

test('integers of lists that are rewritten stay as they were written', () => {
  const tool = '{"name":"f","input_schema":{"const":9223372036854775807}}'
  const hosted = '{"type":"tool_search_tool_bm25_20251119","name":"t"}'
  const text = forwarded(`{"model":"m","messages":[],"x":1.0,"tools":[${hosted},${tool}]}`)
  assert.equal(text, `{"model":"claude","messages":[],"x":1.0,"tools":[${tool}]}`)
})

test('reasoning from another format’s provider is removed, and its own passes untouched', () => {
  const foreign = packReasoning({ format: 'responses', kind: 'encrypted', value: 'x' }, 'messages')
  const own = { type: 'thinking', thinking: 'mine', signature: 'c2ln' }
  const text = { type: 'text', text: 'tollgate.1. is a word like any other' }
  const turns = [
    { role: 'user', content: 'Hello' },
    { role: 'assistant', content: [own, { type: 'thinking', thinking: 'a', signature: foreign }] },
    { role: 'assistant', content: [{ type: 'redacted_thinking', data: foreign }] },
    { role: 'assistant', content: [text] },
  ]
  const body = JSON.parse(forwarded(JSON.stringify({ model: 'm', messages: turns }))) as {
    messages: unknown
  }
  assert.deepEqual(body.messages, [turns[0], { role: 'assistant', content: [own] }, turns[3]])
})

test('events are passed on unchanged except for the model’s name', () => {
  const start =
    'event: message_start\r\ndata: {"type":"message_start","message":{"id":"msg_1","model":"claude","usage":{"x":1.0}}}\r\n\r\n'
  const rest =
    'event: content_block_delta\ndata: {"type": "content_block_delta","delta":{"model":"claude"}}\n\nevent: novelty\ndata: {}\n\n: comment\n\n'
  const events = new SseReader().read(Buffer.from(start + rest))
  const { forward, keepAlive } = forwardEvents(SAMPLE_CONTEXT)
  const text = events.map((event) => forward(event, [])).join('')
  assert.equal(text, start.replace('"claude"', '"house-model"') + rest)
  assert.equal(keepAlive, 'event: ping\ndata: {"type":"ping"}\n\n')
})

test('an event without a name gets the one in its data, without which SDKs drop it', () => {
  const start = 'data: {"type":"message_start","message":{"model":"claude"}}\n\n'
  const stop = 'data: {"type": "message_stop"}\n\n'
  const rest = 'data: [DONE]\n\n: comment\n\n'
  const { forward } = forwardEvents(SAMPLE_CONTEXT)
  const events = new SseReader().read(Buffer.from(start + stop + rest))
  assert.equal(
    events.map((event) => forward(event, [])).join(''),
    `event: message_start\n${start.replace('"claude"', '"house-model"')}event: message_stop\n${stop}${rest}`,
  )
})

test('a whole answer is passed on unchanged except for the model’s name', () => {
  const body = readJsonAnswer(Buffer.from('{"id":"msg_1", "model":"claude", "new": [1.0]}'))
  assert.equal(
    forwardResponse(body, SAMPLE_CONTEXT),
    '{"id":"msg_1", "model":"house-model", "new": [1.0]}',
  )
})
