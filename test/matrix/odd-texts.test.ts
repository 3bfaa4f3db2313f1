// Characters that break careless software (NUL, lone surrogates, control characters, very long words), wherever a
// request may carry text, on both databases: answered or refused, never an internal error; and random bodies.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import type { Json, JsonObject } from '../../src/core/json.ts'
import type { TestGateway } from '../support/gateway.ts'
import { startGateway } from '../support/gateway.ts'
import { freshDatabase } from '../support/postgres/postgres.ts'
import { freshSqlite } from '../support/store.ts'
import { ORDERLY } from './hostile-bodies.ts'
import type { Post, Raw, RawAnswer } from './raw.ts'
import { POSTS, rawCalls } from './raw.ts'

const CHATS = ['sandbox-chat', 'sandbox-chat@responses', 'sandbox-chat@messages']
const EMBEDDING = 'sandbox-embedding'

const ODD = {
  NUL: 'a\0b',
  'half a character': 'a\ud83d',
  'the other half': '\udc4bb',
  'control characters': '\u0001\u001b[2J\u007f\u0085',
  'a byte order mark': '\ufeffx',
  'right to left': '\u202ex',
  'a word of 100,000 letters': 'x'.repeat(100_000),
}

/** Every place that takes free text. */
const PLACES: Record<Post, (text: string) => JsonObject> = {
  chat: (text) => ({
    messages: [
      { role: 'system', content: text },
      { role: 'user', content: [{ type: 'text', text }], name: 'n' },
    ],
    user: text,
    metadata: { label: text, [text]: 'x' },
    prompt_cache_key: text,
    safety_identifier: text,
    tools: [{ type: 'function', function: { name: 'f', description: text } }],
    [text]: text,
  }),
  responses: (text) => ({
    instructions: text,
    input: [{ role: 'user', content: [{ type: 'input_text', text }] }],
    user: text,
    metadata: { label: text, [text]: 'x' },
    prompt_cache_key: text,
    tools: [{ type: 'function', name: 'f', description: text, parameters: {} }],
    [text]: text,
  }),
  input_tokens: (text) => ({ instructions: text, input: text }),
  messages: (text) => ({
    max_tokens: 50,
    system: text,
    messages: [{ role: 'user', content: [{ type: 'text', text }] }],
    metadata: { user_id: text },
    tools: [{ name: 'f', description: text, input_schema: { type: 'object' } }],
    [text]: text,
  }),
  count_tokens: (text) => ({ system: text, messages: [{ role: 'user', content: text }] }),
  embeddings: (text) => ({ input: [text], user: text, [text]: text }),
}

for (const [name, fresh] of Object.entries({ SQLite: freshSqlite, PostgreSQL: freshDatabase }))
  describe(`odd texts cause no internal error on ${name}`, () => {
    let gateway: TestGateway
    let raw: Raw
    let database: Awaited<ReturnType<typeof fresh>>
    before(async () => {
      database = await fresh()
      gateway = await startGateway({ database: database.url })
      const models = [...CHATS, EMBEDDING].join(',')
      raw = rawCalls(gateway, await gateway.key('app', models, '--budget', 'none'))
    })
    after(async () => {
      await gateway.stop()
      await database.drop()
    })

    for (const endpoint of Object.keys(POSTS) as Post[])
      for (const model of endpoint === 'embeddings' ? [EMBEDDING] : CHATS)
        for (const [what, text] of Object.entries(ODD)) {
          test(`${endpoint}, ${model}: ${what}`, async () => {
            const body = { model, ...PLACES[endpoint](text) }
            notOurFault(await patiently(() => raw.post(endpoint, body)))
          })
        }

    test('in model names and paths', async () => {
      for (const text of Object.values(ODD)) {
        const { status } = await raw.post('chat', { ...ORDERLY.chat, model: text })
        assert.equal(status, 403)
        const path = encodeURIComponent(text.toWellFormed()).slice(0, 3000)
        for (const place of [`/v1/models/${path}`, `/v1/responses/${path}`])
          notOurFault(await raw.call('GET', place))
        notOurFault(await raw.call('DELETE', `/v1/responses/${path}`))
        notOurFault(await raw.call('GET', `/v1/responses/resp_${path}/input_items`))
      }
      for (const path of ['/v1/models/%', '/v1/responses/%ff', '/v1/responses/..%2f..%2fkey'])
        notOurFault(await raw.call('GET', path))
    })

    test('in the ids that a response refers to', async () => {
      const model = 'sandbox-chat'
      for (const text of Object.values(ODD)) {
        const items = [{ type: 'item_reference', id: text }]
        for (const body of [
          { input: 'x', previous_response_id: `resp_${text}` },
          { input: items },
        ]) {
          const { status } = await raw.post('responses', { model, ...body })
          assert.equal(status, 400)
        }
      }
    })

    test('in random bodies', async () => {
      const models = fc.constantFrom(...CHATS)
      const endpoints = fc.constantFrom<Post>(
        ...(['chat', 'responses', 'input_tokens', 'messages', 'count_tokens'] as const),
      )
      await fc.assert(
        fc.asyncProperty(endpoints, models, twists, async (endpoint, model, twist) => {
          const body = twist({ model, ...ORDERLY[endpoint] })
          notOurFault(await patiently(() => raw.post(endpoint, body)))
        }),
        { numRuns: 300 },
      )
    })
  })

