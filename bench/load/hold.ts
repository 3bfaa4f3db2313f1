// Opens streams and keeps them open: `hold.ts URL STREAMS` sends the request of the file in BENCH_REQUESTS once on each
// of that many connections, prints "held" when each has its first event, and stays until it is killed.
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'

/** Opened concurrently: fewer than a listener's backlog. */
const AT_ONCE = 100

const [url = '', streams = '1'] = process.argv.slice(2)
const { hostname, port } = new URL(url)
const request = readFileSync(process.env['BENCH_REQUESTS'] ?? '', 'utf8')

let opened = 0
await Promise.all(Array.from({ length: AT_ONCE }, openInTurn))
console.log('held')

async function openInTurn(): Promise<void> {
  while (opened < Number(streams)) {
    opened++
    await open()
  }
}

/** Resolves with the first event. */
function open(): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(request))
  let head = ''
  const read = (chunk: Buffer): void => {
    head += chunk.toString('latin1')
    if (head.includes('\ndata: ')) resolve()
  }
  socket.on('data', read)
  promise.then(
    () => socket.off('data', read).resume(),
    () => {},
  )
  socket.on('error', reject)
  socket.on('close', () => reject(new Error(`a stream ended early: ${head.slice(0, 500)}`)))
  return promise
}
