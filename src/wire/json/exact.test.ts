// Numbers beyond 2^53 come through parsing, writing and every translation as they were written.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { processorMs } from '../../../test/samples/processor-time.ts'
import type { CanonicalEvent } from '../../core/events.ts'
import type { JsonObject } from '../../core/json.ts'
import { chatCodec } from '../chat/codec.ts'
import { UPSTREAM_CODECS } from '../codecs.ts'
import { messagesCodec } from '../messages/codec.ts'
import { exactly, parseExactly } from './exact.ts'

const LONG = '{"id":12345678901234567890,"low":-9007199254740993}'

test('whole numbers of any length survive parsing and writing, and everything else parses as usual', () => {
  for (const text of [LONG, '{"a":[1234567890123456789]}', '{"a":[{"b":9007199254740992}]}']) {
    assert.equal(JSON.stringify(parseExactly(text)), text)
  }
  assert.deepEqual(parseExactly('{"a":0.1234567890123456789,"b":1e400,"c":"1234567890123456"}'), {
    a: Number('0.1234567890123456789'),
    b: Infinity,
    c: '1234567890123456',
  })
  assert.deepEqual(parseExactly('{"a":9007199254740991}'), { a: 9_007_199_254_740_991 })
  for (const text of [
    '{"a":12345678901234567890',
    '{"a":012345678901234567890}',
    '{12345678901234567890:1}',
    '[12345678901234567890]',
    '{"a":1',
    '1',
  ]) {
    assert.equal(parseExactly(text), undefined)
  }
})

test('a name, a text or a fraction with as many digits stays what it is', () => {
  const text = '{"1234567890123456789":"\\"9007199254740993","a":-12345678901234567.5,"b":1e0}'
  assert.deepEqual(parseExactly(text), JSON.parse(text))
  const value = JSON.parse(text) as JsonObject
  assert.equal(exactly(text, value), value, 'and is not parsed again')
})

test('one long number among a million others hardly slows parsing', () => {
  const text = `{"a":[${'1,'.repeat(1_000_000)}12345678901234567890]}`
  const plainMs = leastMs(() => JSON.parse(text))
  const exactMs = leastMs(() => parseExactly(text))
  assert.ok(exactMs < plainMs * 30, `${exactMs} ms instead of ${plainMs} ms`)
})

function leastMs(work: () => unknown): number {
  const times = Array.from({ length: 5 }, () => {
    const startedMs = processorMs()
    work()
    return processorMs() - startedMs
  })
  return Math.min(...times)
}

test('a call in the history reaches every provider with its long numbers', () => {
  const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: LONG } }
  const asked = chatCodec.decodeRequest({
    model: 'm',
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: LONG },
    ],
  })
  for (const format of ['messages', 'responses', 'gemini', 'converse'] as const) {
    const sent = JSON.stringify(UPSTREAM_CODECS[format].encodeRequest(asked))
    assert.ok(sent.replaceAll('\\"', '"').includes(LONG), sent)
  }
})

test('a model’s call reaches the client with its long numbers', () => {
  const answers = {
    messages: `{"content":[{"type":"tool_use","id":"t","name":"f","input":${LONG}}],"stop_reason":"tool_use"}`,
    gemini: `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":${LONG}}}]},"finishReason":"STOP"}]}`,
    converse: `{"output":{"message":{"content":[{"toolUse":{"toolUseId":"t","name":"f","input":${LONG}}}]}},"stopReason":"tool_use"}`,
  } as const
  for (const [format, text] of Object.entries(answers)) {
    const codec = UPSTREAM_CODECS[format as keyof typeof answers]
    const events = codec.decodeResponse(exactly(text, JSON.parse(text) as JsonObject))
    assert.equal(inputOf(events), LONG, format)
  }
  const decode = UPSTREAM_CODECS.gemini.decodeEvents()
  assert.equal(inputOf(decode({ event: '', data: answers.gemini, raw: '' })), LONG)
})

test('a messages request keeps its long numbers', () => {
  const text = `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":${LONG}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t"}]}]}`
  const asked = messagesCodec.decodeRequest(exactly(text, JSON.parse(text) as JsonObject))
  assert.ok(JSON.stringify(chatCodec.encodeRequest(asked)).includes(JSON.stringify(LONG)))
})

function inputOf(events: readonly CanonicalEvent[]): string {
  return events.map((event) => (event.type === 'tool-call-delta' ? event.text : '')).join('')
}

test('of more long integers than any call has only the first are kept exactly', () => {
  const text = `{"ids":[${'9007199254740993,'.repeat(150_000)}1]}`
  const written = JSON.stringify(parseExactly(text))
  assert.equal(written.split('9007199254740993').length - 1, 20_000)
  assert.equal(written.split('9007199254740992').length - 1, 130_000)
})
