// What leaves on the socket, and when: seen from the stream that stands for the client's connection.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { Duplex } from 'node:stream'
import { test } from 'node:test'

import { systemClock } from '../core/clock.ts'
import { GatewayError } from '../core/errors.ts'
import { KeepAlive } from './keep-alive.ts'
import { HttpReply } from './reply.ts'

const VOICE = { keepAlive: ': still here\n\n', fail: () => [] }

test('the head of a stream and its first event leave in one write', async () => {
  const { response, writes } = await asked()
  const reply = new HttpReply(response, new KeepAlive(systemClock))
  reply.beginStream(VOICE)
  await reply.write('data: 1\n\n')
  assert.equal(writes.length, 1)
  assert.match(writes[0] ?? '', /^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\n9\r\ndata: 1\n\n\r\n$/)
})

for (const moment of ['before its stream begins', 'during its stream'] as const)
  test(`a client that leaves ${moment} is no longer looked after`, async (context) => {
    context.mock.timers.enable({ apis: ['setInterval'] })
    const keepAlive = new KeepAlive(systemClock)
    const { response, client } = await asked()
    const reply = new HttpReply(response, keepAlive)
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

test('whoever is cut gets no more of its stream', async () => {
  const { response, writes } = await asked()
  const reply = new HttpReply(response, new KeepAlive(systemClock))
  reply.beginStream(VOICE)
  await reply.write('data: 1\n\n')
  const why = new GatewayError('revoked_api_key', 'it was revoked')
  reply.cut(why)
  await assert.rejects(() => reply.write('data: 2\n\n'), why)
  assert.equal(writes.length, 1)
})

type Asked = {
  readonly response: ServerResponse
  readonly client: Duplex
  /** What each write to the connection carried. */
  readonly writes: readonly string[]
}

/** A request has come in over a connection that is no socket, so that nothing joins or splits what is written to it. */
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
