// Whom the gateway connects to: servers with a valid certificate, through the proxy that the environment names, and
// never an address that hands out credentials, whatever name it hides behind.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { connect } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { GatewayError } from '../../src/core/errors.ts'
import { openHttp } from '../../src/providers/upstream/connections.ts'
import type { HttpClient } from '../../src/providers/upstream/http.ts'
import { freePort } from '../support/process.ts'

const TIMEOUTS = { connectMs: 10_000, firstByteMs: 60_000, idleMs: 60_000, totalMs: 60_000 }
const NEVER = new AbortController().signal

test('an untrusted certificate is refused, whatever the environment says', async (t) => {
  const port = await listening(
    t,
    createSecureServer(SELF_SIGNED, (_, response) => void response.end('{}')),
  )
  const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED']
  t.after(() => {
    if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']
    else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before
  })
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
  await assert.rejects(get(client(t), `https://127.0.0.1:${port}/`), (thrown: unknown) => {
    assert.match(String((thrown as Error).cause), /self-signed certificate/)
    return isUnbilled(thrown)
  })
})

test('the proxy from the environment is used, except for the hosts it excludes', async (t) => {
  const asked: string[] = []
  const proxy = createServer(({ url = '' }, response) => {
    asked.push(url)
    response.end('{}')
  }).on('connect', ({ url = '' }, socket) => {
    asked.push(url)
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
  })
  const address = `http://127.0.0.1:${await listening(t, proxy)}`
  const port = await listening(
    t,
    createServer((_, response) => void response.end('{}')),
  )

  const env = { HTTP_PROXY: address, HTTPS_PROXY: address, NO_PROXY: '127.0.0.1' }
  await get(client(t, env), `http://127.0.0.1:${port}/`)
  assert.deepEqual(asked, [])

  await get(client(t, env), 'http://provider.invalid/v1')
  assert.deepEqual(asked, ['http://provider.invalid/v1'])

  // HTTPS goes through a tunnel; this proxy refuses it, so nothing was sent.
  await assert.rejects(get(client(t, env), 'https://provider.invalid/v1'), isUnbilled)
  assert.equal(asked[1], 'provider.invalid:443')
})

test('a certificate must be valid through a tunnel too', async (t) => {
  const secure = createSecureServer(SELF_SIGNED, (_, response) => void response.end('{}'))
  const port = await listening(t, secure)
  const proxy = createServer().on('connect', (_, socket) => {
    socket.on('error', () => {})
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
    const server = connect(port, '127.0.0.1').on('error', () => {})
    socket.pipe(server).pipe(socket)
  })
  const HTTPS_PROXY = `http://127.0.0.1:${await listening(t, proxy)}`
  await assert.rejects(get(client(t, { HTTPS_PROXY }), 'https://provider.invalid/v1'), (thrown) => {
    assert.match(String((thrown as Error).cause), /self-signed certificate/)
    return isUnbilled(thrown)
  })
})

test('a request through an unreachable proxy has billed nothing', async (t) => {
  const address = `http://127.0.0.1:${await freePort()}`
  const env = { HTTP_PROXY: address, HTTPS_PROXY: address }
  for (const url of ['http://provider.invalid/v1', 'https://provider.invalid/v1']) {
    await assert.rejects(get(client(t, env), url), isUnbilled, url)
  }
})

test('a metadata address is never called, even through a proxy', async (t) => {
  const asked: string[] = []
  const proxy = createServer(({ url = '' }, response) => {
    asked.push(url)
    response.end('{}')
  })
  const address = `http://127.0.0.1:${await listening(t, proxy)}`
  for (const env of [{}, { HTTP_PROXY: address }]) {
    await assert.rejects(get(client(t, env), 'http://169.254.169.254/latest'), GatewayError)
  }
  assert.deepEqual(asked, [])
})

test('an idle plain connection is closed before self-hosted servers close it', async (t) => {
  const server = createServer((_, response) => void response.end('{}'))
  // The server never closes idle connections and announces no limit, so the client must.
  server.keepAliveTimeout = 0
  const connected = once(server, 'connection') as Promise<[Socket]>
  await get(client(t), `http://127.0.0.1:${await listening(t, server)}/`)
  const [socket] = await connected
  await once(socket, 'end', { signal: AbortSignal.timeout(25_000) })
})

function isUnbilled(thrown: unknown): boolean {
  return thrown instanceof GatewayError && thrown.details.unbilled === true
}

async function listening(t: TestContext, server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => server.close())
  return (server.address() as AddressInfo).port
}

function client(t: TestContext, env: Readonly<Record<string, string>> = {}): HttpClient {
  const http = openHttp(env)
  t.after(() => http.close())
  return http
}

async function get(http: HttpClient, url: string): Promise<void> {
  const call = { url: new URL(url), method: 'GET', headers: {}, timeouts: TIMEOUTS } as const
  const { status, body } = await http.send(call, NEVER)
  for await (const _ of body);
  assert.equal(status, 200)
}

/** A certificate for 127.0.0.1, for servers that must not be trusted. Useless for anything else. */
const SELF_SIGNED = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg5ySVUqr1y+d6G0Wp
SPAmghxRbg/71h4R+2PvOEAED3yhRANCAASHiZKwOuWM/78mVinFU02FOxoU1zOg
TvlhSUgXFW4qcNM6M8uafxd8EzlcfxJIiylZF+GdYnMVwkYOl3D0Oig1
-----END PRIVATE KEY-----`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIUGgxsipPJF91meA5ktfXzeLp2HgUwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTExNTE4NDkwN1oYDzIxMjYxMDIy
MTg0OTA3WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAASHiZKwOuWM/78mVinFU02FOxoU1zOgTvlhSUgXFW4qcNM6M8uafxd8
EzlcfxJIiylZF+GdYnMVwkYOl3D0Oig1o28wbTAdBgNVHQ4EFgQU0LIvWnKnL3on
kQTA0PSHuy9dxDQwHwYDVR0jBBgwFoAU0LIvWnKnL3onkQTA0PSHuy9dxDQwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARhwR/AAABgglsb2NhbGhvc3QwCgYIKoZI
zj0EAwIDSAAwRQIhAIXsfGLJQfy7rCr0wrc6IPapWxhHD19Yx4zJ+gYvVwJBAiBn
p3vqFM3zD1zWdO2GKT0mnFeGwQjflkLuTQCixhPF5A==
-----END CERTIFICATE-----`,
}
