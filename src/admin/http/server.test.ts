// Slow clients: a request whose client has left is over, so that a shutdown does not wait for it, and a request with a
// slow body is judged when the body has arrived. Also: what browsers read is packed.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { buffer, text } from 'node:stream/consumers'
import { test } from 'node:test'
import { brotliDecompressSync } from 'node:zlib'
import { systemClock as clock } from '../../core/clock.ts'
import type { Store } from '../../store/database/store.ts'
import type { Log } from '../../telemetry/log.ts'
import { API_PREFIX } from '../contract/route.ts'
import type { Person } from './guard.ts'
import { makeAdminServer, type AdminServerOptions } from './server.ts'

const log: Log = { info: () => {}, warn: () => {}, error: () => {}, flush: () => {} }

const ann: Person = {
  ...{ id: 'person_1', email: 'ann@example.com', name: 'Ann', via: 'session' },
  permissions: new Set(['configuration:manage']),
  groups: [],
}

type Chosen = Pick<AdminServerOptions, 'identify' | 'handlers'>

function makeServer(chosen: Chosen) {
  const publicUrl = 'http://127.0.0.1:4000'
  // No refusal here is recorded.
  const store = {} as Store
  const metrics = async () => ({ type: 'text/plain', text: '' })
  return makeAdminServer({ ...chosen, metrics, publicUrl, clock, log, store })
}

type Arrived = {
  readonly socket: Socket
  readonly message: IncomingMessage
  readonly response: ServerResponse
}

/** A request of which this much has arrived. */
async function arrived(sent: string): Promise<Arrived> {
  const listener = createServer().listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const socket = connect((listener.address() as AddressInfo).port, '127.0.0.1')
  socket.write(sent)
  const [message, response] = (await once(listener, 'request')) as [IncomingMessage, ServerResponse]
  listener.close()
  return { socket, message, response }
}

test('the server does not wait for a client that left during loading', async () => {
  const head = `GET ${API_PREFIX}/session HTTP/1.1\r\nhost: tollgate\r\n\r\n`
  const { socket, message, response } = await arrived(head)
  socket.resetAndDestroy()
  await once(response, 'close')

  let asked = 0
  const identify = async () => void (asked += 1)
  const server = await makeServer({ identify, handlers: {} })
  await server.handle(message, response, 'req_1')
  assert.equal(asked, 0)
  await server.close()
})

for (const [body, head] of [
  ['a body', 'content-length: 2\r\n\r\n{'],
  ['a body that ends up empty', 'transfer-encoding: chunked\r\n\r\n'],
] as const)
  test(`a caller whose rights end while ${body} is in transit is refused when it arrives`, async () => {
    const path = `${API_PREFIX}/keys/key_${'0'.repeat(26)}/pause`
    const { socket, message, response } = await arrived(
      `POST ${path} HTTP/1.1\r\nhost: tollgate\r\nconnection: close\r\ncontent-type: application/json\r\n${head}`,
    )
    let person: Person | undefined = ann
    const { promise: isKnown, resolve: known } = Promise.withResolvers<void>()
    const identify = async () => {
      known()
      return person
    }
    let paused = 0
    const pauseKey = async () => {
      paused += 1
      throw new Error('nobody may come here')
    }
    const server = await makeServer({ identify, handlers: { pauseKey } })
    const handled = server.handle(message, response, 'req_1')
    await isKnown
    person = undefined
    socket.write(body === 'a body' ? '}' : '0\r\n\r\n')
    const answer = await text(socket)
    await handled
    assert.match(answer, /^HTTP\/1.1 401 /)
    assert.equal(paused, 0)
    await server.close()
  })

for (const [what, encoding, isPacked] of [
  ['a browser', 'gzip, deflate, br, zstd', true],
  ['a program', 'gzip', false],
] as const)
  test(`a long answer is ${isPacked ? 'packed' : 'sent as it is'} for ${what}`, async (t) => {
    const version = 'a long version '.repeat(200)
    const now = new Date().toISOString()
    const about = async () => ({
      ...{ version, now, base_url: 'http://tollgate', address: '127.0.0.1' },
      auth_headers: 'strict' as const,
      email_available: false,
    })
    const server = await makeServer({ identify: async () => ann, handlers: { about } })
    const listener = createServer((message, response) => void server.handle(message, response, 'r'))
    t.after(() => {
      listener.close()
      return server.close()
    })
    listener.listen(0, '127.0.0.1')
    await once(listener, 'listening')
    const { port } = listener.address() as AddressInfo
    const asked = request({ port, path: `${API_PREFIX}/about` })
    asked.setHeader('accept-encoding', encoding)
    asked.end()
    const [answer] = (await once(asked, 'response')) as [IncomingMessage]
    const body = await buffer(answer)
    assert.equal(answer.headers['content-encoding'], isPacked ? 'br' : undefined)
    assert.equal(answer.headers['vary'], 'accept-encoding')
    const read = JSON.parse(String(isPacked ? brotliDecompressSync(body) : body)) as object
    assert.equal(Object(read).version, version)
    assert.equal(body.length < 400, isPacked)
  })
