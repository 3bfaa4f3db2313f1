// The ways in which a provider fails, by name. Each treats a request as its name says.
import { setTimeout as pause } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'

import { CHUNKED_END, chunked, EVENTS, message, STREAM, STREAM_HEAD } from './answers.ts'
import { callEvent, textEvent, USAGE, usageEvent, whole } from './answers.ts'
import type { Behaviour } from './upstream.ts'

/** A secret inside a provider's error messages, to check that nobody else sees it. */
export const LEAKED_KEY = 'sk-proj-abcdefghijklmnopqrstuvwxyz0123456789'

/** Ten million bytes when unpacked, a few thousand on the wire. */
const BOMB = gzipSync(Buffer.alloc(10_000_000))

/** An honest answer, whole or streamed as requested. */
const answer: Behaviour = (socket, { body }) => {
  if (body['stream'] === true) socket.write(streamOf(STREAM))
  else socket.write(message(whole()))
}

export const BEHAVIOURS = {
  answers: answer,

  'never-closes': (socket) => begin(socket, STREAM),

  'ends-in-nonsense': (socket) => void socket.write(streamOf(`${STREAM}data: bye\n\n`)),

  'talks-on': async (socket) => {
    begin(socket, STREAM)
    const chatter = chunked(': and another thing\n\n'.repeat(500))
    while (!socket.destroyed) {
      socket.write(chatter)
      await pause(5)
    }
  },

  hangs: () => {},
  'hangs-after-head': (socket) => void socket.write(STREAM_HEAD),
  'hangs-before-content': (socket) => begin(socket, EVENTS.start),
  stalls: (socket) => begin(socket, EVENTS.start, EVENTS.pieces[0]),
  'hangs-for-long': () => {},
  'stalls-for-long': (socket) => begin(socket, EVENTS.start, EVENTS.pieces[0]),
  drips: async (socket) => {
    socket.write(STREAM_HEAD)
    for (const byte of Buffer.from(STREAM)) {
      if (socket.destroyed) return
      socket.write(chunked(Buffer.from([byte])))
      await pause(100)
    }
  },

  resets: (socket) => void socket.resetAndDestroy(),
  closes: (socket) => void socket.end(),
  // Longer than the gateway lets a stream be silent before it sends a keep-alive, even with late timers.
  'resets-after-silence': async (socket) => {
    await pause(20_000)
    socket.resetAndDestroy()
  },
  'resets-midway': async (socket) => {
    begin(socket, EVENTS.start, EVENTS.pieces[0])
    // The pieces must be sent before the reset, which would discard them.
    await pause(100)
    socket.resetAndDestroy()
  },
  'closes-midway': (socket) => {
    begin(socket, EVENTS.start, EVENTS.pieces[0])
    socket.end()
  },
  'ends-midway': (socket) => void socket.write(streamOf([EVENTS.start, EVENTS.pieces[0]].join(''))),

  html: (socket, { body }) => {
    const page = '<!doctype html>\n<html><body>\n\n<h1>Welcome</h1>\n\n</body></html>'
    if (body['stream'] === true) socket.write(streamOf(page, 'text/html'))
    else socket.write(message(page, { type: 'text/html' }))
  },
  'says-more-than-it-sends': (socket) => {
    socket.end(message(whole(), { length: 10_000 }))
  },
  'sends-more-than-it-says': (socket) => {
    socket.write(message(whole(), { length: whole().length - 20 }))
  },
  gzips: (socket) => {
    socket.write(message(gzipSync(whole()), { more: 'content-encoding: gzip\r\n' }))
  },
  'gzip-bomb': (socket) => {
    socket.write(message(BOMB, { more: 'content-encoding: gzip\r\n' }))
  },
  'endless-event': (socket) => {
    socket.write(STREAM_HEAD)
    const piece = chunked(`data: ${'a'.repeat(1_000_000)}`)
    for (let megabytes = 0; megabytes < 10; megabytes++) socket.write(piece)
  },
  'endless-answer': (socket) => {
    begin(socket, EVENTS.start)
    return repeat(socket, textEvent('a'.repeat(1_000_000)))
  },
  // The first call stays open, and most formats cannot interleave two, so the second piles up.
  'endless-second-call': (socket) => {
    begin(socket, EVENTS.start, callEvent(0, '{'))
    return repeat(socket, callEvent(1, 'a'.repeat(1_000_000)))
  },
  'sends-countless-blocks': (socket) => {
    const parts = [{ text: 'a' }, { type: 'thinking', thinking: 'b' }]
    const content = Array.from({ length: 80_000 }, (_, index) => parts[index % 2])
    const choices = [{ message: { content }, finish_reason: 'stop' }]
    socket.write(message(JSON.stringify({ choices, usage: USAGE })))
  },
  'extra-response': (socket, request) => {
    // In one write: an extra response that arrives before the next request must not become its answer.
    socket.cork()
    void answer(socket, request)
    socket.write(message('{"id":"chatcmpl-of-somebody-else","choices":[]}'))
    socket.uncork()
  },
  redirects: (socket) => {
    const more = 'location: http://169.254.169.254/latest/meta-data\r\n'
    socket.write(message('', { status: '302 Found', more }))
  },
  'no-http': (socket) => void socket.end('SSH-2.0-OpenSSH_9.9\r\n'),

  'without-usage': counting(undefined, ''),
  'usage-twice': counting(USAGE, EVENTS.usage + EVENTS.usage),
  'usage-cumulative': counting(
    USAGE,
    usageEvent({ ...USAGE, completion_tokens: 3 }) + EVENTS.usage,
  ),
  'usage-null': counting(null, usageEvent(null)),
  'usage-negative': counting({ prompt_tokens: 12, completion_tokens: -5 }),
  'usage-in-words': counting({ prompt_tokens: '12', completion_tokens: '7' }),
  'usage-huge': counting({ prompt_tokens: 1e300, completion_tokens: 2 ** 60 }),
  'usage-fractional': counting({ prompt_tokens: 1.5, completion_tokens: 7 }),
  'usage-beyond-the-limit': counting({ ...USAGE, completion_tokens: 5_000_000 }),
  'usage-beyond-the-window': counting({ ...USAGE, prompt_tokens: 5_000_000 }),

  'error-first': (socket) => void socket.write(streamOf(complaint('server_is_overloaded'))),
  'error-midway': (socket) =>
    void socket.write(
      streamOf([EVENTS.start, EVENTS.pieces[0], complaint('server_is_overloaded')].join('')),
    ),
  'broken-json': (socket) =>
    void socket.write(streamOf(`${EVENTS.start}data: {"choices":[{"delta":{"content":"x\n\n`)),

  'says-400': refusing('400 Bad Request'),
  'says-401': refusing('401 Unauthorized'),
  'says-404': refusing('404 Not Found'),
  'says-413': refusing('413 Content Too Large'),
  'says-429': refusing('429 Too Many Requests', 'retry-after: 7\r\n'),
  'says-500': refusing('500 Internal Server Error'),
  'says-503': refusing('503 Service Unavailable'),
  'says-504': refusing('504 Gateway Timeout'),
} as const satisfies Record<string, Behaviour>

