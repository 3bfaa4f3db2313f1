// The sandbox's bytes, read back by the provider-facing half of each codec: every format, streamed and whole.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SAMPLE_CONVERSATION } from '../../../test/samples/conversation.ts'
import type { Timeouts } from '../../catalog/models.ts'
import { systemClock } from '../../core/clock.ts'
import type { Format } from '../../core/endpoints.ts'
import { GatewayError } from '../../core/errors.ts'
import type { CanonicalEvent, Usage } from '../../core/events.ts'
import { isObject } from '../../core/json.ts'
import type { CanonicalRequest, Conversation, Message, UserPart } from '../../core/request.ts'
import { CODECS } from '../../wire/codecs.ts'
import { readJsonAnswer } from '../../wire/content/answer.ts'
import { SseReader } from '../../wire/contract/sse.ts'
import type { UpstreamAnswer } from '../upstream/provider.ts'
import { sandboxProvider } from './provider.ts'
import { countSandboxInput, tokensOf } from './tokens.ts'

const FORMATS = ['chat', 'responses', 'messages'] as const
const provider = sandboxProvider(systemClock)

const TIMEOUTS = { connectMs: 5000, firstByteMs: 60_000, idleMs: 60_000, totalMs: 60_000 }

type Ways = {
  readonly format: Format
  readonly stream: boolean
  readonly steering?: string
  readonly signal?: AbortSignal
  readonly timeouts?: Timeouts
}

function send(request: CanonicalRequest, ways: Ways): Promise<UpstreamAnswer> {
  const { format, stream, steering, signal = new AbortController().signal } = ways
  const timeouts = ways.timeouts ?? TIMEOUTS
  const body = Buffer.from(
    JSON.stringify(CODECS[format].encodeRequest({ ...request, stream } as CanonicalRequest)),
  )
  const headers = new Map(steering === undefined ? [] : [['x-tollgate-sandbox', steering]])
  return provider.send({ format, model: request.model, stream, body, headers, timeouts }, signal)
}

/** All events of an answer; throws what the decoder throws. */
async function hear(request: CanonicalRequest, ways: Ways): Promise<CanonicalEvent[]> {
  const answer = await send(request, ways)
  assert.equal(answer.status, 200)
  const codec = CODECS[ways.format]
  if (!ways.stream) return [...codec.decodeResponse(await json(answer))]
  const reader = new SseReader()
  const decode = codec.decodeEvents()
  const events: CanonicalEvent[] = []
  for await (const bytes of answer.body) {
    const read = reader.read(bytes)
    assert.equal(read.length, 1, 'one event in each piece')
    assert.equal(Buffer.from(bytes).toString().slice(-2), '\n\n', 'whole')
    for (const event of read) events.push(...decode(event))
  }
  return events
}

async function json(answer: UpstreamAnswer) {
  const pieces: Uint8Array[] = []
  for await (const bytes of answer.body) pieces.push(bytes)
  return readJsonAnswer(Buffer.concat(pieces)).value
}

function conversation(
  messages: readonly Message[],
  more: Partial<Conversation> = {},
): Conversation {
  const given = { model: 'sandbox-chat', messages, outputTokensMax: 1000, ...more }
  return { ...SAMPLE_CONVERSATION, ...given }
}

function user(text: string, ...parts: UserPart[]): Message {
  return { role: 'user', parts: [{ type: 'text', text }, ...parts] }
}

const textOf = (events: readonly CanonicalEvent[]): string =>
  events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('')
const reasoningOf = (events: readonly CanonicalEvent[]): string =>
  events.map((event) => (event.type === 'reasoning-delta' ? event.text : '')).join('')
const usageOf = (events: readonly CanonicalEvent[]): Usage | undefined =>
  events.findLast((event) => event.type === 'usage')?.usage
const reasonOf = (events: readonly CanonicalEvent[]) =>
  events.findLast((event) => event.type === 'choice-end')?.reason
const isComplete = (events: readonly CanonicalEvent[]): boolean =>
  events.at(-1)?.type === 'response-end'
const callsOf = (events: readonly CanonicalEvent[]) =>
  events.flatMap((event) =>
    event.type === 'tool-call-start'
      ? [
          {
            id: event.id,
            name: event.name,
            custom: false,
            input: events
              .map((piece) =>
                piece.type === 'tool-call-delta' && piece.block === event.block ? piece.text : '',
              )
              .join(''),
          },
        ]
      : [],
  )

