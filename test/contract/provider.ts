// The contract of every adapter, against recorded answers of its provider: find the address, sign in without showing
// the secret, return whole and streamed answers that its format's codec reads alike, and stop when the client is gone.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { IncomingHttpHeaders, Server } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, beforeEach, describe, test } from 'node:test'
import { systemClock } from '../../src/core/clock.ts'
import { EMBEDDING_FORMATS } from '../../src/core/endpoints.ts'
import type { UpstreamFormat } from '../../src/core/endpoints.ts'
import type { CanonicalEvent } from '../../src/core/events.ts'
import type { JsonObject } from '../../src/core/json.ts'
import type { CanonicalRequest } from '../../src/core/request.ts'
import { makeProvider, providerSettings } from '../../src/providers/adapters.ts'
import { openHttp } from '../../src/providers/upstream/connections.ts'
import type { HttpClient } from '../../src/providers/upstream/http.ts'
import type { Provider, UpstreamAnswer } from '../../src/providers/upstream/provider.ts'
import type { TracedCall } from '../../src/telemetry/trace.ts'
import { UPSTREAM_CODECS } from '../../src/wire/codecs.ts'
import { SseReader } from '../../src/wire/contract/sse.ts'
import { SAMPLE_CONVERSATION } from '../samples/conversation.ts'

export type Recorded = {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string | Uint8Array
}