export type BehaviourName = keyof typeof BEHAVIOURS

/** The recorded stream, cut after as many bytes as the user's message says. */
export const truncate: Behaviour = (socket, { body }) => {
  const [user] = body['messages'] as readonly { readonly content: string }[]
  const part = Buffer.from(STREAM).subarray(0, Number(user?.content))
  socket.write(STREAM_HEAD)
  socket.end(part.length === 0 ? '' : chunked(part))
}

function begin(socket: Parameters<Behaviour>[0], ...events: readonly (string | undefined)[]): void {
  socket.write(STREAM_HEAD)
  for (const event of events) socket.write(chunked(event ?? ''))
}

/** Repeats one event until the connection closes. */
async function repeat(socket: Parameters<Behaviour>[0], event: string): Promise<void> {
  const piece = chunked(event)
  while (!socket.destroyed) {
    if (!socket.write(piece)) await pause(1)
  }
}

/** A stream that HTTP considers complete, whatever it contains. */
function streamOf(text: string, type = 'text/event-stream'): Buffer {
  const head = STREAM_HEAD.replace('text/event-stream', type)
  const body = text === '' ? Buffer.alloc(0) : chunked(text)
  return Buffer.concat([Buffer.from(head), body, Buffer.from(CHUNKED_END)])
}

/** An honest answer except for its usage. */
function counting(usage: object | null | undefined, events?: string): Behaviour {
  const streamed = events ?? usageEvent(usage ?? null)
  return (socket, { body }) => {
    const parts = [EVENTS.start, ...EVENTS.pieces, EVENTS.finish, streamed, EVENTS.done]
    if (body['stream'] === true) socket.write(streamOf(parts.join('')))
    else socket.write(message(whole(usage === undefined ? {} : { usage })))
  }
}

function complaint(code: string): string {
  return `data: ${JSON.stringify({ error: { message: `not now, ${LEAKED_KEY}`, type: code, code } })}\n\n`
}

function refusing(status: string, more = ''): Behaviour {
  const error = { message: `no, ${LEAKED_KEY}`, type: 'some_error', code: 'some_code' }
  return (socket) => void socket.write(message(JSON.stringify({ error }), { status, more }))
}
