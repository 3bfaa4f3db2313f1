// A price belongs to a target: whatever name a client calls, and whichever target answers, it costs what that target
// costs, and `explain` arrives at the same sum.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { startGateway } from '../support/gateway.ts'
import { startProvider } from '../support/provider.ts'

/** Fails for the models in `down`, and counts 1,000 tokens read and 500 written for the others. */
function provider(down: ReadonlySet<string>) {
  return startProvider((_, response, body) => {
    const { model } = JSON.parse(body.toString()) as { readonly model: string }
    if (down.has(model)) return response.writeHead(500).end('{}')
    return response.writeHead(200, { 'content-type': 'application/json' }).end(
      JSON.stringify({
        id: 'chatcmpl-1',
        object: 'chat.completion',
        created: 1,
        model,
        choices: [
          { index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' },
        ],
        usage: { prompt_tokens: 1000, completion_tokens: 500, total_tokens: 1500 },
      }),
    )
  })
}

const LIMITS = 'context: 131072, max_output: 8192'

test('a fallback costs what another entry says its target costs', async () => {
  await using upstream = await provider(new Set(['llama']))
  await using gateway = await startGateway({
    config: `
providers:
  local: { kind: openai, api: chat, base_url: "${upstream.url}/v1" }
models:
  house-llama: { targets: [local/llama], fallbacks: [local/large], price: { input: 0.05, output: 0.10 }, ${LIMITS} }
  large: { targets: [local/large], price: { input: 0.25, output: 2.00 }, ${LIMITS} }
`,
  })
  const key = await gateway.key('demo', 'house-llama')
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: 'house-llama', messages: [{ role: 'user', content: 'Hello' }] }),
  })
  assert.deepEqual(
    [answer.status, answer.headers.get('x-tollgate-target'), answer.headers.get('x-tollgate-cost')],
    [200, 'local/large', '0.00125'],
  )
  const { cost, recomputed, lines } = await gateway.tollgate(
    'explain',
    answer.headers.get('x-request-id') ?? '',
  )
  assert.deepEqual(
    [cost, recomputed, lines],
    [
      '0.00125',
      '0.00125',
      [
        { what: 'input', count: 1000, price: '0.25' },
        { what: 'output', count: 500, price: '2' },
      ],
    ],
  )
})

test('a discount is taken off the list price, and explain shows both', async () => {
  await using upstream = await provider(new Set())
  await using gateway = await startGateway({
    config: `
providers:
  local: { kind: openai, api: chat, base_url: "${upstream.url}/v1", discount: "0.15", models: { m: { price_like: openai/gpt-5-mini } } }
models:
  m: { targets: [local/m], ${LIMITS} }
`,
  })
  const key = await gateway.key('demo', 'm')
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hello' }] }),
  })
  // 0.00125 USD less 15 %.
  assert.equal(answer.headers.get('x-tollgate-cost'), '0.0010625')
  const { recomputed, lines } = await gateway.tollgate(
    'explain',
    answer.headers.get('x-request-id') ?? '',
  )
  assert.deepEqual(
    [recomputed, lines],
    [
      '0.0010625',
      [
        { what: 'input', count: 1000, price: '0.2125', list_price: '0.25', discount: '0.15' },
        { what: 'output', count: 500, price: '1.7', list_price: '2', discount: '0.15' },
      ],
    ],
  )
})
