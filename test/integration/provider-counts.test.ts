// The gateway uses a provider's free token count: to answer count_tokens and input_tokens, and to admit requests that
// their bytes alone would not.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { fixture } from '../contract/provider.ts'
import { message } from '../hostile/answers.ts'
import type { Behaviour, HostileUpstream } from '../hostile/upstream.ts'
import { startUpstream } from '../hostile/upstream.ts'
import type { TestGateway } from '../support/gateway.ts'
import { startGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'

const opened = new AsyncDisposableStack()
let upstream: HostileUpstream
let gateway: TestGateway

const COUNT_PATH = '/v1/messages/count_tokens'
const counting: Behaviour = (socket, { path }) =>
  void socket.write(
    message(path === COUNT_PATH ? '{"input_tokens":77}' : fixture('providers/messages.json')),
  )
const RESPONSE_COUNT_PATH = '/v1/responses/input_tokens'
const countingResponses: Behaviour = (socket, { path }) =>
  void socket.write(
    message(
      path === RESPONSE_COUNT_PATH
        ? '{"object":"response.input_tokens","input_tokens":88}'
        : fixture('providers/responses.json'),
    ),
  )
const notCounting: Behaviour = (socket, { path }) =>
  void socket.write(
    path === COUNT_PATH
      ? message('{}', { status: '500 Internal Server Error' })
      : message(fixture('providers/messages.json')),
  )

before(async () => {
  const behaviours = {
    counts: counting,
    'counts-responses': countingResponses,
    'counts-not': notCounting,
    'counts-never': () => {},
  }
  upstream = opened.use(await startUpstream(behaviours))
  const known = 'price: { input: 1, output: 2 }, context: 100000, max_output: 1000'
  const base = upstream.url.replace('/v1', '')
  const config = [
    'providers:',
    `  claude: { kind: anthropic, base_url: "${base}", api_key: k }`,
    `  gpt: { kind: openai, preset: openai, base_url: "${upstream.url}", api_key: k }`,
    'models:',
    `  counts: { targets: [claude/counts], ${known} }`,
    `  counts-responses: { targets: [gpt/counts-responses], ${known} }`,
    `  counts-not: { targets: [claude/counts-not], ${known} }`,
    `  counts-never: { targets: [claude/counts-never], ${known} }`,
    '',
  ].join('\n')
  gateway = opened.use(await startGateway({ config }))
})

after(() => opened.disposeAsync())

test('count_tokens returns the provider’s count, else our own', async () => {
  const key = await gateway.key('counts', 'counts,counts-not')
  const counted = async (model: string): Promise<number> => {
    const { text } = await ask(key, COUNT_PATH, { model, messages: hello(1) })
    return (JSON.parse(text) as { input_tokens: number }).input_tokens
  }
  assert.equal(await counted('counts'), 77)
  const [asked] = upstream.requests
  assert.equal(asked?.headers.get('anthropic-beta'), 'token-efficient-tools-2025-02-19')
  assert.deepEqual(Object.keys(asked?.body ?? {}).toSorted(), ['messages', 'model'])
  const own = await counted('counts-not')
  assert.ok(own > 0 && own !== 77)
})

test('input_tokens returns the provider’s count, whatever its format, else our own', async () => {
  const key = await gateway.key('inputs', 'counts,counts-responses,counts-not')
  const counted = async (model: string): Promise<number> => {
    const body = { model, instructions: 'x', input: 'xq-zv-kj. ', max_output_tokens: 20 }
    const { text } = await ask(key, RESPONSE_COUNT_PATH, body)
    const { object, input_tokens } = JSON.parse(text) as { object: string; input_tokens: number }
    assert.equal(object, 'response.input_tokens', text)
    return input_tokens
  }
  assert.equal(await counted('counts-responses'), 88)
  // OpenAI refuses to count a request with fields that are no input.
  const asked = upstream.requests.at(-1)
  assert.equal(asked?.path, RESPONSE_COUNT_PATH)
  assert.deepEqual(Object.keys(asked.body).toSorted(), ['input', 'instructions', 'model'])
  assert.equal(await counted('counts'), 77)
  assert.equal(upstream.requests.at(-1)?.path, COUNT_PATH)
  const own = await counted('counts-not')
  assert.ok(own > 0 && own !== 77)
})

test('a schema under its older name is counted too', async () => {
  const key = await gateway.key('schemas', 'counts')
  const format = { type: 'json_schema', schema: { type: 'object' } }
  await ask(key, COUNT_PATH, { model: 'counts', messages: hello(1), output_format: format })
  assert.deepEqual(upstream.requests.at(-1)?.body['output_config'], { format })
})

test('a client that leaves while the provider counts is recorded as gone', async () => {
  const key = await gateway.key('leaves', 'counts-never')
  const client = new AbortController()
  const left = fetch(gateway.url + COUNT_PATH, {
    method: 'POST',
    headers: { 'x-api-key': key },
    body: JSON.stringify({ model: 'counts-never', messages: hello(1) }),
    signal: client.signal,
  }).catch(() => undefined)
  await until(() => upstream.asked('counts-never') > 0)
  client.abort()
  await left
  const { request_id: id } = await until(() =>
    gateway.log().find(({ model, event }) => event === 'request' && model === 'counts-never'),
  )
  const response = await fetch(`${gateway.url}/v1/requests/${String(id)}`, {
    headers: { authorization: `Bearer ${key}` },
  })
  const { status, code } = (await response.json()) as { status: number; code: string }
  assert.deepEqual({ status, code }, { status: 499, code: 'client_gone' })
})

test('a request that does not fit by its bytes is counted by the provider', async () => {
  // 40,000 bytes are bounded by 40,000 tokens, or 0.04 USD; the provider counts 77.
  const body = { max_tokens: 100, messages: hello(4_000) }
  const poor = await gateway.key('poor', 'counts,counts-not', '--budget', '0.01')
  const refused = await ask(poor, '/v1/messages', { model: 'counts-not', ...body })
  assert.equal(refused.status, 402, refused.text)
  assert.match(refused.text, /key_budget_exceeded/)
  const served = await ask(poor, '/v1/messages', { model: 'counts', ...body })
  assert.equal(served.status, 200, served.text)
})

test('content behind a URL is bounded by the window, whatever the provider counts', async () => {
  // The whole window of 100,000 tokens costs 0.1 USD, and 16,384 tokens are held per image.
  const key = await gateway.key('addresses', 'counts', '--budget', '0.01')
  const source = { type: 'url', url: 'https://example.com/a' }
  const found = { type: 'web_fetch_result', url: source.url, content: { type: 'document', source } }
  for (const block of [
    { type: 'document', source },
    { type: 'image', source },
    { type: 'web_fetch_tool_result', tool_use_id: 'srvtoolu_1', content: found },
  ]) {
    const messages = [{ role: 'user', content: [block] }]
    const { status, text } = await ask(key, '/v1/messages', {
      model: 'counts',
      max_tokens: 100,
      messages,
    })
    assert.equal(status, 402, text)
  }
})

test('a text sent as a document is counted like any other', async () => {
  const source = { type: 'text', media_type: 'text/plain', data: 'xq-zv-kj. '.repeat(4_000) }
  const messages = [{ role: 'user', content: [{ type: 'document', source }] }]
  const key = await gateway.key('documents', 'counts-not', '--budget', '0.01')
  const { text } = await ask(key, COUNT_PATH, { model: 'counts-not', messages })
  const { input_tokens: tokens } = JSON.parse(text) as { input_tokens: number }
  assert.ok(tokens > 10_000, text)
  // That many tokens cost more than 0.01 USD.
  const { status } = await ask(key, '/v1/messages', {
    model: 'counts-not',
    max_tokens: 1,
    messages,
  })
  assert.equal(status, 402)
})

async function ask(key: string, path: string, body: object) {
  const response = await fetch(gateway.url + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${key}`,
      'x-api-key': key,
      'anthropic-beta': 'token-efficient-tools-2025-02-19',
    },
    body: JSON.stringify(body),
  })
  return { status: response.status, text: await response.text() }
}

/** Words that no tokenizer turns into single tokens. */
function hello(times: number): readonly object[] {
  return [{ role: 'user', content: 'xq-zv-kj. '.repeat(times) }]
}

test('a client cannot request a larger window than its requests are held for', async () => {
  const key = await gateway.key('wide', 'counts')
  const response = await fetch(`${gateway.url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'anthropic-beta': 'other-1, Context-1m-2025-08-07' },
    body: JSON.stringify({ model: 'counts', max_tokens: 100, messages: hello(1) }),
  })
  assert.equal(response.status, 200, await response.text())
  assert.equal(response.headers.get('x-tollgate-dropped'), 'anthropic-beta.Context-1m-2025-08-07')
  assert.equal(upstream.requests.at(-1)?.headers.get('anthropic-beta'), 'other-1')
})