export type Seen = {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export type Spoken = {
  readonly model: string
  readonly format: UpstreamFormat
  /** The paths of a whole and a streamed answer. */
  readonly whole: { readonly path: string; readonly answer: string }
  readonly streamed?: { readonly path: string; readonly answer: string | Uint8Array }
  /** What the codec reads from both, in short. */
  readonly means: readonly string[]
  /** Checks the body that is sent; includes the model if the address does not name it. */
  readonly sends: (body: JsonObject) => void
}

export type ProviderCase = {
  readonly name: string
  /** The provider's section of the configuration, pointing at the recording. */
  settings(url: string): JsonObject
  /** Two secrets, to see requests move from one to the other; null if the provider takes only one credential. */
  readonly twoKeys: ((url: string) => JsonObject) | null
  /** Checks the credentials of a request. */
  signsIn(headers: IncomingHttpHeaders): void
  readonly speaks: readonly Spoken[]
  readonly counts?: { readonly path: string; readonly answer: JsonObject; readonly tokens: number }
  readonly lists?: { readonly path: string; readonly answer: JsonObject; readonly names: string[] }
  /** Answers at other addresses that the adapter calls by itself, such as for tokens. */
  readonly beside?: Readonly<Record<string, JsonObject>>
  /** An error body in the provider's format, and the message in it. */
  readonly error: { readonly body: JsonObject; readonly message: string }
}

type Sending = {
  readonly stream?: boolean
  readonly signal?: AbortSignal
  readonly trace?: TracedCall
}

const TIMEOUTS = { connectMs: 5_000, firstByteMs: 30_000, idleMs: 30_000, totalMs: 60_000 }

export function providerContract(given: ProviderCase): void {
  describe(`the adapter ${given.name}`, () => {
    const seen: Seen[] = []
    let answers: (seen: Seen) => Recorded | undefined = () => undefined
    let server: Server
    let url: string
    const http = openHttp({})
    let provider: Provider

    before(async () => {
      server = createServer((request, response) => {
        const chunks: Buffer[] = []
        request.on('data', (chunk: Buffer) => chunks.push(chunk))
        request.on('end', () => {
          const { url: path = '', headers } = request
          const beside = given.beside?.[path]
          const one = { path, headers, body: Buffer.concat(chunks).toString() }
          if (beside === undefined) seen.push(one)
          const answer = beside === undefined ? answers(one) : { body: JSON.stringify(beside) }
          if (answer === undefined) return // The provider hangs.
          response.writeHead(answer.status ?? 200, answer.headers).end(answer.body)
        })
      })
      await once(server.listen(0, '127.0.0.1'), 'listening')
      url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      provider = make(given.settings(url), http)
    })
    beforeEach(() => {
      seen.length = 0
    })
    after(async () => {
      await http.close()
      server.closeAllConnections()
      server.close()
    })

    const send = (
      to: Provider,
      { model, format }: Spoken,
      { stream = false, signal = new AbortController().signal, trace }: Sending = {},
    ): Promise<UpstreamAnswer> => {
      const given = bodyOf(format, model, stream)
      const headers = new Map<string, string>()
      const adapted = { ...given, ...to.adapt?.({ format, model, body: given, headers }) }
      const body = Buffer.from(JSON.stringify(adapted))
      return to.send({ format, model, stream, body, headers, timeouts: TIMEOUTS, trace }, signal)
    }

    for (const spoken of given.speaks) {
      const codec = UPSTREAM_CODECS[spoken.format]

      test(`${spoken.model} speaks ${spoken.format}`, () => {
        assert.ok(provider.formatsOf(spoken.model).includes(spoken.format))
      })

      test(`a whole answer of ${spoken.model} in ${spoken.format} is read`, async () => {
        answers = () => ({ body: spoken.whole.answer })
        const answer = await send(provider, spoken)
        const events = codec.decodeResponse(JSON.parse(await textOf(answer)) as JsonObject)
        assert.deepEqual(spell(events), spoken.means)
        const [asked] = seen
        assert.equal(asked?.path, spoken.whole.path)
        given.signsIn(asked.headers)
        spoken.sends(JSON.parse(asked.body) as JsonObject)
      })

      const { streamed } = spoken
      if (streamed === undefined) continue
      test(`a streamed answer of ${spoken.model} in ${spoken.format} is read`, async () => {
        answers = () => ({ body: streamed.answer })
        const answer = await send(provider, spoken, { stream: true })
        const bytes = Buffer.from(await bytesOf(answer))
        assert.equal(seen[0]?.path, streamed.path)
        // The bytes mean the same wherever they are split.
        for (let at = 0; at <= bytes.length; at++) {
          const decode = codec.decodeEvents()
          const reader = new SseReader()
          const events = [bytes.subarray(0, at), bytes.subarray(at)]
            .flatMap((piece) => reader.read(piece))
            .flatMap((event) => decode(event))
          assert.deepEqual(spell(events), spoken.means, `cut after ${at} bytes`)
        }
      })
    }

    const [first] = given.speaks
    assert.ok(first)

    test('an error keeps its status and its message', async () => {
      answers = () => ({ status: 400, body: JSON.stringify(given.error.body) })
      const answer = await send(provider, first)
      assert.equal(answer.status, 400)
      const complaint = UPSTREAM_CODECS[first.format].decodeError(
        JSON.parse(await textOf(answer)) as JsonObject,
      )
      assert.equal(complaint.message, given.error.message)
    })

    test('a request ends when its caller gives up', async () => {
      answers = () => undefined
      const client = new AbortController()
      const answer = send(provider, first, { signal: client.signal })
      while (seen.length === 0) await new Promise(setImmediate)
      client.abort(new Error('gone'))
      await assert.rejects(answer, /gone/)
    })

    test('a trace goes on with the call, and learns where that goes', async () => {
      answers = () => ({ body: first.whole.answer })
      const sent: string[] = []
      const headers = ['traceparent', '00-1-2-01', 'tracestate', 'one=1']
      const trace = { headers, onSent: (to: URL) => sent.push(to.origin) }
      await textOf(await send(provider, first, { trace }))
      const { traceparent, tracestate } = seen[0]?.headers ?? {}
      assert.deepEqual([traceparent, tracestate], ['00-1-2-01', 'one=1'])
      assert.deepEqual(sent, [url])
    })

    test('no address contains a secret', async () => {
      answers = () => ({ body: first.whole.answer })
      await textOf(await send(provider, first))
      assert.doesNotMatch(seen.map(({ path }) => path).join(), /secret|key=/)
    })

    const { twoKeys, counts, lists } = given
    test(
      'a key that is turned away gives its turn to the next',
      { skip: twoKeys === null ? 'there is only one way to sign in' : false },
      async () => {
        const both = make(twoKeys?.(url) ?? {}, http)
        answers = ({ headers }) =>
          JSON.stringify(headers).includes('secret-1')
            ? { status: 429, headers: { 'retry-after': '30' }, body: '{}' }
            : { body: first.whole.answer }
        for (let turn = 0; turn < 4; turn++) {
          assert.equal((await send(both, first)).status, 200)
        }
        const turnedAway = seen.filter(({ headers }) =>
          JSON.stringify(headers).includes('secret-1'),
        )
        assert.equal(turnedAway.length, 1, 'it rests after that')
      },
    )

    test('it counts tokens and lists models as this contract says', () => {
      assert.equal(provider.countTokens !== undefined, counts !== undefined)
      if (lists !== undefined) assert.ok(provider.listModels)
    })

    if (counts !== undefined)
      test('it counts tokens for free', async () => {
        answers = () => ({ body: JSON.stringify(counts.answer) })
        const body = bodyOf(first.format, first.model, true)
        const { signal } = new AbortController()
        const tokens = await provider.countTokens?.(
          { format: first.format, model: first.model, body, headers: new Map() },
          signal,
        )
        assert.equal(tokens, counts.tokens)
        assert.equal(seen[0]?.path, counts.path)
        given.signsIn(seen[0].headers)
      })

    if (lists !== undefined)
      test('it lists its models', async () => {
        answers = () => ({ body: JSON.stringify(lists.answer) })
        assert.deepEqual(await provider.listModels?.(new AbortController().signal), lists.names)
        assert.equal(seen[0]?.path, lists.path)
        given.signsIn(seen[0].headers)
      })
  })
}

export function fixture(name: string): string {
  return readFileSync(new URL(`../fixtures/${name}`, import.meta.url), 'utf8')
}

function make(section: JsonObject, http: HttpClient): Provider {
  const settings = providerSettings.parse(section)
  return makeProvider(
    { ...settings, name: 'tested' },
    { http, clock: systemClock, log: { error: () => {} } },
  )
}

function bodyOf(format: UpstreamFormat, model: string, stream: boolean): JsonObject {
  const isEmbedding = EMBEDDING_FORMATS.includes(format)
  const request: CanonicalRequest = isEmbedding
    ? { kind: 'embedding', model, dropped: [], inputs: ['one'], encoding: 'float' }
    : { ...SAMPLE_CONVERSATION, model, stream, outputTokensMax: 100 }
  return UPSTREAM_CODECS[format].encodeRequest(request)
}

async function bytesOf({ body }: UpstreamAnswer): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks)
}

