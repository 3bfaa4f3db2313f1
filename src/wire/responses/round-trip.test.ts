// What the format can express survives: encoding and decoding a canonical form gives the same again.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { answerContext } from '../../../test/samples/answer.ts'
import { SAMPLE_CONVERSATION } from '../../../test/samples/conversation.ts'
import type { CanonicalEvent, Usage } from '../../core/events.ts'
import type { AssistantPart, Conversation, Message, Tool, UserPart } from '../../core/request.ts'
import { SseReader, writeSse } from '../contract/sse.ts'
import { decodeEvents, decodeResponse } from './answer-decode.ts'
import { encodeEvents, encodeResponse } from './answer-encode.ts'
import { decodeRequest } from './request-decode.ts'
import { encodeRequest } from './request-encode.ts'

const word = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
const name = fc.stringMatching(/^[a-z_]{1,12}$/)
const base64 = fc
  .uint8Array({ minLength: 1, maxLength: 9 })
  .map((b) => Buffer.from(b).toString('base64'))

type Block = (place: { choice: number; block: number }) => CanonicalEvent[]

const citation = fc.record({ url: word, title: word, start: fc.nat(), end: fc.nat() })
const token = fc.record({
  token: word,
  logprob: fc.double({ min: -9, max: 0, noNaN: true }).map((value) => (value === 0 ? 0 : value)),
  bytes: fc.array(fc.nat(255), { maxLength: 3 }),
})
const logprobs = fc.array(
  fc.record({ own: token, top: fc.array(token, { maxLength: 2 }) }).map(({ own, top }) => ({
    ...own,
    top,
  })),
  { minLength: 1, maxLength: 2 },
)
const text = fc
  .record({
    deltas: fc.array(fc.record({ text: word, logprobs: fc.option(logprobs, { nil: undefined }) }), {
      minLength: 1,
      maxLength: 3,
    }),
    citations: fc.array(citation, { maxLength: 2 }),
  })
  .map(({ deltas, citations }): Block => (place) => [
    { type: 'text-start', ...place },
    ...deltas.map(({ text: delta, logprobs: given }): CanonicalEvent =>
      given === undefined
        ? { type: 'text-delta', ...place, text: delta }
        : { type: 'text-delta', ...place, text: delta, logprobs: given },
    ),
    ...citations.map((each): CanonicalEvent => ({
      type: 'text-citation',
      ...place,
      citation: each,
    })),
    { type: 'text-end', ...place },
  ])
const refusal = fc.array(word, { minLength: 1, maxLength: 3 }).map((deltas): Block => (place) => [
  { type: 'refusal-start', ...place },
  ...deltas.map((delta): CanonicalEvent => ({ type: 'refusal-delta', ...place, text: delta })),
  { type: 'refusal-end', ...place },
])
const thinking = fc
  .record({ deltas: fc.array(word, { maxLength: 3 }), value: word })
  .map(({ deltas, value }): Block => (place) => [
    { type: 'reasoning-start', ...place },
    ...deltas.map((delta): CanonicalEvent => ({ type: 'reasoning-delta', ...place, text: delta })),
    {
      type: 'reasoning-end',
      ...place,
      opaque: { format: 'responses', kind: 'encrypted', value, id: '' },
    },
  ])
const call = fc
  .record({
    id: name,
    name,
    deltas: fc.array(word, { minLength: 1, maxLength: 3 }),
    custom: fc.boolean(),
  })
  .map(({ id, name: tool, deltas, custom }): Block => (place) => [
    // No two calls of an answer share an id.
    { type: 'tool-call-start', ...place, id: `${id}_${place.block}`, name: tool, custom },
    ...deltas.map((delta): CanonicalEvent => ({ type: 'tool-call-delta', ...place, text: delta })),
    { type: 'tool-call-end', ...place },
  ])
const usage: fc.Arbitrary<Usage> = fc
  .record({
    inputTokens: fc.nat(),
    cachedTokens: fc.nat(),
    cacheWriteLongTokens: fc.nat(1000),
    cacheWriteShortTokens: fc.nat(1000),
    outputTokens: fc.nat(),
    reasoningTokens: fc.nat(),
  })
  .map(({ cacheWriteShortTokens, ...rest }) => ({
    ...rest,
    cacheWriteTokens: rest.cacheWriteLongTokens + cacheWriteShortTokens,
  }))

