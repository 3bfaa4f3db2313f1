// Passes a provider's answer on to the client: the same bytes where both speak one format, decoded and encoded where
// they do not. Returns the end of the answer unsent, because nothing may be completed before it is in the books.
import { likelyInput } from '../catalog/worst-case.ts'
import { GatewayError } from '../core/errors.ts'
import type { CanonicalEvent } from '../core/events.ts'
import { readWhole, tooLong } from '../providers/upstream/http.ts'
import { readJsonAnswer } from '../wire/content/answer.ts'
import type { EventForwarder, UpstreamCodec } from '../wire/contract/codec.ts'
import { CITATIONS } from '../wire/contract/losses.ts'
import { sseComment, SseReader, writeSse } from '../wire/contract/sse.ts'
import { exactly } from '../wire/json/exact.ts'
import type { Answer } from './attempt.ts'
import type { Billing } from './billing.ts'
import type { OutboundRequest } from './prepare.ts'
import { setTargetHeaders, type Reply } from './reply.ts'
import type { ClientRequest } from './request.ts'

/** The largest whole answer, or text of a stream. A hundred long choices with probabilities stay below it. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024
/** The most that is kept back before the first content: some providers repeat the whole request there. */
const HELD_CHARACTERS_MAX = 1024 * 1024

/** Of a whole answer: real ones have a few, and vectors one each. Writing millions would stall all other requests. */
const EVENTS_MAX = 100_000

type Relayed = { readonly request: ClientRequest; readonly billing: Billing; readonly reply: Reply }

/** Passes on everything but the end, which it returns. An answer that is not streamed is returned whole. */
export function relay(answer: Answer, relayed: Relayed): Promise<string> {
  return relayed.request.call.stream ? relayStream(answer, relayed) : relayWhole(answer, relayed)
}

async function relayStream(answer: Answer, relayed: Relayed): Promise<string> {
  const chunks = answer.body[Symbol.asyncIterator]()
  const stream = new StreamRelay(answer.sent, relayed)
  try {
    while (!stream.isComplete) {
      try {
        // Not put in a variable, which would keep the chunk in memory for as long as the next read takes.
        stream.read(bytesOf(await chunks.next()))
      } finally {
        // Events that came in one chunk go out in one write, also those before an event that throws.
        if (stream.isDue) await stream.send()
      }
    }
  } catch (thrown) {
    await chunks.return?.()
    throw thrown
  }
  void drain(chunks)
  return stream.end()
}

/** What was read of a provider's stream, and how much of it the client has been sent. */
class StreamRelay {
  readonly #sent: OutboundRequest
  readonly #reply: Reply
  readonly #request: ClientRequest
  readonly #billing: Billing
  readonly #reader = new SseReader()
  readonly #decode: ReturnType<UpstreamCodec['decodeEvents']>
  readonly #encoder: EventForwarder
  /**
   * What comes before the first content is kept back: if the provider fails by then, another takes over and the client
   * does not notice.
   */
  #unsent = ''
  /** Of events without output, which decoders may keep: calls that must wait, items, ids. */
  #silentCharacters = 0
  /** The text of the event that completes the answer, once it has come. */
  #ending: string | undefined

