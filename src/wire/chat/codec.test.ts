// Passthrough: only names and limits change, and usage that the client did not request is withheld.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GatewayError } from '../../core/errors.ts'
import type { JsonObject } from '../../core/json.ts'
import { readJsonAnswer } from '../content/answer.ts'
import type { AnswerContext } from '../contract/codec.ts'
import { SseReader, writeSse } from '../contract/sse.ts'
import { readJsonBody } from '../json/body.ts'
import { forwardEvents, forwardRequest, forwardResponse } from './codec.ts'

const answerTo = (body: JsonObject): AnswerContext => ({
  model: 'public "model"',
  body,
  createdAt: 1,
  now: () => 2,
  requestId: 'req_1',
  newId: (prefix) => `${prefix}_1`,
})

function forward(text: string, body: JsonObject): string {
  const forwarder = forwardEvents(answerTo(body))
  return new SseReader()
    .read(Buffer.from(text))
    .map((event) => forwarder.forward(event, []))
    .join('')
}

test('a request is changed where it must be and nowhere else', () => {
  const change = { model: 'up', outputTokensMax: 9 }
  for (const [before, after] of [
    ['{"model":"m","x":1.0}', '{"model":"up","x":1.0,"max_completion_tokens":9}'],
    ['{"model":"m","max_tokens":99}', '{"model":"up","max_tokens":9}'],
    [
      '{"max_tokens":null,"model":"m"}',
      '{"max_tokens":null,"model":"up","max_completion_tokens":9}',
    ],
    [
      '{"model":"m","max_completion_tokens":50,"max_tokens":99}',
      '{"model":"up","max_completion_tokens":9,"max_tokens":9}',
    ],
    [
      '{"model":"m","max_tokens":9,"stream":true}',
      '{"model":"up","max_tokens":9,"stream":true,"stream_options":{"include_usage":true}}',
    ],
    [
      '{"model":"m","max_tokens":9,"stream":true,"stream_options":{"include_usage":false,"x":1}}',
      '{"model":"up","max_tokens":9,"stream":true,"stream_options":{"include_usage":true,"x":1}}',
    ],
    [
      '{"model":"m","max_tokens":9,"tools":[{"type":"web_search"},{"type":"function"}],"tool_choice":"auto"}',
      '{"model":"up","max_tokens":9,"tools":[{"type":"function"}],"tool_choice":"auto"}',
    ],
    [
      '{"model":"m","tools":[{"type":"mcp"}],"tool_choice":"required","max_tokens":9,"web_search_options":{}}',
      '{"model":"up","max_tokens":9}',
    ],
    [
      '{"model":"m","max_tokens":9,"tools":[{"type":"mcp"},{"type":"function","x":9223372036854775807}],"y":1.0}',
      '{"model":"up","max_tokens":9,"tools":[{"type":"function","x":9223372036854775807}],"y":1.0}',
    ],
  ] as const) {
    const body = readJsonBody(Buffer.from(before))
    assert.equal(Buffer.from(forwardRequest(body, change)).toString(), after)
  }
})

test('the public name replaces the provider’s in every event, and every other byte stays', () => {
  const name = '"public \\"model\\""'
  for (const [before, after] of [
    [
      'data: {"id":"1", "model": "up","choices":[]}\n\n',
      `data: {"id":"1", "model": ${name},"choices":[]}\n\n`,
    ],
    [': hi\n\n', ': hi\n\n'],
    ['data: [DONE]\n\n', 'data: [DONE]\n\n'],
    ['event: x\r\ndata:{"model":"up"}\r\n\r\n', `event: x\r\ndata:{"model":${name}}\r\n\r\n`],
    ['data: {"model":\ndata: "up"}\n\n', `data: {"model": ${name}}\n\n`],
    ['data: {"n":1.0,"note":"no model here"}\n\n', 'data: {"n":1.0,"note":"no model here"}\n\n'],
  ] as const) {
    assert.equal(forward(before, {}), after)
  }
})

test('the usage chunk is sent only to clients that requested it', () => {
  const usage = '{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}'
  const extra = `data: {"choices":[],"usage":${usage}}\n\n`
  const last = `data: {"choices":[{"delta":{},"finish_reason":"stop"}],"usage":${usage}}\n\n`
  const text = `data: {"choices":[{"delta":{"content":"\\"prompt_tokens\\""}}]}\n\n`
  const asked = { stream_options: { include_usage: true } }
  assert.equal(forward(last + text + extra, {}), last + text)
  assert.equal(forward(last + text + extra, asked), last + text + extra)
})

test('"usage": null is sent only to clients that requested usage', () => {
  const content = JSON.stringify('a,"usage":null')
  const [before, after] = [`data: {"choices":[{"delta":{"content":${content}}}]`, ',"x":1}\n\n']
  const chunk = `${before},"usage":null${after}`
  assert.equal(forward(chunk, {}), before + after)
  assert.equal(forward(chunk, { stream_options: { include_usage: true } }), chunk)
})

test('a stream ends with the end marker of its family, whether or not the provider sent one', () => {
  const mark = 'data: [DONE]\n\n'
  const forwarder = forwardEvents(answerTo({}))
  assert.equal(forwarder.end?.(), mark)
  for (const event of new SseReader().read(Buffer.from(mark))) forwarder.forward(event, [])
  assert.equal(forwarder.end?.(), '')
})

test('a whole answer carries the public name, and a failure is an error event', () => {
  const body = readJsonAnswer(
    Buffer.from('{"id":"1","model":"up","choices":[{"message":{"model":"up"}}],"x":1.0}'),
  )
  assert.equal(
    forwardResponse(body, answerTo({})),
    '{"id":"1","model":"public \\"model\\"","choices":[{"message":{"model":"up"}}],"x":1.0}',
  )
  const failure = forwardEvents(answerTo({})).fail(new GatewayError('provider_failed', 'gone'))
  assert.match(failure.map(writeSse).join(''), /^data: {"error":{"message":"gone",.*}}\n\n$/)
})
