// Bounds against what providers say: one that counts more than was held is charged in full, reported, and held for more
// the next time; one that tells early what it has read leaves the rest of its hold to others.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { TestGateway } from '../support/gateway.ts'
import { startGateway } from '../support/gateway.ts'
import { startProvider } from '../support/provider.ts'
import { recorded } from '../support/recorded.ts'

const FACTS = 'price: { input: 1, output: 2 }, context: 100000, max_output: 1000'

test('a provider that counts more than was held: charged, reported, and held for more', async () => {
  const usage = { prompt_tokens: 9_000, completion_tokens: 5, total_tokens: 9_005 }
  await using provider = await startProvider((_, response) => {
    const message = { role: 'assistant', content: 'Yes.' }
    const choices = [{ index: 0, finish_reason: 'stop', message }]
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({
        id: 'c',
        object: 'chat.completion',
        created: 1,
        model: 'm',
        choices,
        usage,
      }),
    )
  })
  await using gateway = await startGateway({
    config: `
providers: { local: { kind: openai, base_url: "${provider.url}/v1" } }
models: { greedy: { targets: [local/m], ${FACTS} } }
`,
  })
  const secret = await gateway.key('app', 'greedy', '--budget', '1')
  const body = { model: 'greedy', max_tokens: 10, messages: [{ role: 'user', content: 'Well?' }] }
  const worstCase = async (): Promise<number> => {
    const dry = { 'x-tollgate-dry-run': '1' }
    const answer = await post(gateway, { path: '/v1/chat/completions', secret, body, headers: dry })
    return Number(((await answer.json()) as { worst_case: string }).worst_case)
  }

  assert.ok((await worstCase()) < 0.009)
  const first = await post(gateway, { path: '/v1/chat/completions', secret, body })
  assert.equal(first.headers.get('x-tollgate-cost'), '0.00901')
  const line = await gateway.logged('overrun')
  assert.deepEqual(
    [line['level'], line['target'], line['request_id'], line['cost']],
    ['error', 'local/m', first.headers.get('x-request-id'), '0.00901'],
  )

  assert.ok((await worstCase()) >= 0.00901)
  await post(gateway, { path: '/v1/chat/completions', secret, body })
  assert.equal(gateway.log().filter(({ event }) => event === 'overrun').length, 1)
  assert.deepEqual(await gateway.tollgate('ledger', 'verify', '--quiescent'), {
    ok: true,
    violations: [],
  })
})

test('without a limit of its own, the worst case of a request is what would be held for it', async () => {
  await using gateway = await startGateway({
    config: `
providers: { local: { kind: openai, base_url: "http://127.0.0.1:9/v1" } }
models: { long: { targets: [local/m], price: { input: 1, output: 10 }, context: 100000, max_output: 50000 } }
`,
  })
  const body = { model: 'long', messages: [{ role: 'user', content: 'Well?' }] }
  const headers = { 'x-tollgate-dry-run': '1' }
  const forecast = async (budget: string): Promise<Record<string, unknown>> => {
    const secret = await gateway.key(`with ${budget}`, 'long', '--budget', budget)
    const answer = await post(gateway, { path: '/v1/chat/completions', secret, body, headers })
    return (await answer.json()) as Record<string, unknown>
  }
  // An eighth of what is left, at least 4,096 tokens, at most what the model can write.
  for (const [budget, tokens] of [
    ['0.1', 4_096],
    ['1', 12_500],
    ['10', 50_000],
  ] as const) {
    const { passes, output_tokens, worst_case, held } = await forecast(budget)
    assert.deepEqual([passes, output_tokens, worst_case], [true, tokens, held])
  }
  const capped = await forecast('0.03')
  assert.ok(Number(capped['output_tokens']) < 4_096)
  assert.equal(Number(capped['worst_case']).toFixed(3), '0.042')
  const refused = await forecast('0.001')
  assert.deepEqual([refused['passes'], refused['worst_case']], [false, refused['required']])
})

test('a provider that tells early what it has read leaves the rest of the hold to others', async () => {
  const [beginning, rest] = recorded('messages', 'The gate')
  const release = Promise.withResolvers<void>()
  await using provider = await startProvider((message, response) => {
    if (message.url !== '/v1/messages') return response.writeHead(404).end()
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(beginning)
    return void release.promise.then(() => response.end(rest))
  })
  await using gateway = await startGateway({
    config: `
providers: { local: { kind: anthropic, base_url: "${provider.url}", api_key: x } }
models: { early: { targets: [local/m], ${FACTS} } }
`,
  })
  // One such request may cost 0.053 USD by its bytes.
  const secret = await gateway.key('app', 'early', '--budget', '0.06', '--when-tight', 'refuse')
  const ask = (): Promise<Response> =>
    post(gateway, {
      path: '/v1/messages',
      secret,
      body: {
        model: 'early',
        stream: true,
        max_tokens: 1000,
        messages: [{ role: 'user', content: 'the '.repeat(12_500) }],
      },
    })
  const one = await ask()
  const other = await ask()
  assert.deepEqual([one.status, other.status], [200, 200])
  release.resolve()
  await Promise.all([one.text(), other.text()])
  assert.deepEqual(await gateway.tollgate('ledger', 'verify', '--quiescent'), {
    ok: true,
    violations: [],
  })
})

type Post = {
  readonly path: string
  readonly secret: string
  readonly body: object
  readonly headers?: Readonly<Record<string, string>>
}

function post(gateway: TestGateway, { path, secret, body, headers }: Post): Promise<Response> {
  return fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'x-api-key': secret, ...headers },
    body: JSON.stringify(body),
  })
}
