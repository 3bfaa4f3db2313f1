// Holds against what providers count: a provider that counts more than was held is charged in full, reported, and held
// for more the next time; one that reports its input early releases the rest of its hold to others.
import assert from 'node:assert/strict'
import type { RequestListener } from 'node:http'
import { test } from 'node:test'
import { recorded } from '../../fixtures/recorded.ts'
import type { TestGateway } from '../../support/gateway.ts'
import { startGateway } from '../../support/gateway.ts'
import { startProvider } from '../../support/provider.ts'

const FACTS = 'price: { input: 1, output: 2 }, context: 100000, max_output: 1000'

test('a count above the hold is charged and reported, and the next hold is larger', async () => {
  await using provider = await startProvider(answering({ prompt_tokens: 9_000 }))
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
  assert.partialDeepStrictEqual(await gateway.tollgate('ledger', 'verify', '--quiescent'), {
    ok: true,
    violations: [],
  })
})

test('an impossible count is replaced by an estimate, and logged', async () => {
  await using provider = await startProvider(answering({ prompt_tokens: 5_000_000 }))
  await using gateway = await startGateway({
    config: `
providers: { local: { kind: openai, base_url: "${provider.url}/v1" } }
models: { odd: { targets: [local/m], ${FACTS} } }
`,
  })
  const secret = await gateway.key('app', 'odd', '--budget', '1')
  const body = { model: 'odd', max_tokens: 10, messages: [{ role: 'user', content: 'Well?' }] }
  const answer = await post(gateway, { path: '/v1/chat/completions', secret, body })
  assert.equal(answer.status, 200)
  const { level, target, told_input_tokens, message } = await gateway.logged('usage_impossible')
  assert.deepEqual([level, target, told_input_tokens], ['error', 'local/m', 5_000_000])
  assert.match(String(message), /check `context` and `max_output`/)
})

test('a recount that was too low raises no hold of a request whose bytes fit', async () => {
  await using provider = await startProvider(answering({ prompt_tokens: 30_000 }))
  await using gateway = await startGateway({
    config: `
providers: { local: { kind: openai, base_url: "${provider.url}/v1" } }
models: { dense: { targets: [local/m], ${FACTS} } }
`,
  })
  // 40,000 bytes, and about 9,000 tokens: 0.041 USD by the bytes, 0.015 once they are counted.
  const messages = [{ role: 'user', content: 'the gate '.repeat(4_444) }]
  const body = { model: 'dense', max_tokens: 10, messages }
  const rich = await gateway.key('rich', 'dense', '--budget', '1')
  const poor = await gateway.key('poor', 'dense', '--budget', '0.02')
  const poorToo = await gateway.key('poor too', 'dense', '--budget', '0.02')
  const ask = (secret: string, headers = {}): Promise<Response> =>
    post(gateway, { path: '/v1/chat/completions', secret, body, headers })
  const worstCase = async (): Promise<unknown> =>
    ((await (await ask(rich, { 'x-tollgate-dry-run': '1' })).json()) as Body)['worst_case']

  const before = await worstCase()
  assert.equal((await ask(poor)).headers.get('x-tollgate-cost'), '0.03001')
  await gateway.logged('overrun')
  assert.equal(await worstCase(), before)
  // The next request that is recounted is held for as much as this one turned out to need.
  const refused = (await (await ask(poorToo)).json()) as { readonly error: Body }
  assert.equal(Number(refused.error['required']).toFixed(4), '0.0300')
})

test('tokens per minute count what a request most likely reads, not its worst case', async () => {
  await using provider = await startProvider(answering({ prompt_tokens: 9_000 }))
  await using gateway = await startGateway({
    config: `
providers: { local: { kind: openai, base_url: "${provider.url}/v1" } }
models: { plain: { targets: [local/m], ${FACTS} } }
`,
  })
  const secret = await gateway.key('app', 'plain', '--budget', '1', '--tpm', '20000')
  const messages = [{ role: 'user', content: 'the gate '.repeat(3_333) }]
  const tools = [{ type: 'function', function: { name: 'f', description: 'x'.repeat(1000) } }]
  const ask = async (): Promise<readonly (string | null)[]> => {
    const body = { model: 'plain', max_tokens: 10, messages, tools }
    const answer = await post(gateway, { path: '/v1/chat/completions', secret, body })
    return [String(answer.status), answer.headers.get('x-ratelimit-remaining-tokens')]
  }
  // 30 KB of words and 1 KB of schema: at most 35,000 tokens, most likely about 10,000.
  const [[first, left], [second]] = [await ask(), await ask()]
  assert.deepEqual([first, left, second], ['200', '10995', '200'])
})

test('the worst case of a request without an output limit is what would be held for it', async () => {
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
  // An eighth of the remaining budget, at least 4,096 tokens, at most the model's maximum output.
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

test('a provider that reports its input early frees the rest of the hold for others', async () => {
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
  // One such request may cost 0.053 USD judged by its bytes.
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
  assert.partialDeepStrictEqual(await gateway.tollgate('ledger', 'verify', '--quiescent'), {
    ok: true,
    violations: [],
  })
})

/** A provider that answers "Yes." in five tokens and reports this many input tokens. */
function answering({ prompt_tokens }: { readonly prompt_tokens: number }): RequestListener {
  return (_, response) => {
    const message = { role: 'assistant', content: 'Yes.' }
    const choices = [{ index: 0, finish_reason: 'stop', message }]
    const usage = { prompt_tokens, completion_tokens: 5, total_tokens: prompt_tokens + 5 }
    const answer = { id: 'c', object: 'chat.completion', created: 1, model: 'm', choices, usage }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(answer))
  }
}

type Body = Readonly<Record<string, unknown>>

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
