// What a failed provider leaves behind: in the log the reason on one line, without a stack trace; in the books whatever
// it counted, or bills without a count.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { startGateway, type TestGateway } from '../../support/gateway.ts'
import { freePort } from '../../support/process.ts'
import { startProvider, type TestProvider } from '../../support/provider.ts'

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

describe('a provider that does not count', () => {
  let provider: TestProvider
  let gateway: TestGateway
  let headers: Record<string, string>
  before(async () => {
    const choice = { index: 0, finish_reason: 'stop' }
    const text = { content: 'Noon.' }
    const whole = { id: 'x', object: 'chat.completion', created: 1, model: 'm' }
    provider = await startProvider((_, response, body) => {
      const { stream, messages } = JSON.parse(body.toString())
      // It takes the request, and then nothing comes.
      if (messages[0].content === 'never') return
      if (stream === true) {
        const event = { ...whole, choices: [{ ...choice, delta: text }] }
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.end(`data: ${JSON.stringify(event)}\n\ndata: [DONE]\n\n`)
      } else {
        const message = { role: 'assistant', ...text }
        response.end(JSON.stringify({ ...whole, choices: [{ ...choice, message }] }))
      }
    })
    gateway = await startGateway({
      config: `
providers: { local: { kind: openai, api: chat, base_url: "${provider.url}/v1", timeouts: { first_byte: 1s } } }
models: { m: { targets: [local/m], price: { input: 1, output: 2 }, context: 100000, max_output: 1000 } }
`,
    })
    headers = { authorization: `Bearer ${await gateway.key('demo', 'm')}` }
  })
  after(async () => {
    await gateway.stop()
    await provider[Symbol.asyncDispose]()
  })

  async function shown(content: string, stream: boolean): Promise<Record<string, unknown>> {
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ model: 'm', stream, messages: [{ role: 'user', content }] }),
    })
    await answer.text()
    const id = answer.headers.get('x-request-id') ?? ''
    const found = await fetch(`${gateway.url}/v1/requests/${id}`, { headers })
    return (await found.json()) as Record<string, unknown>
  }

  const rows = Array.from({ length: 2_000 }, (_, row) => `${row},${row ** 2 % 9_973},7.25\n`)
  for (const [what, text] of [
    ['CSV', rows.join('')],
    ['a short CSV', rows.slice(0, 200).join('')],
    ['hex', createHash('shake256', { outputLength: 8_000 }).digest('hex')],
    ['base64', createHash('shake256', { outputLength: 12_000 }).digest('base64')],
    ['prose', 'The gate opens at noon, and whoever has paid may pass. '.repeat(300)],
  ] as const)
    for (const stream of [false, true])
      test(`is charged for ${what} as a tokenizer counts it, ${stream ? 'streamed' : 'whole'}`, async () => {
        const { input_tokens: charged, estimated } = await shown(text, stream)
        const tokens = countTokens(text)
        assert.equal(estimated, true)
        const isNear = Math.abs(Number(charged) - tokens) < tokens / 10
        assert.ok(isNear, `${String(charged)} instead of ${tokens}`)
      })

  for (const stream of [false, true])
    test(`and falls silent is charged for what it may have written, ${stream ? 'streamed' : 'whole'}`, async () => {
      const { output_tokens: written, estimated, status } = await shown('never', stream)
      assert.deepEqual([status, estimated], [504, true])
      // 150 tokens in the second until the timeout; the limit is 1,000.
      assert.ok(Number(written) >= 150 && Number(written) <= 1_000, String(written))
    })
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
  // 6,000 tokens and a few, because a sample is counted, and 4 for the message.
  const isNear = (cost: unknown): boolean => Math.abs(Number(cost) - 0.006) < 0.0003
  assert.ok(isNear(await ask('azure')))
  for (let turn = 0; turn < 6; turn++) assert.ok(isNear(await ask('xai')))
  assert.deepEqual([asked.length, gateway.log().filter(({ level }) => level === 'error')], [7, []])
})