const WEATHER = {
  type: 'function',
  name: 'get_weather',
  description: 'Looks out of the window',
  schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
} as const

for (const format of FORMATS) {
  for (const stream of [false, true]) {
    const ways = { format, stream }
    describe(`${format}, ${stream ? 'streamed' : 'whole'}`, () => {
      test('a text, its end and its usage', async () => {
        const request = conversation([user('Say hello world')])
        const events = await hear(request, ways)
        assert.deepEqual(
          [textOf(events), reasonOf(events), isComplete(events)],
          ['hello world', 'stop', true],
        )
        assert.equal(usageOf(events)?.inputTokens, countSandboxInput(request))
        assert.equal(usageOf(events)?.outputTokens, 3)
      })

      test('the limit', async () => {
        const events = await hear(
          conversation([user('Say hello world')], { outputTokensMax: 2 }),
          ways,
        )
        assert.deepEqual([textOf(events), reasonOf(events)], ['hello wo', 'limit'])
      })

      test('tools in parallel, and their results', async () => {
        const tools = [WEATHER, { ...WEATHER, name: 'get_rain' }]
        const asked = user('Call get_weather and get_rain for Paris')
        const events = await hear(conversation([asked], { tools }), ways)
        const calls = callsOf(events)
        assert.deepEqual(
          calls.map(({ name, input }) => [name, JSON.parse(input)]),
          [
            ['get_weather', { city: 'Paris' }],
            ['get_rain', { city: 'Paris' }],
          ],
        )
        assert.equal(reasonOf(events), 'tool-call')
        const request = conversation(
          [
            asked,
            {
              role: 'assistant',
              parts: calls.map((call) => ({ type: 'tool-call', ...call }) as const),
            },
            ...calls.map(({ id }): Message => ({
              role: 'tool',
              callId: id,
              parts: [{ type: 'text', text: `sun ${id}` }],
            })),
          ],
          { tools },
        )
        const told = await hear(request, ways)
        for (const { name, id } of calls) {
          assert.ok(textOf(told).includes(`The tool ${name} answered: “sun ${id}”`))
        }
        assert.equal(usageOf(told)?.inputTokens, countSandboxInput(request))
      })

      test('a schema', async () => {
        const schema = {
          type: 'object',
          properties: { city: { type: 'string' } },
          required: ['city'],
          additionalProperties: false,
        }
        const request = conversation([user('I live in Rome')], {
          outputFormat: { type: 'json-schema', name: 'place', schema },
        })
        const events = await hear(request, ways)
        assert.deepEqual(JSON.parse(textOf(events)), { city: 'Rome' })
        assert.equal(usageOf(events)?.inputTokens, countSandboxInput(request))
      })

      test('an image', async () => {
        const request = conversation([
          user('Look', {
            type: 'image',
            source: { type: 'base64', mediaType: 'image/png', data: 'AAAA' },
          }),
        ])
        const events = await hear(request, ways)
        assert.ok(textOf(events).includes('an image (image/png, 3 bytes)'))
        assert.equal(usageOf(events)?.inputTokens, countSandboxInput(request))
      })

      test('reasoning, signed, and given back', async () => {
        const more = { model: 'sandbox-reasoner', reasoning: { effort: 'high' } } as const
        const events = await hear(conversation([user('Hello')], more), ways)
        const reasoned = reasoningOf(events)
        const opaque = events.find((event) => event.type === 'reasoning-end')?.opaque
        assert.notEqual(reasoned, '')
        assert.ok(opaque)
        assert.ok((usageOf(events)?.reasoningTokens ?? 0) > 0)
        const again = (text: string) =>
          conversation(
            [
              user('Hello'),
              {
                role: 'assistant',
                parts: [
                  { type: 'reasoning', text, opaque },
                  { type: 'text', text: textOf(events) },
                ],
              },
              user('And now?'),
            ],
            more,
          )
        assert.ok(isComplete(await hear(again(reasoned), ways)))
        const altered = await send(again(`${reasoned}!`), ways)
        assert.equal(altered.status, 400)
        assert.match(
          CODECS[format].decodeError(await json(altered)).message ?? '',
          /invalid signature/,
        )
      })

      test('no usage', async () => {
        const events = await hear(conversation([user('Hello')]), {
          ...ways,
          steering: 'usage=none',
        })
        assert.deepEqual([usageOf(events), isComplete(events)], [undefined, true])
      })

      test('failures in the error shape of the format', async () => {
        for (const [status, type] of [
          [400, 'invalid_request_error'],
          [401, format === 'messages' ? 'authentication_error' : 'invalid_request_error'],
          [429, 'rate_limit_error'],
          [504, format === 'messages' ? 'timeout_error' : 'server_error'],
          [500, format === 'messages' ? 'api_error' : 'server_error'],
          [529, format === 'messages' ? 'overloaded_error' : 'server_error'],
        ] as const) {
          const answer = await send(conversation([user('Hello')]), {
            ...ways,
            steering: `error=${status} first=1ms gap=600s`,
          })
          assert.equal(answer.status, status)
          assert.equal(answer.headers.get('content-type'), 'application/json')
          const complaint = CODECS[format].decodeError(await json(answer))
          assert.equal(complaint.type, type)
          assert.match(complaint.message ?? '', new RegExp(`${status}`))
        }
      })

      test('bad steering and a bad body are a 400', async () => {
        const steered = await send(conversation([user('Hello')]), { ...ways, steering: 'speed=9' })
        assert.equal(steered.status, 400)
        assert.match(CODECS[format].decodeError(await json(steered)).message ?? '', /"speed"/)
        const body = Buffer.from('{"model":')
        const { signal } = new AbortController()
        const broken = await provider.send(
          { ...ways, model: 'sandbox-chat', body, headers: new Map(), timeouts: TIMEOUTS },
          signal,
        )
        assert.equal(broken.status, 400)
      })

      test('a cut answer is incomplete', async () => {
        const cut = hear(conversation([user('Hello')]), { ...ways, steering: 'cut=5' })
        if (stream) {
          const events = await cut
          assert.equal(tokensOf(textOf(events)), 5)
          assert.deepEqual([reasonOf(events), isComplete(events)], [undefined, false])
        } else {
          await assert.rejects(cut, /not JSON/)
        }
      })

      test('an error in the middle', async () => {
        const ended = hear(conversation([user('Hello')]), { ...ways, steering: 'cut=5 error=529' })
        if (!stream) return assert.rejects(ended, /200/)
        await assert.rejects(
          ended,
          (error) => error instanceof GatewayError && error.code === 'provider_overloaded',
        )
      })

      test('silence ends when the caller gives up', async () => {
        for (const steering of ['stall=2', 'gap=59s', 'first=59s']) {
          const caller = new AbortController()
          const reason = new Error('gave up')
          const heard = hear(conversation([user('Hello')]), {
            ...ways,
            steering,
            signal: caller.signal,
          })
          setImmediate(() => caller.abort(reason))
          await assert.rejects(heard, reason)
        }
        const gone = AbortSignal.abort(new Error('gone before'))
        await assert.rejects(
          hear(conversation([user('Hello')]), { ...ways, signal: gone }),
          /gone before/,
        )
      })

      test('silence ends with a timeout', async () => {
        for (const [steering, timeout] of [
          ['first=600s', { firstByteMs: 1 }],
          ['gap=600s', stream ? { idleMs: 1 } : { firstByteMs: 1 }],
          ['stall=2', stream ? { idleMs: 1 } : { firstByteMs: 1 }],
          ['gap=2ms', { totalMs: 5 }],
        ] as const) {
          const timeouts = { ...TIMEOUTS, ...timeout }
          await assert.rejects(
            hear(conversation([user('Hello')]), { ...ways, steering, timeouts }),
            (error) => error instanceof GatewayError && error.code === 'provider_timeout',
            steering,
          )
        }
      })

      test('a body is counted before it is sent', () => {
        const request = conversation([user('Hello'), user('world')])
        const body = CODECS[format].encodeRequest(request)
        assert.equal(provider.countInput?.(format, body), 4)
        assert.equal(
          provider.countInput?.(format, { model: 'x', messages: 5, input: 5 }),
          undefined,
        )
      })
    })
  }
}

