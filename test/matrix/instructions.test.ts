// What a client asks of every answer, kept to by the sandbox in every format, whatever format it is asked in: JSON
// without a schema, no reasoning, one fixed answer; and the ids of answers and calls.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import type { TestGateway } from '../support/gateway.ts'
import { startGateway } from '../support/gateway.ts'
import type { Body, Raw } from './raw.ts'
import { rawCalls } from './raw.ts'

const UPSTREAMS = ['', '@responses', '@messages']
const CLIENTS = ['chat', 'responses', 'messages'] as const
type Client = (typeof CLIENTS)[number]

let gateway: TestGateway
let raw: Raw

before(async () => {
  gateway = await startGateway()
  const models = ['sandbox-chat', 'sandbox-reasoner'].flatMap((model) =>
    UPSTREAMS.map((upstream) => model + upstream),
  )
  raw = rawCalls(gateway, await gateway.key('app', models.join(',')))
})
after(() => gateway.stop())

type Prompt = { readonly model: string; readonly text: string; readonly more?: Body }

async function ask(client: Client, { model, text, more }: Prompt): Promise<Body> {
  const said = [{ role: 'user', content: text }]
  const body = client === 'responses' ? { input: said } : { messages: said }
  const limit = client === 'messages' ? { max_tokens: 1000 } : {}
  const answer = await raw.post(client, { model, ...body, ...limit, ...more })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return answer.body
}

function textOf(client: Client, body: Body): string {
  if (client === 'chat') return body['choices'][0].message.content
  const items: Body[] = client === 'messages' ? body['content'] : body['output']
  const parts = client === 'messages' ? items : items.flatMap(({ content }) => content ?? [])
  return parts.map(({ text }: Body) => text ?? '').join('')
}

const systemIn = (client: Client, text: string): Body =>
  client === 'chat'
    ? { messages: [{ role: 'system', content: text }, ...USER] }
    : { [client === 'responses' ? 'instructions' : 'system']: text }
const USER = [{ role: 'user', content: 'What is the weather in Paris?' }]

for (const upstream of UPSTREAMS)
  describe(`upstream sandbox${upstream}`, () => {
    for (const client of CLIENTS) {
      test(`${client}: a system prompt that asks for a fixed answer`, async () => {
        for (const [system, expected] of [
          ['You are a test. Answer only with the word PONG.', 'PONG'],
          ['Reply with exactly: all is well', 'all is well'],
        ] as const) {
          const more = systemIn(client, system)
          const { content = '' } = USER[0] ?? {}
          const body = await ask(client, { model: `sandbox-chat${upstream}`, text: content, more })
          assert.equal(textOf(client, body), expected)
        }
      })

      test(`${client}: no reasoning`, async () => {
        const more = {
          chat: { reasoning_effort: 'none' },
          responses: { reasoning: { effort: 'none' } },
          messages: { thinking: { type: 'disabled' } },
        }[client]
        const model = `sandbox-reasoner${upstream}`
        const body = await ask(client, { model, text: 'Say hello', more })
        assert.equal(textOf(client, body), 'hello')
        const { usage } = body
        // "hello" has two tokens.
        assert.equal(usage.completion_tokens ?? usage.output_tokens, 2)
      })

      if (client !== 'messages')
        test(`${client}: JSON without a schema`, async () => {
          const format = { type: 'json_object' }
          const more = client === 'chat' ? { response_format: format } : { text: { format } }
          const model = `sandbox-chat${upstream}`
          const body = await ask(client, { model, text: 'Say hello, in JSON', more })
          assert.deepEqual(JSON.parse(textOf(client, body)), { answer: 'hello, in JSON' })
        })
    }

    test('a chat completion has an id of the usual form, the same in all its chunks', async () => {
      const prompt = { model: `sandbox-chat${upstream}`, text: 'Say hello there' }
      const whole = await ask('chat', prompt)
      assert.match(whole['id'], /^chatcmpl-\w+$/)
      const { stream } = await ask('chat', { ...prompt, more: { stream: true } })
      const ids = new Set([...stream.matchAll(/"id":"([^"]*)"/g)].map(([, id]) => id))
      assert.equal(ids.size, 1)
      assert.match([...ids].join(), /^chatcmpl-\w+$/)
    })

    test('calls have other ids in every answer', async () => {
      const tools = [
        { type: 'function', function: { name: 'clock', parameters: { type: 'object' } } },
      ]
      const prompt = { model: `sandbox-chat${upstream}`, text: 'Use clock', more: { tools } }
      const asked = [await ask('chat', prompt), await ask('chat', prompt)]
      const ids = asked.map(({ choices }) => choices[0].message.tool_calls[0].id)
      assert.equal(new Set(ids).size, 2, ids.join())
    })
  })
