// Draining waits for handlers, not only for sockets; and a client that leaves is not the gateway's fault.
import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import type { Server, ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { SAMPLE_CALLER } from '../../test/samples/caller.ts'
import type { Authenticator, Caller } from '../access/authenticate.ts'
import { RaisedBounds } from '../catalog/worst-case.ts'
import { Tokenizer } from '../access/tokenizer.ts'
import { systemClock, type Clock } from '../core/clock.ts'
import { GatewayError } from '../core/errors.ts'
import { newSecret } from '../core/secret.ts'
import { RunningExchanges } from '../exchange/reply.ts'
import { jsonLog, type Log } from '../telemetry/log.ts'
import { Counts } from '../telemetry/metrics.ts'
import { type WebFiles, webFiles } from './files.ts'
import type { DataPlaneParts } from './operations.ts'
import { Edge } from './server.ts'

test('draining waits for the handler of a client that has left', async () => {
  const called = Promise.withResolvers<void>()
  const work = Promise.withResolvers<boolean>()
  const serve = (): Promise<boolean> => {
    called.resolve()
    return work.promise
  }
  const edge = edgeWith({ serve }, jsonLog(systemClock))
  const { port } = new URL(await edge.listen({ host: '127.0.0.1', port: 0 }))
  const client = connect(Number(port), '127.0.0.1').end('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  await called.promise
  client.destroy()
  await once(client, 'close')

  let isDrained = false
  const drained = edge.drain(60_000).then(() => (isDrained = true))
  // Each is a turn in which the server could have noticed that no socket is left.
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setTimeout(resolve, 1))
  assert.equal(isDrained, false)
  work.resolve(true)
  await drained
})

test('a server that leaves says so, goes on serving, and keeps no connection', async () => {
  const serve: WebFiles['serve'] = async (_path, _message, response) => {
    response.end('served')
    return true
  }
  const edge = edgeWith(
    { serve },
    jsonLog(systemClock, () => {}),
  )
  const { port } = new URL(await edge.listen({ host: '127.0.0.1', port: 0 }))
  const ask = async (path: string): Promise<string> => {
    const client = connect(Number(port), '127.0.0.1')
    client.write(`GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`)
    const [answer] = (await once(client, 'data')) as [Buffer]
    client.destroy()
    return answer.toString()
  }
  assert.match(await ask('/readyz'), /^HTTP\/1\.1 200 [^]*connection: keep-alive/i)
  edge.leave()
  assert.match(await ask('/readyz'), /^HTTP\/1\.1 503 [^]*draining/)
  assert.match(await ask('/'), /^HTTP\/1\.1 200 [^]*connection: close/i)
  await edge.drain(60_000)
})

test('draining does not wait for a request that never arrives whole', async () => {
  const edge = edgeWith(
    { serve: () => Promise.resolve(true) },
    jsonLog(systemClock, () => {}),
  )
  const { port } = new URL(await edge.listen({ host: '127.0.0.1', port: 0 }))
  const client = connect(Number(port), '127.0.0.1')
  client.on('error', () => {})
  client.write('GET /healthz HTTP/1.1\r\nhost: a\r\n\r\nGET /healthz HT')
  // The first answer shows that the unfinished second request has arrived.
  await once(client, 'data')
  await edge.drain(3_600_000)
  client.destroy()
})

for (const before of ['', 'GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n'])
  test(`garbage after ${before === '' ? 'a request' : 'two requests'} stays out of the answer`, async () => {
    const work = Promise.withResolvers<boolean>()
    const serve: WebFiles['serve'] = (_path, _message, response) => {
      response.writeHead(200).write('the beginning')
      return work.promise
    }
    const edge = edgeWith(
      { serve },
      jsonLog(systemClock, () => {}),
    )
    const { port } = new URL(await edge.listen({ host: '127.0.0.1', port: 0 }))
    const client = connect(Number(port), '127.0.0.1')
    client.on('error', () => {})
    let text = ''
    client.on('data', (chunk: Buffer) => (text += chunk.toString()))
    client.write(`${before}GET / HTTP/1.1\r\nhost: a\r\n\r\n`)
    while (!text.includes('the beginning')) await once(client, 'data')
    client.write('\0 garbage \r\n\r\n')
    await once(client, 'close')
    assert.equal(text.match(/HTTP\/1\.1/g)?.length, before === '' ? 1 : 2)
    work.resolve(true)
    await edge.drain(60_000)
  })

test('a request target with scheme and host is read as its path', async () => {
  const paths: string[] = []
  const serve: WebFiles['serve'] = (path, _message, response) => {
    paths.push(path)
    response.end()
    return Promise.resolve(true)
  }
  const edge = edgeWith(
    { serve },
    jsonLog(systemClock, () => {}),
  )
  const { port } = new URL(await edge.listen({ host: '127.0.0.1', port: 0 }))
  const client = connect(Number(port), '127.0.0.1')
  client.write('GET http://a.example/page?b=c HTTP/1.1\r\nhost: a.example\r\n\r\n')
  await once(client, 'data')
  client.destroy()
  await edge.drain(60_000)
  assert.deepEqual(paths, ['/page'])
})

for (const moment of ['before', 'while'] as const)
  test(`a client that leaves ${moment} a page's file is sent is logged as such`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-edge-'))
    // More than the buffers of a socket hold.
    writeFileSync(join(folder, 'large.js'), '')
    truncateSync(join(folder, 'large.js'), 64 * 1024 * 1024)
    const files = webFiles(folder)
    let text = ''
    const log = jsonLog(systemClock, (written) => (text += written))
    const edge = edgeWith(
      {
        async serve(path, message, response) {
          if (moment === 'before') {
            client.destroy()
            await once(response, 'close')
          }
          return files.serve(path, message, response)
        },
      },
      log,
    )
    const { port } = new URL(await edge.listen({ host: '127.0.0.1', port: 0 }))
    const client = connect(Number(port), '127.0.0.1')
    client.write('GET /large.js HTTP/1.1\r\nhost: a\r\n\r\n')
    client.once('data', () => client.destroy())
    await once(client, 'close')
    await edge.drain(60_000)
    log.flush()

    const { level, status, code, path } = Object(JSON.parse(text))
    const expected = { level: 'info', status: 499, code: undefined, path: '/large.js' }
    assert.deepEqual({ level, status, code, path }, expected)
    rmSync(folder, { recursive: true })
  })