test('several choices and probabilities in chat', async () => {
  const request = conversation([user('Hello')], {
    choices: 2,
    sampling: { logprobs: 1, stop: ['sandbox'] },
  })
  const [whole, streamed] = await Promise.all([
    hear(request, { format: 'chat', stream: false }),
    hear(request, { format: 'chat', stream: true }),
  ])
  for (const events of [whole, streamed]) {
    assert.deepEqual(
      [0, 1].map((choice) =>
        textOf(events.filter((event) => 'choice' in event && event.choice === choice)),
      ),
      ['You wrote: “Hello” I am the ', 'Answer 2: You wrote: “Hello” I am the '],
    )
    const told = events.flatMap((event) =>
      event.type === 'text-delta' ? (event.logprobs ?? []) : [],
    )
    assert.equal(
      told
        .map(({ token }) => token)
        .join('')
        .startsWith('You'),
      true,
    )
  }
  assert.deepEqual(usageOf(whole), usageOf(streamed))
})

describe('a long answer gives other requests their turn', () => {
  const long = conversation([user('Hello [[sandbox tokens=4096]]')], {
    choices: 4,
    outputTokensMax: 4096,
    sampling: { logprobs: 3 },
  })
  const vectors: CanonicalRequest = {
    kind: 'embedding',
    model: 'sandbox-embedding',
    dropped: [],
    inputs: Array.from({ length: 200 }, (_, number) => `text ${number}`),
    encoding: 'float',
  }
  for (const [what, request, ways] of [
    ['streamed', long, { format: 'chat', stream: true }],
    ['whole', long, { format: 'chat', stream: false }],
    ['vectors', vectors, { format: 'embeddings', stream: false }],
  ] as const) {
    test(what, async () => {
      let turns = 0
      let isDone = false
      const count = (): void => {
        turns++
        if (!isDone) setImmediate(count)
      }
      setImmediate(count)
      for await (const _ of (await send(request, ways)).body);
      isDone = true
      assert.ok(turns > 50, `${turns} turns`)
    })
  }
})

