// The provider behind every contender: constant answers over bare sockets, so cheap that it is never the bottleneck.
// The answer depends on the path, on whether it is to be streamed and on a model name that ends in `slow`.
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { CHAT_ANSWER, CHAT_EVENTS, EMBEDDING_ANSWER, SLOW_EVENT } from './answers.ts'

/** The interval between events of a slow stream: long, like a model that reasons. */
const SLOW_EVERY_MS = 10_000

const server = createServer({ noDelay: true }, (socket) => {
  let waiting: Buffer = Buffer.alloc(0)
  socket.on('error', () => socket.destroy())
  socket.on('data', (chunk: Buffer) => {
    waiting = waiting.length === 0 ? chunk : Buffer.concat([waiting, chunk])
    for (let length = requestLength(waiting); length > 0; length = requestLength(waiting)) {
      answer(socket, waiting.subarray(0, length))
      waiting = waiting.subarray(length)
    }
  })
})
server.listen(0, '127.0.0.1', 1024, () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})

/** The length of the first request in the buffer; 0 while it is incomplete. */
function requestLength(bytes: Buffer): number {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd < 0) return 0
  const head = bytes.toString('latin1', 0, headEnd)
  const length = headEnd + 4 + Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0)
  return length <= bytes.length ? length : 0
}

function answer(socket: Socket, request: Buffer): void {
  if (STREAMED.some((words) => request.includes(words))) {
    if (request.includes('slow"')) streamSlowly(socket)
    else stream(socket)
  } else if (request.includes('/embeddings ')) socket.write(EMBEDDING)
  else socket.write(CHAT)
}

/** As gateways write it; Bifrost with a space. */
const STREAMED = ['"stream":true', '"stream": true']

const CHAT = whole(CHAT_ANSWER)
const EMBEDDING = whole(EMBEDDING_ANSWER)
const STREAM_HEAD =
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n'
const STREAM_PIECES = CHAT_EVENTS.map(piece)
const STREAM_END = '0\r\n\r\n'

function whole(body: string): Buffer {
  const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n`
  return Buffer.from(head + body)
}

function piece(event: string): Buffer {
  return Buffer.from(`${Buffer.byteLength(event).toString(16)}\r\n${event}\r\n`)
}

/** One event per turn of the event loop, each in its own packet, as models write them. */
function stream(socket: Socket): void {
  socket.write(STREAM_HEAD)
  let next = 0
  const send = (): void => {
    const event = STREAM_PIECES[next++]
    if (event === undefined) {
      socket.write(STREAM_END)
    } else if (socket.write(event)) setImmediate(send)
    else socket.once('drain', send)
  }
  send()
}

/** Continues until the client leaves. */
function streamSlowly(socket: Socket): void {
  socket.write(STREAM_HEAD)
  const event = piece(SLOW_EVENT)
  socket.write(event)
  const timer = setInterval(() => socket.write(event), SLOW_EVERY_MS)
  socket.once('close', () => clearInterval(timer))
}
