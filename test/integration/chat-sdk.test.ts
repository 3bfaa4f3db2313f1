// The official OpenAI clients read what the chat completions and embeddings encoders write: served by a bare server, so
// that only the bytes are tested.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import OpenAI from 'openai'
import OpenAI6 from 'openai-6'
import { GatewayError } from '../../src/core/errors.ts'
import type { CanonicalEvent } from '../../src/core/events.ts'
import { NO_USAGE } from '../../src/core/events.ts'
import type { JsonObject } from '../../src/core/json.ts'
import { CODECS } from '../../src/wire/codecs.ts'
import { writeSse } from '../../src/wire/contract/sse.ts'
import { fixedAnswer } from '../fixtures/cases.ts'

const usage = { ...NO_USAGE, inputTokens: 9, cachedTokens: 4, outputTokens: 6, reasoningTokens: 2 }
const place = { choice: 0, block: 0 }

const ANSWERS = {
  text: [
    { type: 'text-start', ...place },
    { type: 'text-delta', ...place, text: 'Grüße' },
    { type: 'text-delta', ...place, text: ' 👋' },
    { type: 'text-end', ...place },
    { type: 'choice-end', choice: 0, reason: 'stop' },
  ],
  tools: [
    { type: 'reasoning-start', choice: 0, block: 0 },
    { type: 'reasoning-delta', choice: 0, block: 0, text: 'Both.' },
    { type: 'reasoning-end', choice: 0, block: 0 },
    { type: 'tool-call-start', choice: 0, block: 1, id: 'call_1', name: 'add', custom: false },
    { type: 'tool-call-delta', choice: 0, block: 1, text: '{"a":1}' },
    { type: 'tool-call-end', choice: 0, block: 1 },
    { type: 'tool-call-start', choice: 0, block: 2, id: 'call_2', name: 'add', custom: false },
    { type: 'tool-call-end', choice: 0, block: 2 },
    { type: 'choice-end', choice: 0, reason: 'stop' },
  ],
  refusal: [
    { type: 'refusal-start', ...place },
    { type: 'refusal-delta', ...place, text: 'I cannot' },
    { type: 'refusal-end', ...place },
    { type: 'choice-end', choice: 0, reason: 'stop' },
  ],
  choices: [
    { type: 'text-start', choice: 1, block: 0 },
    { type: 'text-start', choice: 0, block: 0 },
    { type: 'text-delta', choice: 1, block: 0, text: 'one' },
    { type: 'text-delta', choice: 0, block: 0, text: 'zero' },
    { type: 'text-end', choice: 1, block: 0 },
    { type: 'choice-end', choice: 1, reason: 'limit' },
    { type: 'text-end', choice: 0, block: 0 },
    { type: 'choice-end', choice: 0, reason: 'stop' },
  ],
  schema: [
    { type: 'text-start', ...place },
    { type: 'text-delta', ...place, text: '{"name":"Ann"}' },
    { type: 'text-end', ...place },
    { type: 'choice-end', choice: 0, reason: 'stop' },
  ],
} as const satisfies Record<string, readonly CanonicalEvent[]>

const clients = { 'openai 7': OpenAI, 'openai 6': OpenAI6 as unknown as typeof OpenAI }

