// A load generator over bare sockets: `client.ts URL CONNECTIONS SECONDS` sends the requests of the file in
// BENCH_REQUESTS in turn, each connection its next one when the last answer is complete, and prints the results as
// JSON; with BENCH_TIMES, it also writes to that file when each request was sent and answered, by the machine's own clock.
// Supports as much of HTTP/1.1 as the contenders write.
import { readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { percentile } from '../measuring.ts'
import type { Counted } from './load.ts'

const [url = '', connections = '1', seconds = '1'] = process.argv.slice(2)
const { hostname, port } = new URL(url)
const requests = readFileSync(process.env['BENCH_REQUESTS'] ?? '', 'utf8').split('\0')
const latenciesUs: number[] = []
const firstEventsUs: number[] = []
const times: (readonly [sentMs: number, answeredMs: number])[] = []
let turn = 0
let refused = 0
let broken = 0

const from = nowMs()
const until = from + Number(seconds) * 1000
await Promise.all(Array.from({ length: Number(connections) }, send))
const counted: Counted = {
  requests: latenciesUs.length,
  durationUs: (nowMs() - from) * 1000,
  refused,
  broken,
  p50Us: Math.round(percentile(latenciesUs, 0.5)),
  p99Us: Math.round(percentile(latenciesUs, 0.99)),
  ...(firstEventsUs.length > 0 ? { firstEventUs: Math.round(percentile(firstEventsUs, 0.5)) } : {}),
}
console.log(JSON.stringify(counted))
const timesFile = process.env['BENCH_TIMES']
if (timesFile !== undefined) writeFileSync(timesFile, JSON.stringify(times))

/** Of the clock that all processes of the machine share. */
function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

/** One connection, until the time is up. */
function send(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  let read: ReturnType<typeof ask> | undefined
  const next = (): void => {
    read = nowMs() < until ? ask(socket) : undefined
    if (read === undefined) socket.destroy()
  }
  socket.on('connect', next)
  socket.on('data', (chunk: Buffer) => {
    if (read?.(chunk) === true) next()
  })
  socket.on('error', () => socket.destroy())
  socket.on('close', () => {
    if (read !== undefined || socket.bytesWritten === 0) broken++
    resolve()
  })
  return promise
}

/** Sends a request; the returned function takes the answer's bytes and returns true when it is complete. */
function ask(socket: Socket): (chunk: Buffer) => boolean {
  const sentMs = nowMs()
  let head = ''
  let bodyBytes = 0
  let length: number | undefined
  let tail = ''
  let isFirstEventSeen = false
  socket.write(requests[turn++ % requests.length] ?? '')
  return (chunk) => {
    const piece = chunk.toString('latin1')
    if (length === undefined) {
      head += piece
      const headEnd = head.indexOf('\r\n\r\n')
      if (headEnd < 0) return false
      length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? Infinity)
      bodyBytes = head.length - headEnd - 4
      tail = head.slice(-7)
      if (Number(head.slice(9, 12)) >= 400) refused++
    } else {
      bodyBytes += piece.length
      tail = (tail + piece).slice(-7)
    }
    if (!isFirstEventSeen && (piece.includes('data: ') || head.includes('\ndata: '))) {
      isFirstEventSeen = true
      firstEventsUs.push((nowMs() - sentMs) * 1000)
    }
    // Without a length the body is chunked, and the last chunk is empty.
    const isComplete = length === Infinity ? tail === '\r\n0\r\n\r\n' : bodyBytes >= length
    if (isComplete) {
      const answeredMs = nowMs()
      latenciesUs.push((answeredMs - sentMs) * 1000)
      times.push([sentMs, answeredMs])
    }
    return isComplete
  }
}
