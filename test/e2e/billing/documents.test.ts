// Texts sent as documents to a provider that counts them with a real tokenizer: whichever bound applies to the input
// (bytes, a recount, the provider's own count, the context window), it is never below the charge.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import type { JsonObject } from '../../../src/core/json.ts'
import { startGateway, type TestGateway } from '../../support/gateway.ts'
import { startProvider, type TestProvider } from '../../support/provider.ts'

/** 24,000 bytes and about 9,000 tokens: 0.025 USD judged by the bytes, 0.015 recounted, 0.1 by the context window. */
const DOCUMENT = 'The gate is open, at 8. '.repeat(1_000)
const QUESTION = 'When does the gate open?'
const TOKENS_READ = countTokens(DOCUMENT) + countTokens(QUESTION)
const BASE64 = Buffer.from(DOCUMENT).toString('base64')

const opened = new AsyncDisposableStack()
let provider: TestProvider
let gateway: TestGateway

before(async () => {
  provider = opened.use(await startProvider(answer))
  const facts = 'price: { input: 1, output: 2 }, context: 100000, max_output: 1000'
  gateway = opened.use(
    await startGateway({
      config: `
providers:
  claude: { kind: anthropic, base_url: "${provider.url}", api_key: k }
  gpt: { kind: openai, base_url: "${provider.url}/v1", api: responses, api_key: k }
models:
  counting: { targets: [claude/counting], ${facts} }
  silent: { targets: [claude/silent], ${facts} }
  gpt: { targets: [gpt/m], ${facts} }
`,
    }),
  )
})
after(() => opened.disposeAsync())

const text = { type: 'text', media_type: 'text/plain', data: DOCUMENT }
const base64 = { type: 'base64', media_type: 'text/plain', data: BASE64 }
const file = {
  type: 'input_file',
  filename: 'a.txt',
  file_data: `data:text/plain;base64,${BASE64}`,
}

const cases: readonly {
  readonly what: string
  readonly path: string
  readonly body: JsonObject
  /** Whether a budget of 0.02 USD suffices, which is more than the request costs. */
  readonly passesPoor: boolean
}[] = [
  { what: 'a text, recounted by us', ...messages('silent', text), passesPoor: true },
  { what: 'a text, counted by the provider', ...messages('counting', text), passesPoor: true },
  { what: 'base64, bounded by the window', ...messages('silent', base64), passesPoor: false },
  { what: 'base64, counted by the provider', ...messages('counting', base64), passesPoor: true },
  {
    what: 'a file in a responses request',
    path: '/v1/responses',
    body: {
      model: 'gpt',
      max_output_tokens: 16,
      input: [{ role: 'user', content: [file, { type: 'input_text', text: QUESTION }] }],
    },
    passesPoor: false,
  },
]

for (const { what, path, body, passesPoor } of cases) {
  test(`${what}: the bound is above the charge`, async () => {
    for (const budget of ['1', '0.02']) {
      const secret = await gateway.key(
        `${what} ${budget}`,
        'counting,silent,gpt',
        '--budget',
        budget,
      )
      const dry = await post(path, { secret, body, headers: { 'x-tollgate-dry-run': '1' } })
      const { passes, held } = (await dry.json()) as { passes: boolean; held?: string }
      const response = await post(path, { secret, body })
      const said = await response.text()
      if (budget === '0.02' && !passesPoor) {
        assert.deepEqual([passes, response.status], [false, 402], said)
        continue
      }
      assert.deepEqual([passes, response.status], [true, 200], said)
      const cost = Number(response.headers.get('x-tollgate-cost'))
      assert.ok(cost >= TOKENS_READ / 1e6, `${cost}`)
      assert.ok(Number(held) >= cost, `${held} is held for ${cost}`)
    }
    assert.deepEqual(
      gateway.log().filter(({ event }) => event === 'overrun'),
      [],
    )
  })
}

test('count_tokens covers a text sent as a document', async () => {
  const secret = await gateway.key('counts', 'counting,silent')
  for (const model of ['counting', 'silent']) {
    const { max_tokens: _, ...body } = messages(model, text).body
    const response = await post('/v1/messages/count_tokens', { secret, body })
    const { input_tokens } = (await response.json()) as { input_tokens: number }
    assert.ok(input_tokens >= TOKENS_READ, `${model} counts ${input_tokens} of ${TOKENS_READ}`)
  }
})

function messages(model: string, source: JsonObject) {
  const content = [
    { type: 'document', source },
    { type: 'text', text: QUESTION },
  ]
  return {
    path: '/v1/messages',
    body: { model, max_tokens: 16, messages: [{ role: 'user', content }] },
  }
}

type Post = {
  readonly secret: string
  readonly body: object
  readonly headers?: Readonly<Record<string, string>>
}

function post(path: string, { secret, body, headers }: Post): Promise<Response> {
  return fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'x-api-key': secret, ...headers },
    body: JSON.stringify(body),
  })
}

/** Counts the request and answers "At 8." in three tokens. */
function answer(
  ...[message, response, sent]: Parameters<Parameters<typeof startProvider>[0]>
): unknown {
  const body = JSON.parse(sent.toString()) as { readonly model: string }
  const tokens = tokensIn(body)
  response.setHeader('content-type', 'application/json')
  if (message.url === '/v1/messages/count_tokens') {
    if (body.model === 'silent') return response.writeHead(404).end('{}')
    return response.end(JSON.stringify({ input_tokens: tokens }))
  }
  const usage = { input_tokens: tokens, output_tokens: 3, total_tokens: tokens + 3 }
  const of = { model: body.model, role: 'assistant', usage }
  if (message.url === '/v1/messages') {
    const content = [{ type: 'text', text: 'At 8.' }]
    return response.end(
      JSON.stringify({ id: 'msg_1', type: 'message', ...of, content, stop_reason: 'end_turn' }),
    )
  }
  const content = [{ type: 'output_text', text: 'At 8.', annotations: [] }]
  const said = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content }
  const whole = { id: 'resp_1', object: 'response', status: 'completed', created_at: 1 }
  return response.end(JSON.stringify({ ...whole, model: 'm', output: [said], usage }))
}

/** Counts every text in it, with base64 decoded. */
function tokensIn(value: unknown): number {
  let tokens = 0
  JSON.stringify(value, (name, member: unknown) => {
    if (typeof member !== 'string' || !['text', 'data', 'file_data'].includes(name)) return member
    const coded = member.split(',').at(-1) ?? ''
    const isCoded = coded === BASE64
    tokens += countTokens(isCoded ? Buffer.from(coded, 'base64').toString() : member)
    return member
  })
  return tokens
}