describe('chat completions and embeddings, as the official clients read them', () => {
  let server: Server
  let baseURL = ''
  before(async () => {
    server = createServer((request, response) => void answer(request, response))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  })
  after(() => server.close())

  for (const [name, Client] of Object.entries(clients)) {
    const client = (): OpenAI => new Client({ apiKey: 'tg_test', baseURL, maxRetries: 0 })
    const ask = (model: keyof typeof ANSWERS | 'failure') => ({
      model,
      messages: [{ role: 'user' as const, content: 'Hi' }],
    })

    describe(name, () => {
      test('reads a whole text', async () => {
        const completion = await client().chat.completions.create(ask('text'))
        assert.equal(completion.choices[0]?.message.content, 'Grüße 👋')
        assert.equal(completion.choices[0]?.finish_reason, 'stop')
        assert.deepEqual(completion.usage?.prompt_tokens_details?.cached_tokens, 4)
        assert.equal(completion.usage?.total_tokens, 15)
      })

      test('reads a streamed text, with the usage only at the end', async () => {
        const options = { stream: true, stream_options: { include_usage: true } } as const
        const stream = await client().chat.completions.create({ ...ask('text'), ...options })
        const chunks = await Array.fromAsync(stream)
        const said = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')
        assert.equal(said, 'Grüße 👋')
        assert.equal(new Set(chunks.map((chunk) => chunk.id)).size, 1)
        assert.deepEqual(chunks.at(-1)?.choices, [])
        assert.equal(chunks.at(-1)?.usage?.completion_tokens, 6)
        assert.ok(chunks.slice(0, -1).every((chunk) => chunk.usage === null))
      })

      test('gets no usage in a stream unless it asks', async () => {
        const stream = await client().chat.completions.create({ ...ask('text'), stream: true })
        for await (const chunk of stream) {
          assert.ok(!('usage' in chunk))
          assert.equal(chunk.choices.length, 1)
        }
      })

      test('collects tool calls with the streaming helper', async () => {
        const completion = await client()
          .chat.completions.stream(ask('tools'))
          .finalChatCompletion()
        const [choice] = completion.choices
        assert.equal(choice?.finish_reason, 'tool_calls')
        const calls = choice?.message.tool_calls?.map((call) => call.type === 'function' && call)
        assert.deepEqual(
          calls?.map((call) => call && [call.id, call.function.name, call.function.arguments]),
          [
            ['call_1', 'add', '{"a":1}'],
            ['call_2', 'add', '{}'],
          ],
        )
      })

      test('reads a refusal', async () => {
        const completion = await client()
          .chat.completions.stream(ask('refusal'))
          .finalChatCompletion()
        assert.equal(completion.choices[0]?.message.refusal, 'I cannot')
      })

      test('reads several interleaved choices', async () => {
        const request = { ...ask('choices'), n: 2 }
        const completion = await client().chat.completions.stream(request).finalChatCompletion()
        assert.deepEqual(
          completion.choices.map(({ message, finish_reason }) => [message.content, finish_reason]),
          [
            ['zero', 'stop'],
            ['one', 'length'],
          ],
        )
      })

      test('parses structured output', async () => {
        const json_schema = { name: 'person', strict: true, schema: { type: 'object' } }
        const completion = await client().chat.completions.parse({
          ...ask('schema'),
          response_format: { type: 'json_schema', json_schema },
        })
        assert.deepEqual(completion.choices[0]?.message.parsed, { name: 'Ann' })
      })

      test('throws a failure after the first byte', async () => {
        const stream = await client().chat.completions.create({ ...ask('failure'), stream: true })
        await assert.rejects(Array.fromAsync(stream), (error) => {
          assert.ok(error instanceof Client.APIError)
          assert.equal(error.code, 'provider_overloaded')
          assert.equal(error.type, 'server_error')
          return true
        })
      })

      test('reads embeddings, which it requests as base64 by itself', async () => {
        const request = { model: 'any', input: ['a', 'b'] }
        const { data, usage: counted } = await client().embeddings.create(request)
        assert.deepEqual(data[0]?.embedding, [0.5, -1])
        assert.deepEqual(data[1]?.embedding, [0.25, 2])
        assert.deepEqual(counted, { prompt_tokens: 9, total_tokens: 9 })
        const plain = await client().embeddings.create({ ...request, encoding_format: 'float' })
        assert.deepEqual(plain.data, data)
      })
    })
  }
})

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = JSON.parse(await text(request)) as JsonObject
  if (request.url === '/v1/embeddings') return answerEmbeddings(body, response)
  const codec = CODECS.chat
  codec.readCall(body)
  codec.decodeRequest(body)
  const isFailure = body['model'] === 'failure'
  const events: readonly CanonicalEvent[] = [
    { type: 'response-start', id: 'upstream', model: 'upstream-model' },
    ...ANSWERS[isFailure ? 'text' : (body['model'] as keyof typeof ANSWERS)],
    { type: 'usage', usage },
    { type: 'response-end' },
  ]
  if (body['stream'] !== true) {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(codec.encodeResponse(events, fixedAnswer(body))))
    return
  }
  response.setHeader('content-type', 'text/event-stream')
  const encoder = codec.encodeEvents(fixedAnswer(body))
  response.write(encoder.keepAlive)
  const sent = isFailure ? events.slice(0, 3) : events
  for (const sse of sent.flatMap((event) => encoder.encode(event))) response.write(writeSse(sse))
  const failure = new GatewayError('provider_overloaded', 'try again in a minute')
  if (isFailure) response.write(encoder.fail(failure).map(writeSse).join(''))
  response.end()
}

function answerEmbeddings(body: JsonObject, response: ServerResponse): void {
  const codec = CODECS.embeddings
  codec.readCall(body)
  const events: readonly CanonicalEvent[] = [
    { type: 'embedding', index: 0, vector: [0.5, -1] },
    { type: 'embedding', index: 1, vector: [0.25, 2] },
    { type: 'usage', usage },
    { type: 'response-end' },
  ]
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(codec.encodeResponse(events, fixedAnswer(body))))
}
