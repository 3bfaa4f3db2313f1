// The contract of every wire format: its golden cases and recorded streams, and the promises all formats share.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { ChatFormat, Format, TargetFormat } from '../../src/core/endpoints.ts'
import { GatewayError } from '../../src/core/errors.ts'
import type { CanonicalEvent } from '../../src/core/events.ts'
import type { JsonObject } from '../../src/core/json.ts'
import type { CanonicalRequest, Conversation, Message } from '../../src/core/request.ts'
import { CODECS, UPSTREAM_CODECS } from '../../src/wire/codecs.ts'
import type { Codec } from '../../src/wire/contract/codec.ts'
import { lossesOf } from '../../src/wire/contract/losses.ts'
import type { SseEvent } from '../../src/wire/contract/sse.ts'
import { SseReader, writeSse } from '../../src/wire/contract/sse.ts'
import { readJsonBody } from '../../src/wire/json/body.ts'
import type { BlockKind } from '../fixtures/arbitrary.ts'
import { answers, toldBy } from '../fixtures/arbitrary.ts'
import type { Case } from '../fixtures/cases.ts'
import { fixedAnswer, readCases, readStreams } from '../fixtures/cases.ts'

const FORMATS = ['chat', 'embeddings', 'messages', 'responses'] as const satisfies readonly Format[]

/** What the answers of each streaming format can carry, and a round trip must therefore keep. */
const ANSWERS: Partial<
  Record<Format, { readonly kinds: readonly BlockKind[]; readonly choices: number }>
> = {
  chat: { kinds: ['text', 'reasoning', 'refusal', 'tool-call'], choices: 3 },
  messages: { kinds: ['text', 'reasoning', 'tool-call'], choices: 1 },
  responses: { kinds: ['text', 'reasoning', 'refusal', 'tool-call'], choices: 1 },
}

