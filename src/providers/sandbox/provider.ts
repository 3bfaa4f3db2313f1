// The sandbox as a provider: real bytes of each upstream format, without a network. It reads requests and writes the
// model's events with the client-facing half of each format's codec, so it contains no format of its own.
import { setImmediate as othersTurn, setTimeout } from 'node:timers/promises'
import type { Timeouts } from '../../catalog/models.ts'
import type { Clock } from '../../core/clock.ts'
import type { Format } from '../../core/endpoints.ts'
import { GatewayError } from '../../core/errors.ts'
import type { ErrorCode } from '../../core/errors.ts'
import type { CanonicalEvent } from '../../core/events.ts'
import type { IdPrefix } from '../../core/ids.ts'
import { newId } from '../../core/ids.ts'
import type { JsonObject } from '../../core/json.ts'
import { isArray, isObject } from '../../core/json.ts'
import { SANDBOX } from '../../core/limits.ts'
import { CODECS } from '../../wire/codecs.ts'
import type { AnswerContext, EdgeCodec } from '../../wire/contract/codec.ts'
import { encodeError } from '../../wire/contract/errors.ts'
import type { SseEvent } from '../../wire/contract/sse.ts'
import { sseEvent, writeSse } from '../../wire/contract/sse.ts'
import { readJsonBody } from '../../wire/json/body.ts'
import { inOnePiece } from '../upstream/http.ts'
import type { Provider, UpstreamRequest } from '../upstream/provider.ts'
import { answer } from './conversation.ts'
import { sandboxFormatsOf } from './models.ts'
import type { Script } from './script.ts'
import { readScript, SCRIPT_HEADER } from './script.ts'
import { countSandboxInput } from './tokens.ts'

export function sandboxProvider(clock: Clock): Provider {
  return {
    name: SANDBOX,
    formatsOf: sandboxFormatsOf,
    countInput,
    async send(request, signal) {
      signal.throwIfAborted()
      // Every format that the sandbox speaks is one that clients speak.
      const codec = CODECS[request.format as Format]
      const refused = (error: GatewayError) => {
        const body = JSON.stringify(encodeError(codec.family, error, newId('req', clock)))
        return { status: error.status, headers: JSON_DOCUMENT, body: inOnePiece(Buffer.from(body)) }
      }
      const performance = prepared(request, codec, clock)
      if (performance instanceof GatewayError) return refused(performance)
      const pace = paceOf(request.timeouts, signal)
      const failure = earlyFailure(performance, request.stream)
      const isImmediate = request.stream || failure !== undefined
      const events = isImmediate ? [] : await collected(performance.events, signal)
      const milliseconds = isImmediate
        ? (performance.script.first ?? 0)
        : wholeMs(performance.script, events)
      await pace({ milliseconds, until: 'first byte' })
      if (failure !== undefined) return refused(failure)
      return request.stream
        ? { status: 200, headers: EVENT_STREAM, body: streamed(performance, pace, signal) }
        : {
            status: 200,
            headers: JSON_DOCUMENT,
            body: inOnePiece(await whole(performance, events)),
          }
    },
  }
}

function countInput(format: Format, body: JsonObject): number | undefined {
  try {
    return countSandboxInput(CODECS[format].decodeRequest(body))
  } catch (error) {
    // The request will be refused when it is sent.
    if (error instanceof GatewayError) return undefined
    throw error
  }
}

type Performance = {
  readonly script: Script
  readonly events: Iterable<CanonicalEvent>
  readonly codec: EdgeCodec
  readonly context: AnswerContext
}

/** Everything decided before the first byte, or the reason to refuse the request. */
function prepared(
  upstream: UpstreamRequest,
  codec: EdgeCodec,
  clock: Clock,
): Performance | GatewayError {
  const seconds = () => Math.floor(clock.now() / 1000)
  try {
    const { value: body } = readJsonBody(upstream.body)
    const request = codec.decodeRequest(body)
    const script = readScript(request, upstream.headers.get(SCRIPT_HEADER))
    const context = {
      model: upstream.model,
      body,
      createdAt: seconds(),
      now: seconds,
      requestId: newId('req', clock),
      newId: (prefix: IdPrefix) => newId(prefix, clock),
    }
    const prefix = codec.format === 'messages' ? 'toolu' : 'call'
    const options = { format: codec.format, newCallId: () => newId(prefix, clock) }
    return { script, codec, context, events: answer(request, script, options) }
  } catch (error) {
    if (error instanceof GatewayError) return error
    throw error
  }
}

/** The failure that replaces the answer. Only a stream can begin and fail later. */
function earlyFailure({ script }: Performance, isStreamed: boolean): GatewayError | undefined {
  const isLate = isStreamed && script.cut !== undefined
  return script.error === undefined || isLate ? undefined : failureOf(script.error)
}

/** How many events are made, or sent, before other requests get their turn. */
const EVENTS_AT_ONCE = 100

/** All events of an answer, while other requests are served. */
async function collected(
  events: Iterable<CanonicalEvent>,
  signal: AbortSignal,
): Promise<readonly CanonicalEvent[]> {
  const list: CanonicalEvent[] = []
  for (const event of events) {
    list.push(event)
    if (list.length % EVENTS_AT_ONCE > 0 && event.type !== 'embedding') continue
    await othersTurn()
    signal.throwIfAborted()
  }
  return list
}