async function textOf(answer: UpstreamAnswer): Promise<string> {
  return Buffer.from(await bytesOf(answer)).toString()
}

/** The content of an answer, with texts joined: the pieces may be split differently. */
function spell(events: readonly CanonicalEvent[]): string[] {
  const lines: string[] = []
  let usage: readonly string[] = []
  for (const event of events) {
    switch (event.type) {
      case 'text-start':
      case 'reasoning-start':
        lines.push(`${event.type.replace('-start', '')}: `)
        break
      case 'tool-call-start':
        lines.push(`call ${event.name}: `)
        break
      case 'text-delta':
      case 'reasoning-delta':
      case 'tool-call-delta':
        lines.push((lines.pop() ?? '') + event.text)
        break
      case 'reasoning-end':
        if (event.opaque !== undefined) lines.push(`opaque ${event.opaque.value}`)
        break
      case 'embedding':
        lines.push(`vector ${event.vector.join(' ')}`)
        break
      case 'choice-end':
        lines.push(`end ${event.reason}`)
        break
      case 'usage': {
        // The last report counts.
        const { inputTokens, cachedTokens, outputTokens } = event.usage
        usage = [`usage ${inputTokens} ${cachedTokens} ${outputTokens}`]
        break
      }
      case 'response-end':
        lines.push('complete')
        break
      case 'response-start':
      case 'text-end':
      case 'text-citation':
      case 'refusal-start':
      case 'refusal-delta':
      case 'refusal-end':
      case 'tool-call-end':
      case 'citations-lost':
      case 'search':
      case 'ping':
        break
    }
  }
  // Formats report usage at different times, which means nothing.
  return [...lines, ...usage]
}