for (const format of FORMATS) {
  const codec = CODECS[format]
  describe(`${format}: golden cases`, () => {
    for (const each of readCases(format)) {
      test(`${each.name}: ${each.about}`, () => checkCase(codec, each))
    }
  })

  describe(`${format}: recorded streams`, () => {
    for (const { name, bytes, events } of readStreams(format)) {
      test(`${name} decodes to the events recorded beside it`, () => {
        const decoded = decodeBytes(codec, [bytes])
        assertWellFormed(decoded)
        assert.deepEqual(json(decoded), JSON.parse(events || 'null'))
      })

      test(`${name} decodes alike wherever it is cut`, () => {
        const whole = decodeBytes(codec, [bytes])
        for (let cut = 1; cut < bytes.length; cut++) {
          const pieces = [bytes.subarray(0, cut), bytes.subarray(cut)]
          assert.deepEqual(decodeBytes(codec, pieces), whole, `cut at ${cut}`)
        }
      })

      test(`${name} is passed on unchanged if the names already match`, () => {
        const events = new SseReader().read(bytes)
        const model = events.map(modelOf).find((each) => each !== undefined) ?? ''
        const body = { stream: true, stream_options: { include_usage: true } }
        const forwarder = codec.forwardEvents({ ...fixedAnswer(body), model })
        const decode = codec.decodeEvents()
        for (const event of events) {
          // Tollgate always writes the id of a response itself, and the end marker.
          const isOurs = format === 'responses' && /"response":{|^\[DONE\]$/.test(event.data)
          if (!isOurs) assert.equal(forwarder.forward(event, decode(event)), event.raw)
        }
      })
    }
  })

  describe(`${format}: requests`, () => {
    const good = goodBody(codec)
    for (const [param, changes] of badFields(format)) {
      test(`${JSON.stringify(changes)} is a 400 about ${param}`, () => {
        assert.throws(() => codec.readCall({ ...good, ...changes }), refusalAbout(param))
      })
    }

    test('a body that cannot be understood is a 400, never an internal error', () => {
      fc.assert(
        fc.property(fc.object({ key: fc.constantFrom(...Object.keys(good)) }), (mess) => {
          const body = { ...good, ...JSON.parse(JSON.stringify(mess)) } as JsonObject
          for (const read of [codec.readCall, codec.decodeRequest]) {
            try {
              read(body)
            } catch (error) {
              assert.ok(error instanceof GatewayError && error.status === 400, String(error))
            }
          }
        }),
      )
    })
  })
}

for (const [format, { kinds, choices }] of Object.entries(ANSWERS)) {
  const codec = CODECS[format as Format]
  const body = asking({ stream_options: { include_usage: true } })
  describe(`${format}: answers`, () => {
    test('a stream carries what the events say', () => {
      fc.assert(
        fc.property(answers(kinds, choices), (events) => {
          const encoder = codec.encodeEvents(fixedAnswer(body))
          const text = events.flatMap((event) => encoder.encode(event).map(writeSse)).join('')
          const decoded = decodeBytes(codec, [Buffer.from(text)])
          assertWellFormed(decoded)
          assert.deepEqual(toldBy(decoded), toldBy(events))
        }),
      )
    })

    test('a whole answer carries what the events say', () => {
      fc.assert(
        fc.property(answers(kinds, choices), (events) => {
          const decoded = codec.decodeResponse(codec.encodeResponse(events, fixedAnswer(body)))
          assertWellFormed(decoded)
          assert.deepEqual(toldBy(decoded), toldBy(events))
        }),
      )
    })

    test('a failed stream has no success marker, and is never taken for complete', () => {
      const encoder = codec.encodeEvents(fixedAnswer(body))
      const start: CanonicalEvent = { type: 'response-start', id: 'x', model: 'y' }
      const failure = new GatewayError('provider_overloaded', 'too many requests at once')
      const sent = [...encoder.encode(start), ...encoder.fail(failure)]
      const text = sent.map(writeSse).join('')
      assert.ok(text.includes('too many requests at once'))
      assert.throws(
        () => decodeBytes(codec, [Buffer.from(text)]),
        (error) => error instanceof GatewayError && error.message === failure.message,
      )
    })

    test('an event that is no JSON object is the provider’s failure', () => {
      for (const data of ['{', 'null', '[]', '"text"']) {
        const decode = codec.decodeEvents()
        assert.throws(
          () => decode({ event: '', data, raw: '' }),
          (error) => error instanceof GatewayError && error.code === 'provider_failed',
          data,
        )
      }
    })
  })
}

const PAIRS = Object.keys(ANSWERS).flatMap((provider) =>
  Object.keys(ANSWERS).map((client) => [provider as ChatFormat, client as ChatFormat] as const),
)

describe('from any provider to any client', () => {
  for (const [provider, client] of PAIRS) {
    test(`${provider} to ${client}: text, reasoning, calls, finish reasons and counts arrive`, () => {
      fc.assert(
        fc.property(answers(['text', 'reasoning', 'tool-call'], 1), (events) => {
          const sent = streamed(provider, events)
          const received = streamed(client, decodeBytes(CODECS[provider], [sent]))
          assert.deepEqual(toldBy(decodeBytes(CODECS[client], [received])), toldBy(events))
        }),
        { numRuns: 30 },
      )
    })
  }
})

function streamed(format: Format, events: readonly CanonicalEvent[]): Buffer {
  const body = asking({ stream: true, stream_options: { include_usage: true } })
  const encoder = CODECS[format].encodeEvents(fixedAnswer(body))
  return Buffer.from(events.flatMap((event) => encoder.encode(event).map(writeSse)).join(''))
}

describe('from any client to any provider', () => {
  for (const [provider, client] of PAIRS) {
    for (const { name, sections } of readCases(client)) {
      if (!sections.has('canonical')) continue
      test(`${client} to ${provider}: ${name} is refused by name, or sent whole`, () => {
        const request = CODECS[client].decodeRequest(JSON.parse(sections.get('request') ?? ''))
        assert.ok(request.kind === 'chat')
        const { losses } = CODECS[provider]
        const isRefused = Object.values(losses).some(
          (loss) => loss.rule === 'refuse' && loss.isUsed(request) === true,
        )
        const name = (): unknown => lossesOf(request, client, { losses, model: request.model })
        if (isRefused) {
          assert.throws(name, GatewayError)
          return
        }
        name()
        const sent = json(CODECS[provider].encodeRequest(request)) as JsonObject
        CODECS[provider].readCall({ max_tokens: 1, ...sent })
        const received = CODECS[provider].decodeRequest(sent)
        assert.ok(received.kind === 'chat')
        assert.deepEqual(gistOf(received).calls, gistOf(request).calls)
        const words = gistOf(received).words.join('\n')
        for (const text of gistOf(request).words) assert.ok(words.includes(text), text)
      })
    }
  }
})

/** What must survive any translation: every text and every call by name, in order. */
function gistOf(request: Conversation): { readonly words: string[]; readonly calls: string[] } {
  const parts = request.messages.flatMap((message): readonly AnyPart[] => message.parts)
  return {
    words: parts.flatMap((part) =>
      part.type === 'text' || part.type === 'refusal' ? [part.text.trim()] : [],
    ),
    calls: parts.flatMap((part) => (part.type === 'tool-call' ? [part.name] : [])),
  }
}

type AnyPart = Message['parts'][number]

/** Runs every check that the case has a section for. */
function checkCase(codec: Codec, { sections }: Case): void {
  const section = (name: string): unknown => JSON.parse(sections.get(name) ?? 'null')
  const request = (section('request') ?? {}) as JsonObject
  const decode = (): CanonicalRequest => codec.decodeRequest(request)
  const events = (): readonly CanonicalEvent[] =>
    codec.decodeResponse(section('answer') as JsonObject)
  const losses = (target: string): string[] => {
    const decoded = decode()
    assert.ok(decoded.kind === 'chat')
    return lossesOf(decoded, codec.format, {
      losses: UPSTREAM_CODECS[target as TargetFormat].losses,
      model: decoded.model,
    })
  }
  for (const name of sections.keys()) {
    const [verb, ...rest] = name.split(' ')
    const target = (verb === 'to' || verb === 'as' ? rest[0] : rest[1]) as Format
    const expected = name.endsWith(' stream') || name === 'forwarded' ? undefined : section(name)
    switch (name.replace(target, 'FORMAT')) {
      case 'request':
      case 'answer':
        break
      case 'call':
        assert.deepEqual(json(codec.readCall(request)), expected)
        break
      case 'canonical':
        assert.deepEqual(json(decode()), expected)
        break
      case 'to FORMAT':
        assert.deepEqual(json(CODECS[target].encodeRequest(decode())), expected)
        break
      case 'dropped by FORMAT':
        assert.deepEqual(losses(target), expected)
        break
      case 'refused by FORMAT':
        assert.throws(() => losses(target), matching(expected))
        break
      case 'refusal':
        assert.throws(() => (codec.readCall(request), decode()), matching(expected))
        break
      case 'forwarded': {
        const body = readJsonBody(Buffer.from(sections.get('request') ?? ''))
        const change = { model: 'provider-model', outputTokensMax: 1000 }
        assert.equal(Buffer.from(codec.forwardRequest(body, change)).toString(), sections.get(name))
        break
      }
      case 'events': {
        assertWellFormed(events())
        assert.deepEqual(json(events()), expected)
        break
      }
      case 'as FORMAT':
        assert.deepEqual(
          json(CODECS[target].encodeResponse(events(), fixedAnswer(asking(request)))),
          expected,
        )
        break
      case 'as FORMAT stream': {
        const encoder = CODECS[target].encodeEvents(fixedAnswer(asking(request)))
        const text = events().flatMap((event) => encoder.encode(event).map(writeSse))
        assert.equal(text.join('').trim(), sections.get(name))
        break
      }
      default:
        assert.fail(`no check is called "${name}"`)
    }
  }
}

/** A request that asks for reasoning as well: messages clients that do not are shown none. */
function asking(request: JsonObject): JsonObject {
  return { thinking: { type: 'adaptive' }, ...request }
}

function json(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}

function matching(expected: unknown): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof GatewayError, String(error))
    assert.deepEqual({ code: error.code, param: error.details.param }, expected)
    return true
  }
}