/** How long a whole answer takes: as long as its stream would, since it is sent only once complete. */
function wholeMs(script: Script, events: readonly CanonicalEvent[]): number {
  const { first = 0, gap = 0, stall } = script
  const gaps = Math.max(0, events.filter(isPiece).length - 1)
  return stall === undefined ? first + gaps * gap : Infinity
}

/** One chunk of bytes per event on the wire, at the pace of the script. */
async function* streamed(
  { script, events, codec, context }: Performance,
  pace: Pace,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const encoder = codec.encodeEvents(context)
  const bytesOf = (event: SseEvent) =>
    Buffer.from(writeSse(script.usage === 'none' ? withoutUsageEvent(event) : event))
  let isBegun = false
  let count = 0
  for (const event of events) {
    if (++count % EVENTS_AT_ONCE === 0) await othersTurn()
    if (isPiece(event)) {
      if (isBegun) await pace({ milliseconds: script.gap ?? 0, until: 'next byte' })
      isBegun = true
    }
    signal.throwIfAborted()
    for (const sse of encoder.encode(event)) yield bytesOf(sse)
  }
  if (script.stall !== undefined) await pace({ milliseconds: Infinity, until: 'next byte' })
  if (script.cut !== undefined && script.error !== undefined) {
    for (const sse of encoder.fail(failureOf(script.error))) yield bytesOf(sse)
  }
}

async function whole(
  { script, codec, context }: Performance,
  events: readonly CanonicalEvent[],
): Promise<Uint8Array> {
  const body = codec.encodeResponse(events, context)
  const bytes = await jsonInPieces(script.usage === 'none' ? withoutUsage(body) : body)
  return script.cut === undefined ? bytes : bytes.subarray(0, bytes.length / 2)
}

/** Choices and vectors are written one by one, while other requests are served. */
async function jsonInPieces(body: JsonObject): Promise<Buffer> {
  const members: string[] = []
  for (const [name, value] of Object.entries(body)) {
    if (value === undefined) continue
    if (!isArray(value) || value.length < 2) {
      members.push(`${JSON.stringify(name)}:${JSON.stringify(value)}`)
      continue
    }
    const items: string[] = []
    for (const item of value) {
      items.push(JSON.stringify(item))
      await othersTurn()
    }
    members.push(`${JSON.stringify(name)}:[${items.join()}]`)
  }
  return Buffer.from(`{${members.join()}}`)
}

const EVENT_STREAM = new Map([['content-type', 'text/event-stream; charset=utf-8']])
const JSON_DOCUMENT = new Map([['content-type', 'application/json']])

function isPiece(event: CanonicalEvent): boolean {
  return event.type.endsWith('-delta')
}

/** The code decides the error's type in each family; the word is the code shown to the client. */
const FAILURES: Readonly<Record<number, readonly [code: ErrorCode, word: string]>> = {
  401: ['invalid_api_key', 'invalid_api_key'],
  402: ['key_budget_exceeded', 'insufficient_quota'],
  403: ['endpoint_not_allowed', 'permission_denied'],
  404: ['model_not_found', 'model_not_found'],
  413: ['request_too_large', 'request_too_large'],
  429: ['rate_limit_exceeded', 'rate_limit_exceeded'],
  503: ['overloaded', 'server_is_overloaded'],
  504: ['provider_timeout', 'timeout'],
  529: ['overloaded', 'server_is_overloaded'],
}

/** The failure that a steering line asks for, with the error code that real providers use for that status. */
function failureOf(status: number): GatewayError {
  const usual = [
    ['invalid_request', 'invalid_request'],
    ['internal_error', 'server_error'],
  ] as const
  const [code, word] = FAILURES[status] ?? usual[status < 500 ? 0 : 1]
  const message = `the sandbox was asked to fail with the status ${status}`
  return new GatewayError(code, message, { provider: { status, code: word } })
}

type Silence = {
  /** Infinity = until a timeout or the caller ends it. */
  readonly milliseconds: number
  readonly until: 'first byte' | 'next byte'
}
type Pace = (silence: Silence) => Promise<void>

const TIMER_MILLISECONDS_MAX = 2 ** 31 - 1

/** Silences as long as the script says, cut short by the caller or by a timeout as on a connection to a provider. */
function paceOf({ firstByteMs, idleMs, totalMs }: Timeouts, signal: AbortSignal): Pace {
  let leftMs = totalMs
  return async ({ milliseconds, until }) => {
    if (milliseconds === 0) return
    const patienceMs = Math.min(until === 'first byte' ? firstByteMs : idleMs, leftMs)
    const waitedMs = Math.min(milliseconds, patienceMs, TIMER_MILLISECONDS_MAX)
    // On abort the timer rejects with a generic error; the signal's reason says more.
    await setTimeout(waitedMs, undefined, { signal }).catch(() => signal.throwIfAborted())
    leftMs -= waitedMs
    if (milliseconds > waitedMs) {
      throw new GatewayError('provider_timeout', 'the sandbox did not answer in time')
    }
  }
}

/** In every format it is called `usage`, at the top level or one object further in. JSON skips undefined members. */
function withoutUsage(body: JsonObject): JsonObject {
  const members = Object.entries(body).map(([name, value]) => [
    name,
    isObject(value) ? { ...value, usage: undefined } : value,
  ])
  return { ...Object.fromEntries(members), usage: undefined }
}

function withoutUsageEvent(event: SseEvent): SseEvent {
  // Markers and comments are not JSON.
  if (!event.data.startsWith('{')) return event
  return sseEvent(event.event, withoutUsage(JSON.parse(event.data) as JsonObject))
}