function notOurFault({ status, body }: RawAnswer): void {
  assert.ok(status < 500, `${status}: ${JSON.stringify(body)}`)
  assert.doesNotMatch(String(body['stream']), /internal_error|ledger_unavailable/)
}

/** A busy disk is a reason to retry; a body that the books cannot store stays refused. */
async function patiently(ask: () => Promise<RawAnswer>): Promise<RawAnswer> {
  for (let tries = 1; ; tries++) {
    const answer = await ask()
    if (answer.status !== 503 || tries === 5) return answer
  }
}

/** Words with a meaning in some format, which lead random values to places that are read. */
const WORDS = [
  ...['messages', 'input', 'content', 'role', 'user', 'assistant', 'tool', 'system', 'type'],
  ...['text', 'input_text', 'output_text', 'image', 'image_url', 'source', 'base64', 'data'],
  ...['tools', 'tool_choice', 'function', 'name', 'parameters', 'input_schema', 'tool_calls'],
  ...['tool_use', 'tool_result', 'tool_use_id', 'id', 'call_id', 'function_call', 'arguments'],
  ...['function_call_output', 'output', 'thinking', 'signature', 'reasoning', 'summary', 'n'],
  ...['max_tokens', 'max_output_tokens', 'stop', 'stream', 'response_format', 'format', 'schema'],
  ...['json_schema', 'metadata', 'temperature', 'cache_control', 'ttl', 'ephemeral', 'effort'],
  ...['__proto__', 'constructor', 'toString', 'data:image/png;base64,AAAA', 'https://x.y/z'],
]

const word = fc.oneof(fc.constantFrom(...WORDS), fc.string({ unit: 'binary', maxLength: 5 }))
const leaf = fc.oneof(word, fc.integer(), fc.double(), fc.boolean(), fc.constant(null))
const { value: anything } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    leaf as fc.Arbitrary<Json>,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(word, tie('value'), { maxKeys: 4 }) as fc.Arbitrary<Json>,
  ),
}))

/** A valid body with one to three fields replaced, at the top or deeper. */
const twists = fc
  .array(fc.tuple(fc.constantFrom(...WORDS), anything, fc.boolean()), {
    minLength: 1,
    maxLength: 3,
  })
  .map((changes) => (body: JsonObject): JsonObject => {
    let twisted: JsonObject = body
    for (const [name, value, isDeep] of changes)
      twisted = isDeep ? deepened(twisted, name, value) : { ...twisted, [name]: value }
    return twisted
  })

function deepened(body: JsonObject, name: string, value: Json): JsonObject {
  const message = { role: 'user', content: [{ type: name, [name]: value, text: 'x' }] }
  const list = 'input' in body ? 'input' : 'messages'
  return { ...body, [list]: [message, { role: 'user', content: 'x', [name]: value }] }
}