test('a client that leaves with the last byte of a file is logged as served', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-edge-'))
  writeFileSync(join(folder, 'small.js'), 'export {}')
  const statuses: unknown[] = []
  const log = jsonLog(systemClock, () => {})
  const noted: Log = { ...log, info: (_, fields) => void statuses.push(fields?.['status']) }
  const edge = edgeWith(webFiles(folder), noted)
  const { port } = new URL(await edge.listen({ host: '127.0.0.1', port: 0 }))
  // Whether the server first notices its own end or the client's would be a race: of a hundred, some would go either way.
  for (let time = 0; time < 100; time++) {
    const client = connect(Number(port), '127.0.0.1')
    client.write('GET /small.js HTTP/1.1\r\nhost: a\r\n\r\n')
    let text = ''
    for await (const chunk of client) if ((text += String(chunk)).endsWith('export {}')) break
  }
  await edge.drain(60_000)
  assert.deepEqual(new Set(statuses), new Set([200]))
  rmSync(folder, { recursive: true })
})

test('a client that reads nothing of a page is cut off, and the file is closed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-edge-'))
  writeFileSync(join(folder, 'large.js'), '')
  truncateSync(join(folder, 'large.js'), 64 * 1024 * 1024)
  // A clock on which a minute takes a second.
  const clock = { ...systemClock, monotonicMs: () => performance.now() * 60 }
  const files = webFiles(folder)
  const called = Promise.withResolvers<void>()
  const serve: WebFiles['serve'] = (...asked) => {
    called.resolve()
    return files.serve(...asked)
  }
  const edge = edgeWith(
    { serve },
    jsonLog(systemClock, () => {}),
    { clock },
  )
  const { port } = new URL(await edge.listen({ host: '127.0.0.1', port: 0 }))
  const client = connect(Number(port), '127.0.0.1')
  client.on('error', () => {})
  client.pause()
  client.write('GET /large.js HTTP/1.1\r\nhost: a\r\n\r\n')
  await called.promise
  // Draining would wait an hour for it.
  await edge.drain(3_600_000)
  client.destroy()
  rmSync(folder, { recursive: true })
})

