// A price belongs to a target: whatever name a client calls, and whichever target answers, it costs what that target
// costs, and `explain` arrives at the same sum.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startGateway, type TestGateway } from '../../support/gateway.ts'
import { startProvider, type TestProvider } from '../../support/provider.ts'

/** Breaks off for `broken`, fails for the models in `down`, and counts 1,000 tokens read and 500 written for the others. */
function provider(down: ReadonlySet<string>) {
  return startProvider((_, response, body) => {
    const { model } = JSON.parse(body.toString()) as { readonly model: string }
    if (model === 'broken') return response.writeHead(200).write('{', () => response.destroy())
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

type Call = {
  readonly key: string
  readonly model: string
  readonly headers?: Readonly<Record<string, string>>
}

function ask({ url }: TestGateway, { key, model, headers }: Call) {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, ...headers },
    body: JSON.stringify({
      model,
      max_tokens: 1000,
      messages: [{ role: 'user', content: 'Hello' }],
    }),
  })
}

const DRY_RUN = { 'x-tollgate-dry-run': '1' }

/** An answer of the large model, as `explain` shows it. */
const ANSWERED = [
  { what: 'input', count: 1000, price: '0.25', cost: '0.00025' },
  { what: 'output', count: 500, price: '2', cost: '0.001' },
]

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
  const answer = await ask(gateway, { key, model: 'house-llama' })
  assert.deepEqual(
    [answer.status, answer.headers.get('x-tollgate-target'), answer.headers.get('x-tollgate-cost')],
    [200, 'local/large', '0.00125'],
  )
  const { cost, recomputed, lines } = await gateway.tollgate(
    'explain',
    answer.headers.get('x-request-id') ?? '',
  )
  assert.deepEqual([cost, recomputed, lines], ['0.00125', '0.00125', ANSWERED])
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
  const answer = await ask(gateway, { key, model: 'm' })
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
        {
          what: 'input',
          count: 1000,
          price: '0.2125',
          cost: '0.0002125',
          list_price: '0.25',
          discount: '0.15',
        },
        {
          what: 'output',
          count: 500,
          price: '1.7',
          cost: '0.00085',
          list_price: '2',
          discount: '0.15',
        },
      ],
    ],
  )
})

test('a failed attempt that may have cost something is charged at the price of its own target', async () => {
  await using upstream = await provider(new Set())
  await using gateway = await startGateway({
    config: `
providers:
  local: { kind: openai, api: chat, base_url: "${upstream.url}/v1", models: { large: { price: { input: 0.25, output: 2 }, ${LIMITS} } } }
models:
  first: { targets: [local/broken], fallbacks: [local/large], price: { input: 9, output: 9 }, ${LIMITS} }
`,
  })
  const key = await gateway.key('demo', 'first')
  const answer = await ask(gateway, { key, model: 'first' })
  const { cost, recomputed, lines, agrees } = await gateway.tollgate(
    'explain',
    answer.headers.get('x-request-id') ?? '',
  )
  const [input, output, estimated] = lines as readonly { count: number; price: string }[]
  assert.deepEqual([input, output], ANSWERED)
  // What the first target may have read is estimated.
  assert.ok(estimated !== undefined && estimated.count > 0 && estimated.price === '9')
  const owed = 1_250_000 + 9_000 * estimated.count
  assert.deepEqual([Number(cost) * 1e9, cost, agrees], [owed, recomputed, true])
})