const answer = fc
  .record({
    blocks: fc.array(fc.oneof(text, refusal, thinking, call), { maxLength: 5 }),
    usage,
    isCut: fc.boolean(),
  })
  .map(({ blocks, usage: used, isCut }): CanonicalEvent[] => {
    const events = blocks.flatMap((block, index) => block({ choice: 0, block: index }))
    const hasCalled = events.some((event) => event.type === 'tool-call-start')
    return [
      { type: 'response-start', id: 'resp_1', model: 'public-model' },
      ...events,
      { type: 'choice-end', choice: 0, reason: isCut ? 'limit' : hasCalled ? 'tool-call' : 'stop' },
      { type: 'usage', usage: used },
      { type: 'response-end' },
    ]
  })

/** Generated records have no prototype, which counts as a difference. */
function plain<Value>(value: Value): Value {
  return structuredClone(value)
}

/** Item ids are generated anew, and the ids in opaque reasoning with them. */
function withoutSealIds(events: readonly CanonicalEvent[]): CanonicalEvent[] {
  return events.map((event) =>
    event.type === 'reasoning-end' && event.opaque !== undefined
      ? { ...event, opaque: { ...event.opaque, id: '' } }
      : event,
  )
}

test('responses: a streamed answer survives encoding and decoding', () => {
  fc.assert(
    fc.property(answer.map(plain), (events) => {
      const encoder = encodeEvents(answerContext())
      const wire = events
        .flatMap((event) => encoder.encode(event))
        .map(writeSse)
        .join('')
      const decode = decodeEvents()
      const back = new SseReader().read(Buffer.from(wire)).flatMap((event) => decode(event))
      assert.deepEqual(withoutSealIds(back), events)
    }),
  )
})

test('responses: a whole answer survives encoding and decoding', () => {
  fc.assert(
    fc.property(answer.map(plain), (events) => {
      const back = decodeResponse(encodeResponse(events, answerContext()))
      assert.deepEqual(withoutSealIds(back), atOnce(events))
    }),
  )
})

/** Joins deltas to one per block, as in a whole answer. */
function atOnce(events: readonly CanonicalEvent[]): CanonicalEvent[] {
  const joined: CanonicalEvent[] = []
  for (const event of events) {
    const last = joined.at(-1)
    if (!('text' in event) || last === undefined || !('text' in last)) {
      joined.push(event)
      continue
    }
    const both = { ...last, text: last.text + event.text }
    const probabilities = [last, event].flatMap((each) =>
      each.type === 'text-delta' ? (each.logprobs ?? []) : [],
    )
    joined[joined.length - 1] =
      both.type === 'text-delta' && probabilities.length > 0
        ? { ...both, logprobs: probabilities }
        : both
  }
  return joined
}

const textPart = word.map((each): UserPart & { type: 'text' } => ({ type: 'text', text: each }))
const imagePart = fc.record({
  type: fc.constant('image' as const),
  source: fc.oneof(
    fc.constant({ type: 'url' as const, url: 'https://example.com/a.png' }),
    base64.map((data) => ({ type: 'base64' as const, mediaType: 'image/png', data })),
  ),
  detail: fc.constantFrom('low', 'high'),
})
const filePart = fc.oneof(
  fc.record({
    type: fc.constant('file' as const),
    source: base64.map((data) => ({ type: 'base64' as const, mediaType: 'application/pdf', data })),
    name: name.map((title) => `${title}.pdf`),
  }),
  fc.constant({
    type: 'file' as const,
    source: { type: 'url' as const, url: 'https://example.com/a.pdf' },
  }),
)
const assistantPart: fc.Arbitrary<AssistantPart> = fc.oneof(
  textPart,
  word.map((each) => ({ type: 'refusal' as const, text: each })),
  fc
    .record({ text: fc.oneof(word, fc.constant('')), value: word })
    .map(({ text: thought, value }) => ({
      type: 'reasoning' as const,
      text: thought,
      opaque: { format: 'responses' as const, kind: 'encrypted' as const, value, id: 'rs_1' },
    })),
)
/** An assistant turn with calls, and the results of all of them. */
const toolTurn = fc
  .array(fc.record({ name, input: word, custom: fc.boolean(), result: word }), {
    minLength: 1,
    maxLength: 3,
  })
  .map((calls): Message[] => [
    {
      role: 'assistant',
      parts: calls.map(({ name: tool, input, custom }, index) => ({
        type: 'tool-call',
        id: `call_${index}`,
        name: tool,
        input,
        custom,
      })),
    },
    ...calls.map(({ result }, index): Message => ({
      role: 'tool',
      callId: `call_${index}`,
      parts: [{ type: 'text', text: result }],
    })),
  ])
