// Against a real server on a socket, because that is where everything goes wrong that can go wrong here.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { GatewayError } from '../../core/errors.ts'
import { openHttp } from './connections.ts'
import { retryAfterOf, type HttpRequest } from './http.ts'

const TIMEOUTS = { connectMs: 10_000, firstByteMs: 60_000, idleMs: 60_000, totalMs: 60_000 }
const NEVER = new AbortController().signal

async function calling(context: TestContext, listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const http = openHttp({})
  context.after(async () => {
    await http.close()
    server.closeAllConnections()
    server.close()
  })
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/chat`)
  const call: HttpRequest = { url, method: 'POST', headers: {}, timeouts: TIMEOUTS }
  return { http, call }
}

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  let text = ''
  for await (const chunk of body) text += Buffer.from(chunk).toString()
  return text
}

const withCode = (code: string) => (thrown: unknown) =>
  thrown instanceof GatewayError && thrown.code === code

test('an answer has its status, its headers and its body, whatever the status', async (context) => {
  const { http, call } = await calling(context, (request, response) => {
    assert.equal(request.headers['accept-encoding'], 'identity')
    response.writeHead(429, { 'retry-after': '7' })
    request.pipe(response)
  })
  const body = Buffer.from('{"model":"x"}')
  const answer = await http.send({ ...call, body }, NEVER)
  assert.equal(answer.status, 429)
  assert.equal(answer.headers.get('retry-after'), '7')
  assert.equal(await textOf(answer.body), '{"model":"x"}')
})

test('no answer echoes the key of the request, whatever its type, except frames that were asked for', async (context) => {
  let status = 400
  const { http, call } = await calling(context, (request, response) => {
    const type = String(request.headers['x-type'])
    response.writeHead(status, { 'content-type': type }).end(`${request.headers.authorization}`)
  })
  const ask = async (type: string, hasFrames: boolean): Promise<string> => {
    const headers = { authorization: 'Bearer house-key.0123456789', 'x-type': type }
    const answer = await http.send({ ...call, headers, hasFrames }, NEVER)
    return textOf(answer.body)
  }
  const frames = 'application/vnd.amazon.eventstream'
  assert.equal(await ask('text/plain', false), 'Bearer [redacted]')
  assert.equal(await ask(frames, false), 'Bearer [redacted]')
  assert.equal(await ask(frames, true), 'Bearer [redacted]', 'errors have no frames')
  status = 200
  assert.equal(await ask(frames, false), 'Bearer [redacted]')
  assert.equal(await ask('text/plain', true), 'Bearer [redacted]')
  assert.equal(await ask(frames, true), 'Bearer house-key.0123456789')
})

test('a large request is sent whole, with its length', async (context) => {
  const { http, call } = await calling(context, (request, response) => {
    response.setHeader('received-length', request.headers['content-length'] ?? 'none')
    request.pipe(response)
  })
  const body = Buffer.from('toll '.repeat(100_000))
  for (let times = 0; times < 2; times++) {
    const answer = await http.send({ ...call, body }, NEVER)
    assert.equal(answer.headers.get('received-length'), '500000')
    assert.equal(await textOf(answer.body), body.toString())
  }
})

test('a large request may be refused before it is read', async (context) => {
  const { http, call } = await calling(context, (_, response) => {
    response.writeHead(413, { connection: 'close' }).end('too much')
  })
  const answer = await http.send({ ...call, body: Buffer.alloc(30_000_000) }, NEVER)
  assert.equal(answer.status, 413)
  assert.equal(await textOf(answer.body), 'too much')
})

test('a large request is abandoned when its caller gives up', async (context) => {
  const arrived = Promise.withResolvers<IncomingMessage>()
  const closed = Promise.withResolvers<void>()
  const { http, call } = await calling(context, (request) => {
    request.on('error', () => {}).once('close', closed.resolve)
    arrived.resolve(request)
  })
  const leaving = new AbortController()
  const answer = http.send({ ...call, body: Buffer.alloc(30_000_000) }, leaving.signal)
  const request = await arrived.promise
  leaving.abort(new Error('the client has gone'))
  await assert.rejects(answer, /the client has gone/)
  request.resume()
  await closed.promise
  assert.equal(request.complete, false)
})

test('a body far larger than the buffer arrives whole', async (context) => {
  const piece = 'x'.repeat(100_000)
  const { http, call } = await calling(context, (_, response) => {
    for (let index = 0; index < 30; index++) response.write(piece)
    response.end()
  })
  const { body } = await http.send(call, NEVER)
  assert.equal((await textOf(body)).length, 3_000_000)
})

test('giving up ends the call, before the head and inside the body', async (context) => {
  const { http, call } = await calling(context, (request, response) => {
    if (request.url !== '/v1/chat?silent') response.write('data: 1\n\n')
  })
  const waiting = new AbortController()
  const silent = http.send({ ...call, url: new URL(`${call.url}?silent`) }, waiting.signal)
  waiting.abort(new Error('enough'))
  await assert.rejects(silent, /enough/)
  const reading = new AbortController()
  const { body } = await http.send(call, reading.signal)
  const text = textOf(body)
  reading.abort(new Error('enough of this, too'))
  await assert.rejects(text, /enough of this, too/)
})

test('a call that exceeds its total time fails with a timeout', async (context) => {
  const { http, call } = await calling(context, (_, response) => {
    response.write('data: 1\n\n')
  })
  const timeouts = { ...TIMEOUTS, totalMs: 50 }
  // On a slow machine the time runs out before the answer begins.
  const reading = async (): Promise<string> =>
    textOf((await http.send({ ...call, timeouts }, NEVER)).body)
  await assert.rejects(reading, withCode('provider_timeout'))
})

test('a connection that breaks inside an answer is a failure, not an end', async (context) => {
  const { http, call } = await calling(context, (request, response) => {
    response.write('data: 1\n\n', () => request.socket.destroy())
  })
  const { body } = await http.send(call, NEVER)
  await assert.rejects(textOf(body), withCode('provider_failed'))
})

test('a provider that cannot be reached has billed nothing', async (context) => {
  const { http, call } = await calling(context, () => {})
  const url = new URL('http://127.0.0.1:1/v1/chat')
  await assert.rejects(http.send({ ...call, url }, NEVER), (thrown: unknown) => {
    assert(thrown instanceof GatewayError)
    return thrown.code === 'provider_failed' && thrown.details.unbilled === true
  })
})

test('a compressed answer keeps its status and has no body to read', async (context) => {
  const { http, call } = await calling(context, (_, response) => {
    response.writeHead(503, { 'content-encoding': 'gzip' }).end('not really')
  })
  const { status, body } = await http.send(call, NEVER)
  assert.equal(status, 503)
  await assert.rejects(textOf(body), /compressed/)
})

test('an answer that declares no compression is read as plain', async (context) => {
  for (const encoding of ['', 'none', 'Identity']) {
    const { http, call } = await calling(context, (_, response) => {
      response.writeHead(200, { 'content-encoding': encoding }).end('plain')
    })
    const { body } = await http.send(call, NEVER)
    assert.equal(await textOf(body), 'plain', encoding)
  }
})

test('a reader that leaves early frees the connection', async (context) => {
  const closed = Promise.withResolvers<void>()
  const { http, call } = await calling(context, (request, response) => {
    request.socket.once('close', () => closed.resolve())
    response.write('data: 1\n\n')
  })
  const { body } = await http.send(call, NEVER)
  for await (const _ of body) break
  await closed.promise
})

test('every spelling of a retry delay becomes seconds', () => {
  const date = 'Sun, 15 Nov 2026 12:00:00 GMT'
  const cases: readonly [Record<string, string>, number | undefined][] = [
    [{}, undefined],
    [{ 'retry-after': '7' }, 7],
    [{ 'retry-after': '100000' }, 600],
    [{ 'retry-after': '0' }, undefined],
    [{ 'retry-after': '7', 'retry-after-ms': '250' }, 0.25],
    [{ 'retry-after': 'Sun, 15 Nov 2026 12:00:30 GMT', date }, 30],
    [{ 'retry-after': 'Sun, 15 Nov 2026 11:00:00 GMT', date }, undefined],
    [{ 'retry-after': 'Sun, 15 Nov 2026 12:00:30 GMT' }, undefined],
    [{ 'retry-after': 'soon', date }, undefined],
  ]
  for (const [headers, seconds] of cases) {
    assert.equal(retryAfterOf(new Map(Object.entries(headers))), seconds, JSON.stringify(headers))
  }
})
