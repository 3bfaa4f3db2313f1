// What leaves on the socket, and when: seen from the stream that stands for the client's connection.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { Duplex } from 'node:stream'
import { test, type TestContext } from 'node:test'
import { systemClock } from '../core/clock.ts'
import { GatewayError } from '../core/errors.ts'
import { ConnectionWatch } from './connection.ts'
import { HttpReply } from './reply.ts'

const VOICE = { keepAlive: ': still here\n\n', fail: () => [] }

test('the head of a stream and its first event leave in one write', async () => {
  const { response, writes } = await asked()
  const reply = new HttpReply(response, new ConnectionWatch(systemClock))
  reply.beginStream(VOICE)
  await reply.write('data: 1\n\n')
  assert.equal(writes.length, 1)
  assert.match(writes[0] ?? '', /^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\n9\r\ndata: 1\n\n\r\n$/)
})

for (const moment of ['before its stream begins', 'during its stream'] as const)
  test(`a client that leaves ${moment} is no longer watched`, async (context) => {
    context.mock.timers.enable({ apis: ['setInterval'] })
    const watch = new ConnectionWatch(systemClock)
    const { response, client } = await asked()
    const reply = new HttpReply(response, watch)
    const look = context.mock.method(reply, 'look')
    if (moment === 'during its stream') {
      reply.beginStream(VOICE)
      context.mock.timers.tick(1_000)
      assert.equal(look.mock.callCount(), 1)
    }
    client.destroy()
    await once(response, 'close')
    reply.beginStream(VOICE)
    look.mock.resetCalls()
    context.mock.timers.tick(60_000)
    assert.equal(look.mock.callCount(), 0)
  })

test('a stream continues as soon as a paused client reads again', async (context) => {
  const { client, response } = await connected(context)
  const reply = new HttpReply(response, new ConnectionWatch(systemClock))
  reply.beginStream(VOICE)
  // More bytes than a socket takes at once, but fewer characters.
  const text = `data: ${'門'.repeat(40_000)}\n\n`
  // The client reads again once something is waiting for it.
  const pausing = setInterval(() => response.writableLength > 0 && client.resume(), 10)
  for (let event = 0; event < 400; event++) await reply.write(text)
  clearInterval(pausing)
})

test('a client that reads a large answer slowly gets all of it', async (context) => {
  // Only the looks below count: one by the real clock between them would be far behind them.
  context.mock.timers.enable({ apis: ['setInterval'] })
  const { client, response } = await connected(context)
  const reply = new HttpReply(response, new ConnectionWatch(systemClock))
  const sent = reply.sendJson(200, '0'.repeat(3 * PART_BYTES))

  let takenBytes = 0
  for await (const chunk of client as AsyncIterable<Buffer>) {
    const partsBefore = Math.floor(takenBytes / PART_BYTES)
    takenBytes += chunk.length
    const parts = Math.floor(takenBytes / PART_BYTES)
    // So long after the previous part that a client without progress would be cut.
    if (parts > partsBefore) reply.look(parts * 61_000)
    if (parts === 3) break
  }
  assert.equal(Math.floor(takenBytes / PART_BYTES), 3)
  await sent
})

/** More than the buffers of a connection hold, so that a client that has taken a part has made room for more. */
const PART_BYTES = 48 * 1024 * 1024

test('a stream that is cut sends nothing more', async () => {
  const { response, writes } = await asked()
  const reply = new HttpReply(response, new ConnectionWatch(systemClock))
  reply.beginStream(VOICE)
  await reply.write('data: 1\n\n')
  const why = new GatewayError('revoked_api_key', 'it was revoked')
  reply.cut(why)
  await assert.rejects(() => reply.write('data: 2\n\n'), why)
  assert.equal(writes.length, 1)
})

test('a refusal asks for a wait of at most a minute: OpenAI’s Node SDK ignores a longer one', async () => {
  for (const [seconds, told] of [
    [1, '1'],
    [59, '59'],
    [61, '60'],
    [86_400, '60'],
  ] as const) {
    const { response, writes } = await asked()
    const reply = new HttpReply(response, new ConnectionWatch(systemClock))
    const error = new GatewayError('rate_limit_exceeded', 'later', { retryAfterSeconds: seconds })
    await reply.fail(error, 'chat', 'req_1')
    assert.match(writes.join(''), new RegExp(`\\r\\nretry-after: ${told}\\r\\n`))
  }
})

/** A request that came in over a socket. */
async function connected(context: TestContext) {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  context.after(() => {
    client.destroy()
    server.close()
  })
  client.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  const [, response] = (await once(server, 'request')) as [unknown, ServerResponse]
  return { client, response }
}

type Asked = {
  readonly response: ServerResponse
  readonly client: Duplex
  /** What each write to the connection carried. */
  readonly writes: readonly string[]
}

/** A request over a connection that is not a socket, so that nothing joins or splits what is written to it. */
async function asked(): Promise<Asked> {
  const writes: string[] = []
  const client = new Duplex({
    read() {},
    write(chunk: Buffer, _encoding, done) {
      writes.push(chunk.toString())
      done()
    },
    writev(chunks, done) {
      writes.push(Buffer.concat(chunks.map(({ chunk }) => chunk as Buffer)).toString())
      done()
    },
  })
  const server = createServer()
  const request = once(server, 'request')
  server.emit('connection', client)
  client.push('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  const [, response] = (await request) as [unknown, ServerResponse]
  return { response, client, writes }
}
