// Everything in a conversation that this format can express survives encoding and decoding.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { JsonObject } from '../../core/json.ts'
import { defined } from '../../core/json.ts'
import type { AssistantPart, Conversation, Message, Reasoning, Tool } from '../../core/request.ts'
import { lossesOf } from '../contract/losses.ts'
import { readCall } from './call.ts'
import { decodeRequest } from './request-decode.ts'
import { encodeRequest, hindranceOf, MESSAGES_LOSSES } from './request-encode.ts'

const maybe = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> =>
  fc.option(value, { nil: undefined })
const words = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
  .filter((text) => text.trim() !== '' && !text.startsWith('x-anthropic'))
const base64 = fc
  .uint8Array({ minLength: 1, maxLength: 12 })
  .map((bytes) => Buffer.from(bytes).toString('base64'))
const url = fc.webUrl()

const text = words.map((each) => ({ type: 'text' as const, text: each }))
const image = fc.oneof(
  base64.map((data) => ({ type: 'base64' as const, mediaType: 'image/png', data })),
  url.map((each) => ({ type: 'url' as const, url: each })),
)
const file = fc.oneof(
  base64.map((data) => ({ type: 'base64' as const, mediaType: 'application/pdf', data })),
  url.map((each) => ({ type: 'url' as const, url: each })),
  words.map((each) => ({ type: 'text' as const, text: each })),
)
const shown = fc.oneof(
  text,
  image.map((source) => ({ type: 'image' as const, source })),
  fc
    .record({ source: file, name: maybe(words) })
    .map((part) => defined({ type: 'file' as const, ...part })),
)
const thought = fc
  .record({ text: words, value: base64, isHidden: fc.boolean() })
  .map(({ text: told, value, isHidden }): AssistantPart => ({
    type: 'reasoning',
    text: isHidden ? '' : told,
    opaque: { format: 'messages', kind: isHidden ? 'redacted' : 'signature', value },
  }))
const input = fc
  .dictionary(fc.stringMatching(/^[a-z]{1,4}$/), words, { noNullPrototype: true })
  .map((object) => JSON.stringify(object))
const result = fc.record({
  parts: fc.array(shown, { maxLength: 2 }),
  isError: maybe(fc.boolean()),
})

/** An assistant turn with its calls, their results, and what the user says next. */
const exchange = fc
  .record({
    thoughts: fc.array(thought, { maxLength: 2 }),
    said: fc.array(text, { minLength: 1, maxLength: 2 }),
    calls: fc.array(fc.tuple(input, result), { maxLength: 2 }),
    user: fc.array(shown, { minLength: 1, maxLength: 3 }),
  })
  .map(({ thoughts, said, calls, user }) => (number: number): Message[] => {
    const id = (index: number): string => `toolu_${number}_${index}`
    const parts: AssistantPart[] = [
      ...thoughts,
      ...said,
      ...calls.map(([called], index) => ({
        type: 'tool-call' as const,
        id: id(index),
        name: 'tool_0',
        input: called,
        custom: false,
      })),
    ]
    const results = calls.map(([, told], index) =>
      defined({ role: 'tool' as const, callId: id(index), ...told }),
    )
    return [{ role: 'assistant', parts }, ...results, { role: 'user', parts: user }]
  })

const messages = fc
  .record({
    system: fc.array(text, { maxLength: 2 }),
    first: fc.array(shown, { minLength: 1, maxLength: 3 }),
    exchanges: fc.array(exchange, { maxLength: 3 }),
  })
  .map(({ system, first, exchanges }): Message[] => [
    ...(system.length === 0 ? [] : [{ role: 'system' as const, parts: system }]),
    { role: 'user', parts: first },
    ...exchanges.flatMap((each, number) => each(number)),
  ])

const schema: fc.Arbitrary<JsonObject> = fc
  .dictionary(fc.stringMatching(/^[a-z]{1,4}$/), fc.constant({ type: 'string' }), {
    noNullPrototype: true,
  })
  .map((properties) => ({
    type: 'object',
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  }))

const tools = fc
  .array(fc.record({ description: maybe(words), schema, strict: maybe(fc.constant(true)) }), {
    minLength: 1,
    maxLength: 3,
  })
  .map((list) =>
    list.map((tool, index): Tool =>
      defined({ type: 'function' as const, name: `tool_${index}`, ...tool }),
    ),
  )

const reasoning: fc.Arbitrary<Reasoning> = fc.oneof(
  fc.constant<Reasoning>({ effort: 'none' }),
  fc
    .record({
      effort: maybe(fc.constantFrom('low', 'medium', 'high', 'xhigh', 'max')),
      display: maybe(fc.constantFrom('summary', 'omitted')),
      tokensMax: maybe(fc.integer({ min: 1024, max: 4095 })),
    })
    // Reasoning without an amount is decoded with the format's default effort.
    .filter(({ effort, tokensMax }) => effort !== undefined || tokensMax !== undefined)
    .map((settings) => defined(settings)),
)

/** Settings that exclude others: reasoning allows neither sampling settings nor forced tools. */
const mode = fc.oneof(
  reasoning.map((each) => ({ reasoning: each, sampling: {} })),
  fc
    .record({
      temperature: maybe(fc.double({ min: 0, max: 1, noNaN: true })),
      topK: maybe(fc.integer({ min: 1 })),
      stop: maybe(fc.array(words, { minLength: 1, maxLength: 6 })),
    })
    .map((sampling) => ({ sampling: defined(sampling) })),
  fc.record({
    toolChoice: fc.constantFrom(
      { type: 'auto' as const },
      { type: 'none' as const },
      { type: 'required' as const },
      { type: 'tool' as const, name: 'tool_0' },
    ),
    sampling: fc.constant({ topP: 0.5 }),
  }),
)

const conversation = fc
  .record({
    mode,
    messages,
    tools,
    stream: fc.boolean(),
    outputFormat: maybe(
      schema.map((each) => ({
        type: 'json-schema' as const,
        name: 'output',
        schema: each,
        strict: true,
      })),
    ),
    endUser: maybe(words),
    serviceTier: maybe(fc.constantFrom('auto', 'default')),
    cache: maybe(fc.constantFrom({}, { ttl: '1h' })),
  })
  .map(({ mode: chosen, ...rest }): Conversation => ({
    kind: 'chat',
    model: 'm',
    dropped: [],
    choices: 1,
    outputTokensMax: 4096,
    ...defined(rest),
    ...chosen,
  }))
  // A request for reasoning that cannot be met is a loss, and tested as one.
  .filter((request) => hindranceOf(request) === undefined)

test('a request survives encoding and decoding', () => {
  fc.assert(
    fc.property(conversation, (request) => {
      const body = JSON.parse(JSON.stringify(encodeRequest(request))) as JsonObject
      const { hidesReasoning: _, ...decoded } = decodeRequest(body)
      assert.deepEqual(decoded, withOneZero(request))
      assert.equal(readCall(body).output.tokensMax, 4096)
    }),
  )
})

test('the requests of the round trip lose nothing that the table of losses names', () => {
  fc.assert(
    fc.property(conversation, (request) => {
      const lost = lossesOf(request, 'chat', { losses: MESSAGES_LOSSES, model: request.model })
      assert.deepEqual(
        lost.filter((name) => name !== 'response_format.json_schema.name'),
        [],
      )
    }),
  )
})

/** JSON has no negative zero. */
function withOneZero(request: Conversation): Conversation {
  const { temperature } = request.sampling
  if (temperature !== 0) return request
  return { ...request, sampling: { ...request.sampling, temperature: 0 } }
}