describe('embeddings', () => {
  const request = (more: object): CanonicalRequest => ({
    kind: 'embedding',
    model: 'sandbox-embedding',
    dropped: [],
    inputs: ['hello world!', [1, 2, 3]],
    encoding: 'float',
    ...more,
  })
  const ways = { format: 'embeddings', stream: false } as const

  for (const encoding of ['float', 'base64']) {
    test(`vectors and usage as ${encoding}`, async () => {
      const events = await hear(request({ encoding, dimensions: 8 }), ways)
      const vectors = events.flatMap((event) => (event.type === 'embedding' ? [event.vector] : []))
      assert.deepEqual(
        vectors.map((vector) => vector.length),
        [8, 8],
      )
      assert.equal(usageOf(events)?.inputTokens, 6)
    })
  }

  test('each input may fill the whole window, and none may exceed it', async () => {
    const inputs = [Array(131_072).fill(1), 'x'.repeat(131_072 * 4)]
    assert.equal(
      usageOf(await hear(request({ inputs, dimensions: 2 }), ways))?.inputTokens,
      262_144,
    )
    for (const larger of [Array(131_073).fill(1), 'x'.repeat(131_072 * 4 + 1)]) {
      const refused = await send(request({ inputs: ['small', larger] }), ways)
      assert.equal(refused.status, 400)
      const { error } = await json(refused)
      assert.equal(isObject(error) && error['code'], 'context_length_exceeded')
    }
  })

  test('too many dimensions, a failure, no usage', async () => {
    assert.equal((await send(request({ dimensions: 5000 }), ways)).status, 400)
    assert.equal((await send(request({}), { ...ways, steering: 'error=503' })).status, 503)
    assert.equal((await send(request({ inputs: ['[[sandbox error=503]]'] }), ways)).status, 503)
    const answer = await json(await send(request({}), { ...ways, steering: 'usage=none' }))
    assert.equal(isObject(answer['usage']), false)
  })
})

test('the name of a model decides its format', () => {
  for (const [model, formats] of [
    ['sandbox-chat', ['chat']],
    ['sandbox-reasoner@responses', ['responses']],
    ['sandbox-chat@messages', ['messages']],
    ['sandbox-embedding', ['embeddings']],
    ['gpt-5-mini', ['chat', 'embeddings']],
  ] as const) {
    assert.deepEqual(provider.formatsOf(model), formats)
  }
})
