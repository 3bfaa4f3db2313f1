// The way out: readiness goes off, running streams finish, then exit 0.
import assert from 'node:assert/strict'
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
