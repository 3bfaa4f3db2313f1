// Snippets are complete, with the reader's address and a call that the key may make; the secret is in none of them.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ENDPOINTS, type Endpoint } from '../../../../src/core/endpoints.ts'
import { environmentText } from './environment.ts'
import { callsBy, callsOf, SNIPPETS, snippetText } from './snippets.ts'

const baseUrl = 'https://gateway.example.com'
const chat = { id: 'sandbox-chat', kind: 'chat' } as const
const embedding = { id: 'sandbox-embedding', kind: 'embedding' } as const
const every = callsOf({ permissions: ENDPOINTS, models: [embedding, chat] })
const callAt = (endpoint: Endpoint) => every.filter((call) => call.endpoint === endpoint)

for (const snippet of SNIPPETS)
  describe(snippet, () => {
    for (const call of callsBy(snippet, every)) {
      const text = snippetText(snippet, call, baseUrl)

      test(`${call.endpoint}: names the address and the model`, () => {
        assert.ok(text.includes(baseUrl))
        assert.ok(text.includes(call.endpoint === 'embeddings' ? embedding.id : chat.id), text)
      })

      test(`${call.endpoint}: takes the secret from the environment`, () =>
        assert.match(text, /TOLLGATE_API_KEY/))

      test(`${call.endpoint}: imports what it uses`, () =>
        assert.equal(/^import os$/m.test(text), text.includes('os.environ')))
    }
  })

for (const [what, permissions, models, endpoints] of [
  ['everything', ENDPOINTS, [chat, embedding], ['chat', 'responses', 'messages', 'embeddings']],
  ['embeddings alone', ['embeddings'], [chat, embedding], ['embeddings']],
  ['every endpoint, with no chat model', ENDPOINTS, [embedding], ['embeddings']],
  ['messages', ['models', 'messages', 'count_tokens'], [chat], ['messages']],
  ['nothing that costs', ['models', 'count_tokens'], [chat], ['models']],
] as const)
  test(`a key that may call ${what} is shown: ${endpoints.join(', ')}`, () =>
    assert.deepEqual(
      callsOf({ permissions, models }).map(({ endpoint }) => endpoint),
      endpoints,
    ))

test('a client is offered where it can make a call of the key', () => {
  const offered = (calls: typeof every) =>
    SNIPPETS.filter((each) => callsBy(each, calls).length > 0)
  assert.deepEqual(offered(every), SNIPPETS)
  assert.deepEqual(offered(callAt('embeddings')), ['curl', 'python', 'typescript', 'langchain'])
  assert.ok(!offered(callAt('chat')).includes('claude-code'))
  assert.ok(offered(callAt('messages')).includes('claude-code'))
  assert.ok(offered(callAt('responses')).includes('codex'))
  assert.deepEqual(offered(callsOf({ permissions: [], models: [] })), ['curl'])
})

test('every alias of Claude Code means the model', () => {
  const [text = ''] = callAt('messages').map((call) => snippetText('claude-code', call, baseUrl))
  for (const alias of ['OPUS', 'SONNET', 'HAIKU'])
    assert.match(text, new RegExp(`^export ANTHROPIC_DEFAULT_${alias}_MODEL=sandbox-chat$`, 'm'))
})

test('the body of the curl block is JSON, whatever was said', () => {
  const content = `It's "quoted"\nand \\ more`
  const body = { model: 'm', messages: [{ role: 'user', content }] }
  const text = snippetText('curl', { endpoint: 'chat', body }, baseUrl)
  const [, quoted = ''] = /-d '(.+)'$/s.exec(text) ?? []
  assert.deepEqual(JSON.parse(quoted.replaceAll(String.raw`'\''`, "'")), body)
})

test('a conversation is spelled as each language does', () => {
  const body = {
    model: 'm',
    messages: [
      { role: 'system', content: 'Be brief' },
      { role: 'user', content: `It's me` },
    ],
    temperature: 0.5,
  }
  const call = { endpoint: 'chat', body } as const
  assert.match(
    snippetText('python', call, baseUrl),
    /\(\n    model="m",\n    messages=\[\n        \{"role": "system", .+\n        .+"It's me"\},\n    \],\n    temperature=0\.5,\n\)/,
  )
  assert.match(
    snippetText('typescript', call, baseUrl),
    /\(\{\n  model: 'm',\n  messages: \[\n    \{ role: 'system', content: 'Be brief' \},\n    .+'It\\'s me' \},\n  \],\n  temperature: 0\.5,\n\}\)/,
  )
})

test('the lines of the environment have the secret', () =>
  assert.equal(
    environmentText('tg_live_secret', baseUrl),
    `TOLLGATE_API_KEY=tg_live_secret\nTOLLGATE_BASE_URL=${baseUrl}`,
  ))
