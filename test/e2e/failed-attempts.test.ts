// What a failed provider leaves behind: in the log the reason on one line, without a stack trace; in the books whatever
// it counted, or bills without a count.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import { startGateway, type TestGateway } from '../support/gateway.ts'
import { freePort } from '../support/port.ts'
import { startProvider, type TestProvider } from '../support/provider.ts'

describe('the log gives the cause of a failed attempt', () => {
  let provider: TestProvider
  let gateway: TestGateway
  let key = ''
  before(async () => {
    provider = await startProvider((_, response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html>welcome</html>'),
    )
    const model = 'price: free, context: 1000, max_output: 100'
    gateway = await startGateway({
      config: `
providers:
  closed: { kind: openai, api: chat, base_url: "http://127.0.0.1:${await freePort()}/v1" }
  page: { kind: openai, api: chat, base_url: "${provider.url}/v1" }
models:
  closed: { targets: [closed/m], ${model} }
  page: { targets: [page/m], ${model} }
`,
    })
    key = await gateway.key('demo', 'closed,page')
  })
  after(async () => {
    await gateway.stop()
    await provider[Symbol.asyncDispose]()
  })

  for (const [name, model, cause] of [
    ['a refused connection', 'closed', /^Error: connect ECONNREFUSED 127\.0\.0\.1:\d+$/],
    ['a web page as the answer', 'page', /^the provider answered with something that is not JSON$/],
  ] as const)
    test(name, async () => {
      const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}` },
        body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] }),
      })
      assert.equal(answer.status, 502)
      // The first line with this id: the attempt is logged before the request.
      const line = await gateway.logged(answer.headers.get('x-request-id') ?? '')
      assert.equal(line['event'], 'attempt_failed')
      assert.match(String(line['cause']), cause)
    })
})

test('an unusable answer costs what the provider counted for it', async () => {
  const answer = {
    candidates: [{ finishReason: 'MALFORMED_FUNCTION_CALL' }],
    usageMetadata: { promptTokenCount: 9, thoughtsTokenCount: 500 },
  }
  await using provider = await startProvider((_, response) => response.end(JSON.stringify(answer)))
  const gateway = await startGateway({
    config: `
providers: { gemini: { kind: gemini, base_url: "${provider.url}", api_key: k } }
models: { m: { targets: [gemini/m], price: { input: 1, output: 2 }, context: 1000, max_output: 1000 } }
`,
  })
  try {
    const headers = { authorization: `Bearer ${await gateway.key('demo', 'm')}` }
    const failed = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hello' }] }),
    })
    assert.equal(failed.status, 502)
    const id = failed.headers.get('x-request-id') ?? ''
    const shown = await fetch(`${gateway.url}/v1/requests/${id}`, { headers })
    const { cost } = (await shown.json()) as { cost: string }
    assert.equal(cost, '0.001009')
  } finally {
    await gateway.stop()
  }
})

test('a request that Azure filtered costs what it read; one that xAI refused disturbs no target', async () => {
  const filtered = { code: 'content_filter', message: 'The response was filtered.' }
  const violation = { code: 'permission-denied', error: 'Content violates usage guidelines.' }
  const asked: unknown[] = []
  await using provider = await startProvider(({ url }, response) => {
    asked.push(url)
    const isAzure = url?.startsWith('/openai') === true
    const [status, body] = isAzure ? [400, { error: filtered }] : [403, violation]
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  const facts = 'price: { input: 1, output: 2 }, context: 100000, max_output: 1000'
  await using gateway = await startGateway({
    config: `
providers:
  azure: { kind: azure, base_url: "${provider.url}", api_key: k }
  xai: { kind: openai, preset: xai, base_url: "${provider.url}/v1", api_key: [k, l] }
models:
  azure: { targets: [azure/m], ${facts} }
  xai: { targets: [xai/m], fallbacks: [azure/m], ${facts} }
`,
  })
  const headers = { authorization: `Bearer ${await gateway.key('demo', 'azure,xai')}` }
  const ask = async (model: string): Promise<unknown> => {
    const messages = [{ role: 'user', content: 'the gate '.repeat(3_000) }]
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ model, messages }),
    })
    const { error } = (await answer.json()) as { readonly error: { readonly code: string } }
    assert.deepEqual([answer.status, error.code], [400, 'content_filter'])
    const id = answer.headers.get('x-request-id') ?? ''
    const shown = await fetch(`${gateway.url}/v1/requests/${id}`, { headers })
    return ((await shown.json()) as { cost: unknown }).cost
  }
  // 27,000 bytes, taken for 9,000 tokens, and 4 for the message.
  assert.equal(await ask('azure'), '0.009004')
  for (let turn = 0; turn < 6; turn++) assert.equal(await ask('xai'), '0.009004')
  assert.deepEqual([asked.length, gateway.log().filter(({ level }) => level === 'error')], [7, []])
})