function refusalAbout(param: string): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof GatewayError && error.status === 400, String(error))
    assert.equal(error.details.param, param)
    return true
  }
}

/** The request of the golden case `smallest`, which every format has. */
function goodBody(codec: Codec): JsonObject {
  const smallest = readCases(codec.format).find((each) => each.name === 'smallest')
  const body = JSON.parse(smallest?.sections.get('request') ?? 'null') as JsonObject
  codec.readCall(body)
  return body
}

function badFields(format: Format): [string, JsonObject][] {
  const content = format === 'chat' || format === 'messages' ? 'messages' : 'input'
  return [
    ['model', { model: undefined }],
    ['model', { model: '' }],
    ['model', { model: 7 }],
    ['stream', { stream: 'true' }],
    ['stream', { stream: 1 }],
    [content, { [content]: undefined }],
    [content, { [content]: 7 }],
    ['conversation', { conversation: 'conv_1' }],
    ['background', { background: true }],
    ['prompt', { prompt: { id: 'pmpt_1' } }],
    ['container', { container: 'container_1' }],
    ['mcp_servers', { mcp_servers: [{ url: 'https://example.com' }] }],
    ['service_tier', { service_tier: 'priority' }],
    ['speed', { speed: 'fast' }],
    ['models', { models: ['another-model'] }],
  ]
}

