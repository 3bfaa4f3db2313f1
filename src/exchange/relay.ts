// Passes a provider's answer on to the client: the same bytes where both speak one format, decoded and encoded where
// they do not. Returns the end of the answer unsent, because nothing may be completed before it is in the books.
import { GatewayError } from '../core/errors.ts'
import type { CanonicalEvent } from '../core/events.ts'
import type { AnswerContext, Codec } from '../wire/codec.ts'
import { codecOf } from '../wire/codecs.ts'
import { readJsonAnswer } from '../wire/json.ts'
import type { SseEvent } from '../wire/sse.ts'
import { SseReader, writeSse } from '../wire/sse.ts'
import type { Answer } from './attempt.ts'
import type { Books } from './books.ts'
import type { Reply, StreamVoice } from './reply.ts'
import { readWhole } from './whole.ts'

/** What a whole answer may weigh: a hundred long choices with probabilities stay below it. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024

export type Passage = {
  readonly codec: Codec
  readonly context: AnswerContext
  readonly stream: boolean
  /** Sees every event before the client does. */
  readonly books: Books
}

/** Passes on everything but the end, which is returned. A whole answer is all end. */
export function relay(
  answer: Answer,
  reply: Reply,
  passage: Passage,
): Promise<Uint8Array | string> {
  return passage.stream ? relayStream(answer, reply, passage) : relayWhole(answer, passage)
}

async function relayStream(answer: Answer, reply: Reply, passage: Passage): Promise<string> {
  const reader = new SseReader()
  const voice = voiceFor(answer, passage)
  let isComplete = false
  let ending = ''
  for await (const bytes of answer.body) {
    for (const event of reader.read(bytes)) {
      const { seen, text } = voice.pass(event)
      for (const one of seen) {
        passage.books.see(one)
        if (one.type === 'response-end') isComplete = true
      }
      // The status waits for the first event: a provider may say 200 and fail at once, and then another is tried.
      if (!reply.hasBegun) reply.beginStream(voice)
      if (isComplete) ending += text
      else if (text !== '') await reply.write(text)
    }
  }
  if (!isComplete) throw cut()
  return ending
}

async function relayWhole(
  answer: Answer,
  { codec, context, books }: Passage,
): Promise<Uint8Array | string> {
  const body = readJsonAnswer(await readWhole(answer.body, ANSWER_BYTES_MAX))
  const events = codecOf(answer.prepared.format).decodeResponse(body.value)
  for (const event of events) books.see(event)
  if (!events.some((event) => event.type === 'response-end')) throw cut()
  return answer.prepared.format === codec.format
    ? codec.forwardResponse(body, context)
    : JSON.stringify(codec.encodeResponse(events, context))
}

type Voice = StreamVoice & {
  /** One event of the provider: what it means, and what the client is sent for it. */
  pass(event: SseEvent): { readonly seen: readonly CanonicalEvent[]; readonly text: string }
}

function voiceFor(answer: Answer, { codec, context }: Passage): Voice {
  const decode = codecOf(answer.prepared.format).decodeEvents()
  if (answer.prepared.format === codec.format) {
    const forwarder = codec.forwardEvents(context)
    return {
      keepAlive: forwarder.keepAlive,
      fail: (error) => forwarder.fail(error),
      pass: (event) => ({ seen: decode(event), text: forwarder.forward(event) }),
    }
  }
  const encoder = codec.encodeEvents(context)
  return {
    keepAlive: encoder.keepAlive,
    fail: (error) => encoder.fail(error),
    pass: (event) => {
      const seen = decode(event)
      return {
        seen,
        text: seen
          .flatMap((one) => encoder.encode(one))
          .map(writeSse)
          .join(''),
      }
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