  constructor(sent: OutboundRequest, { request, billing, reply }: Relayed) {
    this.#sent = sent
    this.#reply = reply
    this.#request = request
    this.#billing = billing
    this.#decode = sent.codec.decodeEvents()
    this.#encoder = encoderFor(sent, request)
    reply.beginStream(this.#encoder)
  }

  get isComplete(): boolean {
    return this.#ending !== undefined
  }

  read(bytes: Uint8Array): void {
    for (const event of this.#reader.read(bytes)) {
      const meaning = this.#decode(event)
      const outputBefore = this.#billing.outputBytes
      let isLast = false
      for (const one of meaning) {
        this.#billing.see(one)
        isLast ||= isEnd(one)
      }
      const text = this.#encoder.forward(event, meaning)
      const { outputBytes } = this.#billing
      if (outputBytes === outputBefore) this.#silentCharacters += event.raw.length
      // A provider that ignores every limit: text may be kept to be repeated at the end, and silent events buffered.
      if (Math.max(outputBytes, this.#silentCharacters) > ANSWER_BYTES_MAX) {
        throw tooLong(ANSWER_BYTES_MAX)
      }
      if (isLast) {
        // Events after the end are ignored, in this chunk as in later ones.
        this.#ending = text
        return
      }
      this.#unsent += text
    }
  }

  /** Whether there is anything that a client would read, or more than is worth keeping back. */
  get isDue(): boolean {
    if (this.#unsent === '') return false
    if (this.#reply.hasBegun || this.#billing.hasContent) return true
    return this.#unsent.length >= HELD_CHARACTERS_MAX
  }

  send(): Promise<void> {
    if (!this.#reply.hasBegun) {
      setTargetHeaders(this.#reply, this.#sent)
      // From here on no other target can take over.
      this.#billing.keepSample()
      this.#request.release()
    }
    const text = this.#unsent
    this.#unsent = ''
    return this.#reply.write(text)
  }

  /** The unsent rest of a complete answer. */
  end(): string {
    setTargetHeaders(this.#reply, this.#sent)
    return this.#unsent + this.#ending + (this.#encoder.end?.() ?? '')
  }
}

function isLost({ type }: CanonicalEvent): boolean {
  return type === 'citations-lost'
}

function isEnd({ type }: CanonicalEvent): boolean {
  return type === 'response-end'
}

function bytesOf({ done, value }: IteratorResult<Uint8Array, unknown>): Uint8Array {
  if (done === true) throw cut()
  return value
}

/** No provider sends more than this after the end of its answer. */
const TRAILING_BYTES_MAX = 64 * 1024

/**
 * The client does not wait for the provider to close a completed stream, but once that is closed its connection can be
 * reused. A provider that keeps sending is cut off.
 */
async function drain(chunks: AsyncIterator<Uint8Array>): Promise<void> {
  try {
    for (let bytes = 0; bytes <= TRAILING_BYTES_MAX;) {
      const { done, value } = await chunks.next()
      if (done === true) return
      bytes += value.length
    }
    await chunks.return?.()
  } catch {
    // The answer is complete: no failure matters any more.
  }
}

async function relayWhole(answer: Answer, { request, billing, reply }: Relayed): Promise<string> {
  const { codec } = request
  const { sent } = answer
  const body = readJsonAnswer(await readWhole(answer.body, ANSWER_BYTES_MAX))
  const isSame = sent.codec === codec
  const value = isSame ? body.value : exactly(body.text, body.value)
  const events = sent.codec.decodeResponse(value)
  for (const event of events) billing.see(event)
  if (events.length > EVENTS_MAX) {
    throw new GatewayError('provider_failed', 'the provider’s answer has too many parts')
  }
  if (!events.some(isEnd)) throw cut()
  const isAllTold = isSame || !events.some(isLost)
  const told = isAllTold ? sent : { ...sent, dropped: [...sent.dropped, CITATIONS[codec.format]] }
  setTargetHeaders(reply, told)
  return isSame
    ? codec.forwardResponse(body, request)
    : JSON.stringify(codec.encodeResponse(events, request))
}

/** Forwards events as they are where the formats match, and encodes their meaning in the client's format where not. */
function encoderFor(
  { codec: upstream, inputTokens }: OutboundRequest,
  request: ClientRequest,
): EventForwarder {
  const { codec, call } = request
  if (upstream === codec) return codec.forwardEvents(request)
  const encoder = codec.encodeEvents(request, inputTokens ?? likelyInput(call.input))
  return {
    keepAlive: encoder.keepAlive,
    fail: (error) => encoder.fail(error),
    forward: (_, meaning) => {
      let text = ''
      for (const one of meaning) {
        // The headers are out, so a comment names what they no longer can.
        if (isLost(one)) text += sseComment(`x-tollgate-dropped: ${CITATIONS[codec.format]}`)
        for (const event of encoder.encode(one)) text += writeSse(event)
      }
      return text
    },
  }
}

function cut(): GatewayError {
  return new GatewayError(
    'provider_failed',
    'the provider ended its answer before it was complete',
    { shouldRetry: false },
  )
}