function modelOf(event: SseEvent): string | undefined {
  const found = /"model": ?"([^"]*)"/.exec(event.data)
  return found?.[1]
}

function decodeBytes(codec: Codec, pieces: readonly Uint8Array[]): readonly CanonicalEvent[] {
  const reader = new SseReader()
  const decode = codec.decodeEvents()
  return pieces.flatMap((piece) => reader.read(piece)).flatMap((event) => decode(event))
}

/** Checks the rules of core/events.ts: order, numbering, one block at a time, nothing after the end. */
function assertWellFormed(events: readonly CanonicalEvent[]): void {
  const started = events.filter((event) => event.type !== 'ping')
  assert.equal(started[0]?.type, 'response-start', 'begins with response-start')
  assert.equal(started.filter((event) => event.type === 'response-start').length, 1)
  const ends = started.filter((event) => event.type === 'response-end').length
  assert.ok(ends === 0 || (ends === 1 && started.at(-1)?.type === 'response-end'), 'ends once')
  const choices = new Map<number, { open: string; next: number; isEnded: boolean }>()
  for (const event of started) {
    if (!('choice' in event)) continue
    const choice = choices.get(event.choice) ?? { open: '', next: 0, isEnded: false }
    choices.set(event.choice, choice)
    assert.ok(!choice.isEnded, 'nothing comes after the end of a choice')
    if (event.type === 'choice-end') {
      assert.equal(choice.open, '', 'a choice ends with all its blocks closed')
      choice.isEnded = true
      continue
    }
    const kind = event.type.slice(0, event.type.lastIndexOf('-'))
    if (event.type.endsWith('-start')) {
      assert.equal(choice.open, '', 'blocks never interleave')
      assert.equal(event.block, choice.next++, 'blocks are numbered in their order')
      choice.open = kind
      continue
    }
    assert.equal(kind, choice.open, `${event.type} belongs to the open block`)
    assert.equal(event.block, choice.next - 1)
    if (event.type.endsWith('-end')) choice.open = ''
  }
  const open = [...choices.values()].filter((choice) => !choice.isEnded)
  assert.ok(ends === 0 || open.length === 0, 'a whole answer has no open choice')
}
