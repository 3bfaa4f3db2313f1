// Clients that misbehave with a valid key do not affect the clients of other keys.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'

import type { TestGateway } from '../support/gateway.ts'
import { startGateway } from '../support/gateway.ts'

const BODY_BYTES = 1024 * 1024

const opened = new AsyncDisposableStack()
let gateway: TestGateway

before(async () => {
  gateway = opened.use(await startGateway({ config: 'server: { body_limit: 1MB }\n' }))
})
after(() => opened.disposeAsync())

test('a client that never ends its large bodies blocks no other key’s', async () => {
  const greedy = await gateway.key('greedy', 'sandbox-chat')
  const other = await gateway.key('other', 'sandbox-chat')
  const clients = Array.from({ length: 12 }, () => sendAllButTheEnd(greedy))
  opened.defer(() => clients.forEach((client) => client.destroy()))
  // A client whose body finds no room gets an answer; by then the key's share is full.
  await Promise.any(clients.map((client) => once(client, 'data')))
  const answer = await ask(other)
  assert.equal(answer.status, 200, await answer.text())
  const own = await ask(greedy, 'x'.repeat(BODY_BYTES / 2))
  assert.equal(own.status, 503)
  assert.match(own.headers.get('retry-after') ?? '', /^[123]$/)
})

function sendAllButTheEnd(secret: string): Socket {
  const { hostname, port } = new URL(gateway.url)
  const client = connect(Number(port), hostname)
  client.on('error', () => {})
  client.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${secret}\r\n` +
      `content-type: application/json\r\ncontent-length: ${BODY_BYTES}\r\n\r\n`,
  )
  client.write(Buffer.alloc(BODY_BYTES - 1, ' '))
  return client
}

function ask(secret: string, content = 'Hello'): Promise<Response> {
  return fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sandbox-chat', messages: [{ role: 'user', content }] }),
  })
}
