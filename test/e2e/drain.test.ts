// Draining: readiness turns off, running streams finish, then the process exits with 0.
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'

import { startGateway } from '../support/gateway.ts'

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`${signal} lets a running stream finish`, async () => {
    await using gateway = await startGateway()
    const key = await gateway.key('demo', 'sandbox-chat')
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'x-tollgate-sandbox': 'tokens=40 gap=20ms' },
      body: JSON.stringify({
        model: 'sandbox-chat',
        stream: true,
        messages: [{ role: 'user', content: 'Hello' }],
      }),
    })
    assert.ok(response.body)
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
    let text = (await reader.read()).value ?? ''
    process.kill(gateway.pid, signal)
    await gateway.logged('draining')
    await assert.rejects(fetch(`${gateway.url}/readyz`), 'nothing new is accepted')
    for (let read = await reader.read(); !read.done; read = await reader.read()) text += read.value
    assert.ok(text.endsWith('data: [DONE]\n\n'))
    assert.equal((await gateway.ended).code, 0)
  })
}

test('a new request on an open connection is told to retry elsewhere', async () => {
  await using gateway = await startGateway()
  const key = await gateway.key('demo', 'sandbox-chat')
  const body =
    '{"model":"sandbox-chat","max_tokens":9,"messages":[{"role":"user","content":"Hello"}]}'
  const head = `POST /v1/messages HTTP/1.1\r\nhost: a\r\nx-api-key: ${key}\r\ncontent-length: ${body.length}\r\n`
  const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1')
  // The gateway asks for the body once it serves the request, which then counts as running.
  socket.write(`${head}expect: 100-continue\r\n\r\n`)
  await new Promise((resolve) => socket.once('data', resolve))
  process.kill(gateway.pid, 'SIGTERM')
  await gateway.logged('draining')
  socket.write(`${body}${head}\r\n${body}`)
  const [first = '', second = ''] = (await text(socket)).split(/(?=HTTP\/1\.1 503)/)
  assert.match(first, /^HTTP\/1\.1 200 /)
  assert.match(second, /\r\nretry-after: 1\r\n.*\r\nconnection: close\r\n.*"code":"draining"/is)
  assert.equal((await gateway.ended).code, 0)
})
