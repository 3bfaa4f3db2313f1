// A client that leaves before a whole answer arrives saw nothing of it, but the provider did the work.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { modelOver, modelsOver } from '../../fixtures/recorded.ts'
import { startGateway } from '../../support/gateway.ts'
import { startProvider } from '../../support/provider.ts'
import { until } from '../../support/until.ts'

test('a client that does not wait for a whole answer pays for the time it took', async () => {
  const asked = Promise.withResolvers<void>()
  await using provider = await startProvider(() => asked.resolve())
  const facts =
    'price: { input: 0, output: 2 }, context: 100000, max_output: 1000, abilities: { reasoning: false }'
  const gateway = await startGateway({ config: modelsOver(provider.url, facts) })
  try {
    const secret = await gateway.key('app', modelOver('chat'))
    const headers = { authorization: `Bearer ${secret}` }
    const leaving = new AbortController()
    const answer = fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers,
      signal: leaving.signal,
      body: JSON.stringify({
        model: modelOver('chat'),
        messages: [{ role: 'user', content: 'When?' }],
      }),
    })
    await asked.promise
    leaving.abort()
    await assert.rejects(answer)
    const { spent } = await until(async () => {
      const response = await fetch(`${gateway.url}/v1/key`, { headers })
      const key = (await response.json()) as { spent: string; held: string }
      return Number(key.held) === 0 && key
    })
    assert.ok(Number(spent) > 0, spent)
  } finally {
    await gateway.stop()
  }
})