describe('a target that the budget cannot pay is skipped', () => {
  let upstream: TestProvider
  let gateway: TestGateway
  before(async () => {
    upstream = await provider(new Set())
    gateway = await startGateway({
      config: `
providers:
  local:
    kind: openai
    api: chat
    base_url: "${upstream.url}/v1"
    models:
      dear: { price: { input: 100, output: 1000 }, ${LIMITS} }
      mid: { price: { input: 1, output: 10 }, ${LIMITS} }
      cheap: { price: { input: 0.25, output: 2 }, ${LIMITS} }
models:
  choice: { targets: [local/dear], fallbacks: [local/cheap, local/mid] }
`,
    })
  })
  after(async () => {
    await gateway.stop()
    await upstream[Symbol.asyncDispose]()
  })

  test('and the next one that fits answers, at its own price', async () => {
    // 1,000 tokens of output cost 1 USD at the first, 0.002 at the second, 0.01 at the third.
    const key = await gateway.key('tight', 'choice', '--budget', '0.02', '--when-tight', 'refuse')
    const forecast = await ask(gateway, { key, model: 'choice', headers: DRY_RUN })
    assert.partialDeepStrictEqual(await forecast.json(), {
      passes: true,
      target: 'local/cheap',
      skipped: [{ target: 'local/dear', by: 'budget' }],
    })
    const answer = await ask(gateway, { key, model: 'choice' })
    const told = ['x-tollgate-target', 'x-tollgate-cost'].map((name) => answer.headers.get(name))
    assert.deepEqual([answer.status, ...told], [200, 'local/cheap', '0.00125'])
    const { attempts, held, agrees } = await gateway.tollgate(
      'explain',
      answer.headers.get('x-request-id') ?? '',
    )
    assert.deepEqual(
      (attempts as { target: string; outcome: string }[]).map(({ target, outcome }) => [
        target,
        outcome,
      ]),
      [
        ['local/dear', 'skipped: budget'],
        ['local/cheap', 'answered'],
      ],
    )
    // The dearest of those kept: local/mid.
    assert.ok(Number(held) > 0.01 && Number(held) < 0.02, String(held))
    assert.equal(agrees, true)
  })

  test('but not before its own output is lowered, where the key allows that', async () => {
    const key = await gateway.key('capped', 'choice', '--budget', '0.9')
    const answer = await ask(gateway, { key, model: 'choice', headers: DRY_RUN })
    const { target, capped, output_tokens } = (await answer.json()) as Record<string, unknown>
    assert.deepEqual([target, capped], ['local/dear', true])
    assert.ok(Number(output_tokens) >= 256 && Number(output_tokens) < 1000)
    const { headers, status } = await ask(gateway, { key, model: 'choice' })
    assert.deepEqual([status, headers.get('x-tollgate-output-cap')], [200, String(output_tokens)])
  })

  test('and if none fits, the refusal names the cheapest and what it would have cost', async () => {
    const key = await gateway.key('poor', 'choice', '--budget', '0.001', '--when-tight', 'refuse')
    const answer = await ask(gateway, { key, model: 'choice' })
    const { error } = (await answer.json()) as { error: Record<string, unknown> }
    assert.deepEqual([answer.status, error['target']], [402, 'local/cheap'])
    assert.match(
      String(error['message']),
      new RegExp(
        `this call may cost up to ${String(error['required'])} USD at local/cheap, the cheapest of its 3 targets, and 0.001 USD is left`,
      ),
    )
    assert.ok(Number(error['required']) < 0.003)
  })
})

test('a fallback serves a model whose only target is left out', async () => {
  await using upstream = await provider(new Set())
  await using gateway = await startGateway({
    config: `
providers:
  local: { kind: openai, api: chat, base_url: "${upstream.url}/v1" }
  other: { kind: anthropic, api_key: "\${NOT_SET:-}" }
models:
  claude: { targets: [other/claude-sonnet-4-6], fallbacks: [local/large] }
  large: { targets: [local/large], price: { input: 0.25, output: 2.00 }, ${LIMITS} }
`,
  })
  const answer = await ask(gateway, { key: await gateway.key('demo', 'claude'), model: 'claude' })
  assert.deepEqual([answer.status, answer.headers.get('x-tollgate-cost')], [200, '0.00125'])
  const { models } = await gateway.tollgate('models')
  const claude = (models as { readonly id: string }[]).find(({ id }) => id === 'claude')
  assert.partialDeepStrictEqual(claude, {
    available: true,
    provider: 'local',
    reason: 'other/claude-sonnet-4-6 is left out: its api_key is empty',
  })
})