test('an address with a NUL character reaches no handler', async () => {
  const edge = edgeWith(
    { serve: () => assert.fail() },
    jsonLog(systemClock, () => {}),
  )
  const { port } = new URL(await edge.listen({ host: '127.0.0.1', port: 0 }))
  for (const path of ['/v1/requests/%00', '/v1/models?x=%00', '/admin/api/v1/keys?search=a%00b']) {
    const client = connect(Number(port), '127.0.0.1').setEncoding('utf8')
    client.write(`GET ${path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`)
    const answer = (await Array.fromAsync(client)).join('')
    assert.match(answer, /^HTTP\/1\.1 400 [^]*NUL character/)
  }
  await edge.drain(60_000)
})

test('an ambiguous request head is refused, in the shape of its family', async () => {
  const edge = edgeWith(
    { serve: () => assert.fail() },
    jsonLog(systemClock, () => {}),
  )
  const { port } = new URL(await edge.listen({ host: '127.0.0.1', port: 0 }))
  const chunked = 'transfer-encoding: gzip, chunked'
  for (const [head, told] of [
    ['GET /v1/models HTTP/1.1\r\nhost: a\r\nhost: b', /only once/],
    ['GET /v1/models HTTP/1.1\r\nhost: a\r\nhost: a', /only once/],
    ['GET /healthz HTTP/1.0\r\nhost: a\r\nhost: b', /only once/],
    [`POST /v1/messages HTTP/1.1\r\nhost: a\r\n${chunked}`, /"type":"error".*transfer coding/],
    [`POST /v1/responses HTTP/1.1\r\nhost: a\r\n${chunked}`, /^\{"error".*transfer coding/],
  ] as const) {
    const client = connect(Number(port), '127.0.0.1').setEncoding('utf8')
    client.write(`${head}\r\nconnection: close\r\n\r\n`)
    const [status, body = ''] = (await Array.fromAsync(client)).join('').split('\r\n\r\n')
    assert.match(status ?? '', /^HTTP\/1\.1 400 /, head)
    assert.match(body, told)
  }
  await edge.drain(60_000)
})

test('a body that trickles gets a 408 in the shape of its family, and is cut off', async () => {
  // A clock on which a second of the test is two and a half minutes.
  const clock = { ...systemClock, monotonicMs: () => performance.now() * 150 }
  let text = ''
  const log = jsonLog(systemClock, (written) => (text += written))
  const edge = edgeWith({ serve: () => assert.fail() }, log, { clock })
  const { port } = new URL(await edge.listen({ host: '127.0.0.1', port: 0 }))
  const client = connect(Number(port), '127.0.0.1').setEncoding('utf8')
  client.write(
    `POST /v1/messages HTTP/1.1\r\nhost: a\r\nx-api-key: ${newSecret('live')}\r\ncontent-length: 10\r\n\r\n{`,
  )
  const answer = (await Array.fromAsync(client)).join('')
  assert.match(answer, /^HTTP\/1\.1 408 Request Timeout\r\n/)
  assert.match(answer, /\r\nx-should-retry: true\r\n/i)
  assert.match(answer, /\r\nconnection: close\r\n/i)
  assert.match(answer, /"type":"error","error":\{"type":"timeout_error"/)
  await edge.drain(60_000)
  log.flush()
  const { status, code } = Object(JSON.parse(text))
  assert.deepEqual({ status, code }, { status: 408, code: 'request_timeout' })
})

test('bytes that are no HTTP request get an error that says so', async () => {
  const edge = edgeWith(
    { serve: () => assert.fail() },
    jsonLog(systemClock, () => {}),
  )
  const { port } = new URL(await edge.listen({ host: '127.0.0.1', port: 0 }))
  for (const [sent, told] of [
    ['hello\r\n\r\n', /^HTTP\/1\.1 400 [^]*this is not an HTTP request/],
    [`GET / HTTP/1.1\r\nx: ${'x'.repeat(70_000)}`, /^HTTP\/1\.1 431 [^]*larger than 64 KB/],
  ] as const) {
    const client = connect(Number(port), '127.0.0.1').setEncoding('utf8')
    client.write(sent)
    assert.match((await Array.fromAsync(client)).join(''), told)
  }
  await edge.drain(60_000)
})

for (const [what, sent, answer, lines] of [
  [
    'a request that stops in its head is refused, and logged once',
    'GET / HT',
    /^HTTP\/1\.1 408 /,
    1,
  ],
  ['a connection that sends nothing is closed, and not logged', '', /^$/, 0],
] as const)
  test(what, async () => {
    let text = ''
    const log = jsonLog(systemClock, (written) => (text += written))
    const edge = edgeWith({ serve: () => assert.fail() }, log)
    const { port } = new URL(await edge.listen({ host: '127.0.0.1', port: 0 }))
    const accepted = Promise.withResolvers<Socket & { readonly server: Server }>()
    const onSocket = (message: unknown): void => accepted.resolve(Object(message).socket)
    subscribe('net.server.socket', onSocket)
    const client = connect(Number(port), '127.0.0.1').setEncoding('utf8')
    client.write(sent)
    const socket = await accepted.promise
    unsubscribe('net.server.socket', onSocket)
    while (socket.bytesRead < sent.length) await new Promise((resolve) => setTimeout(resolve, 1))
    // Node's own timeout is too long to wait for.
    const timeout = Object.assign(new Error(), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
    socket.server.emit('clientError', timeout, socket)
    assert.match((await Array.fromAsync(client)).join(''), answer)
    await edge.drain(60_000)
    log.flush()
    assert.equal(text.match(/\n/g)?.length ?? 0, lines, text)
  })

const UNKNOWN_KEY = 'POST /v1/messages HTTP/1.1\r\nhost: a\r\n'

for (const [what, framing] of [
  ['announced', 'content-length: 1000000000'],
  ['not announced', 'transfer-encoding: chunked'],
] as const)
  test(`of a large body, ${what}, little is read after its refusal, and then the connection ends`, async () => {
    const edge = edgeWith({ serve: () => assert.fail() }, silent())
    const { port } = new URL(await edge.listen({ host: '127.0.0.1', port: 0 }))
    const { client, socket } = await accepted(port)
    let answer = ''
    client.on('error', () => {}).on('data', (text: string) => (answer += text))
    client.write(`${UNKNOWN_KEY}${framing}\r\n\r\n`)
    const piece = `10000\r\n${'x'.repeat(0x10000)}\r\n`
    // As fast as the connection takes it, until it is closed.
    const send = (): void => {
      while (client.writable && client.write(piece));
    }
    client.on('drain', send)
    send()
    // Not `once`, for which an error is the end: a connection that closes while it is written to may report one.
    await new Promise((resolve) => client.on('close', resolve))
    assert.match(answer, /^HTTP\/1\.1 401 [^]*"code":"invalid_api_key"[^]*\}$/)
    if (framing.includes('length')) assert.match(answer, /\r\nconnection: close\r\n/i)
    assert.ok(socket.bytesRead <= 256 * 1024, `${socket.bytesRead} bytes were read`)
    await edge.drain(60_000)
  })

for (const framing of ['content-length: 50000', 'transfer-encoding: chunked'])
  test(`a connection outlives the refusal of a small body: ${framing}`, async () => {
    const edge = edgeWith({ serve: () => assert.fail() }, silent())
    const { port } = new URL(await edge.listen({ host: '127.0.0.1', port: 0 }))
    const client = connect(Number(port), '127.0.0.1').setEncoding('utf8')
    client.write(`${UNKNOWN_KEY}${framing}\r\n\r\n`)
    const [refusal] = await once(client, 'data')
    assert.match(String(refusal), /^HTTP\/1\.1 401 /)
    const body = 'x'.repeat(50_000)
    client.write(framing.includes('chunked') ? `C350\r\n${body}\r\n0\r\n\r\n` : body)
    client.write('GET /healthz HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
    assert.match((await Array.fromAsync(client)).join(''), /^HTTP\/1\.1 200 /)
    await edge.drain(60_000)
  })

test('a request for another protocol is answered, and ends the connection', async () => {
  const edge = edgeWith({ serve: () => assert.fail() }, silent())
  const { port } = new URL(await edge.listen({ host: '127.0.0.1', port: 0 }))
  const { client, socket } = await accepted(port)
  client.write(
    'GET /healthz HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
  )
  const [answer] = await once(client, 'data')
  assert.match(String(answer), /^HTTP\/1\.1 200 [^]*\r\nconnection: close\r\n/i)
  await edge.drain(60_000)
  assert.ok(socket.destroyed)
})

test('what follows a request for another protocol is not read without end, either', async () => {
  const called = Promise.withResolvers<void>()
  const serve: WebFiles['serve'] = async (_path, _message, response) => {
    called.resolve()
    await once(response, 'close')
    return true
  }
  const edge = edgeWith({ serve }, silent())
  const { port } = new URL(await edge.listen({ host: '127.0.0.1', port: 0 }))
  const { client, socket } = await accepted(port)
  client.on('error', () => {})
  client.write('GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n')
  await called.promise
  let pieces = 0
  const send = (): void => {
    while (client.writable && client.write('x'.repeat(0x10000))) {
      if (++pieces === 1_000) client.destroy()
    }
  }
  client.on('drain', send)
  send()
  await new Promise((resolve) => client.on('close', resolve))
  assert.ok(socket.bytesRead <= 1024 * 1024, `${socket.bytesRead} bytes were read`)
  await edge.drain(60_000)
})

test('a client that expects 100-continue is told to go on only once its body is wanted', async () => {
  const edge = edgeWith({ serve: () => assert.fail() }, silent())
  const { port } = new URL(await edge.listen({ host: '127.0.0.1', port: 0 }))
  const expecting = 'content-length: 1\r\nexpect: 100-continue\r\n\r\n'
  const stranger = connect(Number(port), '127.0.0.1').setEncoding('utf8')
  stranger.write(`${UNKNOWN_KEY}${expecting}`)
  const refusal = (await Array.fromAsync(stranger)).join('')
  assert.match(refusal, /^HTTP\/1\.1 401 [^]*\r\nconnection: close\r\n/i)

  const known = connect(Number(port), '127.0.0.1').setEncoding('utf8')
  known.write(`${UNKNOWN_KEY}connection: close\r\nx-api-key: ${newSecret('live')}\r\n${expecting}`)
  assert.deepEqual(await once(known, 'data'), ['HTTP/1.1 100 Continue\r\n\r\n'])
  known.write('{')
  assert.match((await Array.fromAsync(known)).join(''), /^HTTP\/1\.1 400 [^]*JSON/)
  await edge.drain(60_000)
})

test('a client that sends no more still gets its answer', async () => {
  const called = Promise.withResolvers<ServerResponse>()
  const serve: WebFiles['serve'] = async (_path, _message, response) => {
    called.resolve(response)
    await once(response, 'close')
    return true
  }
  const edge = edgeWith({ serve }, silent())
  const { port } = new URL(await edge.listen({ host: '127.0.0.1', port: 0 }))
  const client = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true })
  client.setEncoding('utf8').end('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  const response = await called.promise
  if (!response.req.socket.readableEnded) await once(response.req.socket, 'end')
  // Two of these show that the gateway has looked whether anyone is still there.
  while (client.bytesRead < 2 * 'HTTP/1.1 100 Continue\r\n\r\n'.length && !client.readableEnded)
    await Promise.race([once(client, 'data'), once(client, 'end')])
  response.end('the answer')
  assert.match((await Array.fromAsync(client)).join(''), /HTTP\/1\.1 200 [^]*the answer/)
  await edge.drain(60_000)
})

test('a client that leaves while it waits is noticed', async () => {
  const called = Promise.withResolvers<ServerResponse>()
  const serve: WebFiles['serve'] = async (_path, _message, response) => {
    called.resolve(response)
    await once(response, 'close')
    return true
  }
  const edge = edgeWith({ serve }, silent())
  const { port } = new URL(await edge.listen({ host: '127.0.0.1', port: 0 }))
  const client = connect(Number(port), '127.0.0.1')
  client.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  const response = await called.promise
  client.destroy()
  if (!response.closed) await once(response, 'close')
  assert.equal(response.writableFinished, false)
  await edge.drain(60_000)
})

test('a request that is turned away is not read, and leaves its connection to the next one if it is small', async () => {
  const refusal = new GatewayError('overloaded', 'too much', { retryAfterSeconds: 2 })
  const edge = edgeWith({ serve: assert.fail }, silent(), { refusal: () => refusal })
  const { port } = new URL(await edge.listen({ host: '127.0.0.1', port: 0 }))
  const client = connect(Number(port), '127.0.0.1').setEncoding('utf8')
  let received = ''
  client.on('data', (text: string) => (received += text))
  const post = (bytes: number): string =>
    `POST /v1/messages HTTP/1.1\r\nhost: a\r\ncontent-length: ${bytes}\r\n\r\n`
  client.write(`${post(2)}{}GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n${post(100_000)}`)
  // The last one ends it, because its body is not waited for.
  await once(client, 'end')
  client.destroy()
  const [, first = '', health = '', last = ''] = received.split('HTTP/1.1 ')
  assert.match(first, /^503 [^]*retry-after: 2\r\n[^]*keep-alive[^]*"overloaded_error"/i)
  assert.match(health, /^200 [^]*"ok"/)
  assert.match(last, /^503 [^]*connection: close/i)
  await edge.drain(60_000)
})

function silent(): Log {
  return jsonLog(systemClock, () => {})
}

/** A connection, seen from both sides. */
async function accepted(port: string): Promise<{ client: Socket; socket: Socket }> {
  const found = Promise.withResolvers<Socket>()
  const onSocket = (message: unknown): void => found.resolve(Object(message).socket)
  subscribe('net.server.socket', onSocket)
  const client = connect(Number(port), '127.0.0.1').setEncoding('utf8')
  const socket = await found.promise
  unsubscribe('net.server.socket', onSocket)
  return { client, socket }
}

const unreached = (): never => assert.fail('these requests end before the flow')

/** What the flow is made of, none of which these tests come to. */
const UNREACHED: Omit<DataPlaneParts, 'clock' | 'log' | 'authenticator'> = {
  ledger: {
    reserve: unreached,
    dryRun: unreached,
    trim: unreached,
    extend: unreached,
    settle: unreached,
    void: unreached,
    balances: unreached,
    countRefused: unreached,
    close: unreached,
  },
  tokenizer: new Tokenizer(),
  raisedBounds: new RaisedBounds(),
  responses: {
    vault: { put: unreached, get: unreached, delete: unreached },
    clock: systemClock,
    settings: unreached,
  },
  registry: {
    catalog: { get: unreached, list: unreached, aliases: new Map(), changesAt: null },
    route: unreached,
  },
  running: new RunningExchanges(),
  overload: { begin: unreached, end: unreached, refusal: () => undefined, shed: unreached },
  lastUse: { note: () => {} },
  refusals: { note: () => {} },
  describeKey: unreached,
  findUsage: unreached,
}

/** Its key may call the endpoint that these tests call. */
const caller: Caller = { ...SAMPLE_CALLER, permissions: new Set(['messages']) }

function edgeWith(
  web: WebFiles,
  log: Log,
  given: { readonly clock?: Clock; readonly refusal?: () => GatewayError } = {},
): Edge {
  const { clock = systemClock, refusal = () => undefined } = given
  const authenticator: Authenticator = {
    clock,
    settings: { authHeaders: 'strict' },
    directory: { findBySecretHash: () => caller, forget: () => {} },
    foreign: { has: () => false },
  }
  return new Edge({
    parts: {
      ...UNREACHED,
      clock,
      log,
      authenticator,
      overload: { ...UNREACHED.overload, refusal },
    },
    log,
    counts: new Counts(),
    tracing: undefined,
    bodyBytesMax: 1_000,
    connectionsMax: 100,
    hasBarePaths: false,
    addressOf: () => null,
    web,
    isAdminSecure: false,
    admin: { handle: async () => {}, close: async () => {} },
    planes: ['data', 'admin'],
    readiness: async () => undefined,
  })
}