const userTurn = fc
  .array(fc.oneof(textPart, imagePart, filePart), { minLength: 1, maxLength: 3 })
  .map((parts): Message => ({ role: 'user', parts }))
const turns = fc
  .array(
    fc.oneof(
      userTurn.map((turn) => [turn]),
      fc
        .tuple(userTurn, fc.array(assistantPart, { minLength: 1, maxLength: 3 }))
        .map(([turn, parts]): Message[] => [turn, { role: 'assistant', parts }]),
      fc.tuple(userTurn, toolTurn).map(([turn, calls]) => [turn, ...calls]),
      textPart.map((part): Message[] => [{ role: 'system', parts: [part] }]),
    ),
    { minLength: 1, maxLength: 4 },
  )
  .map((groups) => groups.flat())
const schema = fc.constant({ type: 'object', properties: { a: { type: 'string' } } })
const tool: fc.Arbitrary<Tool> = fc.oneof(
  fc.record({
    type: fc.constant('function' as const),
    name,
    description: word,
    schema,
    strict: fc.boolean(),
  }),
  fc.record({
    type: fc.constant('custom' as const),
    name,
    inputFormat: fc.constant({ type: 'grammar', syntax: 'lark', definition: 'x' }),
  }),
)
const conversation: fc.Arbitrary<Conversation> = fc.record(
  {
    kind: fc.constant('chat' as const),
    model: name,
    stream: fc.boolean(),
    messages: turns,
    tools: fc.uniqueArray(tool, { selector: (each) => each.name, maxLength: 3 }),
    outputTokensMax: fc.integer({ min: 1, max: 9999 }),
    outputFormat: fc.oneof(
      fc.constant({ type: 'json' as const }),
      fc.record({ type: fc.constant('json-schema' as const), name, schema, strict: fc.boolean() }),
    ),
    verbosity: fc.constantFrom('low' as const, 'high' as const),
    reasoning: fc.constantFrom(
      { effort: 'low' as const },
      { effort: 'high' as const, display: 'summary' as const },
    ),
    sampling: fc.record(
      { temperature: fc.constantFrom(0, 0.5, 2), topP: fc.constant(0.9), logprobs: fc.nat(20) },
      { requiredKeys: [] },
    ),
    choices: fc.constant(1),
    endUser: name,
    metadata: fc.constant({ a: 'b' }),
    cacheKey: name,
    serviceTier: fc.constantFrom('auto', 'default'),
    dropped: fc.constant([]),
  },
  {
    requiredKeys: [
      ...([
        'kind',
        'model',
        'stream',
        'messages',
        'tools',
        'sampling',
        'choices',
        'dropped',
      ] as const),
    ],
  },
)

test('responses: a request survives encoding and decoding', () => {
  fc.assert(
    fc.property(conversation.map(plain), (request) => {
      assert.deepEqual(decodeRequest(encodeRequest(request)), request)
    }),
  )
})

test('responses: the choice of a tool survives encoding and decoding', () => {
  const tools: Tool[] = [
    { type: 'function', name: 'f', schema: { type: 'object' }, strict: true },
    { type: 'custom', name: 'c' },
  ]
  for (const toolChoice of [
    { type: 'auto' as const },
    { type: 'none' as const },
    { type: 'required' as const },
    { type: 'tool' as const, name: 'c' },
    { type: 'allowed' as const, names: ['f', 'c'], required: true },
  ]) {
    const request = { ...SAMPLE_CONVERSATION, tools, toolChoice, parallelToolCalls: false }
    assert.deepEqual(decodeRequest(encodeRequest(request)), request)
  }
})
