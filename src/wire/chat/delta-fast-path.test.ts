// The shortcut against full parsing: whatever a stream says, in whatever order and pieces, both decode it alike.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { CanonicalEvent } from '../../core/events.ts'
import type { AnswerContext } from '../contract/codec.ts'
import { SseReader } from '../contract/sse.ts'
import { decodeEvents } from './answer-decode.ts'
import { forwardEvents } from './codec.ts'

const CHOICE = { index: 0, logprobs: null, finish_reason: null }

function chunk(choices: readonly object[], more: object = {}): string {
  return JSON.stringify({
    id: 'c1',
    object: 'chat.completion.chunk',
    model: 'up',
    choices,
    ...more,
  })
}

/** Tokens: mostly plain, also empty, with escapes, of several bytes, or like the end of their own chunk. */
const token = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom('', 'the ', 'gate', ' ü', '𝄞') },
  fc.constantFrom('"', '\\', '\n', '\u0001', '\ud834', '\u2028', '"}}'),
  fc.string({ unit: 'binary', maxLength: 6 }),
)

/** Chunks that are not just text of the first choice, some of the same length. */
const rare = fc.oneof(
  token.map((content) => [{ ...CHOICE, index: 1, delta: { content } }]),
  token.map((content) => [{ ...CHOICE, finish_reason: 'ok', delta: { content } }]),
  token.map((content) => [{ ...CHOICE, delta: { content, refusal: 'no' } }]),
  token.map((reasoning) => [{ ...CHOICE, delta: { reasoning } }]),
  token.map((content) => [{ delta: { content }, logprobs: { content: [{ token: 'x' }] } }]),
  fc.constantFrom(
    [],
    [{ ...CHOICE, delta: { role: 'assistant', content: '' } }],
    [{ delta: { tool_calls: [{ index: 0, id: 't', function: { name: 'f' } }] } }],
    [
      { ...CHOICE, delta: { content: 'a' } },
      { index: 1, delta: { content: 'b' } },
    ],
  ),
)
const text = token.map((content) => [{ ...CHOICE, delta: { content } }])

/** Texts make up most of a stream; everything else comes in between. */
function streamOf(more: fc.Arbitrary<object>): fc.Arbitrary<readonly string[]> {
  const choices = fc.oneof({ weight: 15, arbitrary: text }, rare)
  const event = fc.tuple(choices, more).map(([each, members]) => chunk(each, members))
  const end = chunk([], { usage: { prompt_tokens: 1, completion_tokens: 2 } })
  return fc.array(event, { minLength: 10, maxLength: 60 }).map((all) => [...all, end, '[DONE]'])
}

const maybeError = fc.oneof(
  { weight: 20, arbitrary: fc.constant({ error: null }) },
  fc.constantFrom({ error: 'no' }, { usage: {} }, { usage: { prompt_tokens: 1 } }),
)
const padding = fc.string({ maxLength: 4 })
const stream = fc.oneof(
  streamOf(fc.constant({})),
  streamOf(maybeError),
  streamOf(fc.tuple(maybeError, padding).map(([more, obfuscation]) => ({ ...more, obfuscation }))),
)

type Heard = { readonly meaning: readonly CanonicalEvent[]; readonly told: string }

/** What a client and the books get from a stream, up to the first error of its decoder. */
function hear(pieces: readonly Uint8Array[]): readonly Heard[] {
  const reader = new SseReader()
  const decode = decodeEvents()
  const forwarder = forwardEvents(ANSWER)
  const heard: Heard[] = []
  try {
    for (const piece of pieces) {
      for (const one of reader.read(piece)) {
        const meaning = decode(one)
        heard.push({ meaning, told: forwarder.forward(one, meaning) })
      }
    }
  } catch (error) {
    heard.push({ meaning: [], told: String(error) })
  }
  return heard
}

const ANSWER: AnswerContext = {
  model: 'public',
  body: {},
  createdAt: 1,
  now: () => 2,
  requestId: 'req_1',
  newId: (prefix) => `${prefix}_1`,
}

test('a stream is decoded and forwarded alike whether its events are compared or parsed', () => {
  fc.assert(
    fc.property(stream, fc.array(fc.nat(4_000)), (events, cuts) => {
      const compared = Buffer.from(events.map((data) => `data: ${data}\n\n`).join(''))
      // With a comment of its own, no event resembles the previous one, so each is parsed.
      const comments = events.map((_, index) => `: ${index}\n`)
      const parsed = Buffer.from(
        events.map((data, at) => `${comments[at]}data: ${data}\n\n`).join(''),
      )
      const long = hear([parsed]).map(({ meaning, told }, index) => ({
        meaning,
        told: told.replace(comments[index] ?? '', ''),
      }))
      assert.deepEqual(hear([compared]), long)
      assert.deepEqual(hear(piecesOf(compared, cuts)), long)
    }),
    { numRuns: 300 },
  )
})

function piecesOf(bytes: Uint8Array, cuts: readonly number[]): readonly Uint8Array[] {
  const edges = [...new Set([0, ...cuts.filter((cut) => cut < bytes.length), bytes.length])]
  const sorted = edges.toSorted((one, other) => one - other)
  return sorted.slice(1).map((edge, index) => bytes.subarray(sorted[index], edge))
}
