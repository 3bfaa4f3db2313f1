// What providers are really sent, whatever the client wrote: never more than is held for, and nothing that they refuse.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { after, before, test } from 'node:test'

import type { JsonObject } from '../../src/core/json.ts'
import type { TestGateway } from '../support/gateway.ts'
import { startGateway } from '../support/gateway.ts'
import { startProvider } from '../support/provider.ts'

type Told = { readonly headers: IncomingHttpHeaders; readonly body: JsonObject }

const FACTS = 'price: { input: 1, output: 2 }, context: 100000, max_output: 1000'
const HELLO = { messages: [{ role: 'user', content: 'When does the gate open?' }] }

const opened = new AsyncDisposableStack()
const told: Told[] = []
let gateway: TestGateway
let secret: string

before(async () => {
  const provider = opened.use(
    await startProvider(({ url = '', headers }, response, body) => {
      told.push({ headers, body: JSON.parse(body.toString()) as JsonObject })
      const format = url.includes('/chat/') ? 'chat' : 'messages'
      response.setHeader('content-type', 'application/json')
      response.end(readFileSync(new URL(`../fixtures/providers/${format}.json`, import.meta.url)))
    }),
  )
  gateway = opened.use(
    await startGateway({
      config: `
providers:
  local: { kind: openai, base_url: "${provider.url}/v1" }
models:
  house: { targets: [local/m], ${FACTS} }
`,
    }),
  )
  secret = await gateway.key('app', 'house')
})
after(() => opened.disposeAsync())

test('a limit is told by the name that compatible servers know, however the client wrote it', async () => {
  for (const limits of [
    '"max_tokens":100,"max_completion_tokens":null',
    '"max_completion_tokens":null,"max_tokens":100',
    '"max_completion_tokens":100,"max_tokens":null',
    '"max_completion_token\\u0073":100',
  ]) {
    const hello = JSON.stringify({ model: 'house', ...HELLO })
    const { body } = await ask('/v1/chat/completions', hello.replace('}]}', `}],${limits}}`))
    assert.deepEqual([body['max_tokens'], body['max_completion_tokens']], [100, undefined], limits)
  }
})

type Asked = Told & { readonly answer: Response }

/** Asks, and gives what the provider was told for it. */
async function ask(
  path: string,
  body: string | object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Asked> {
  const answer = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'x-api-key': secret, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  const [asked] = told.splice(0)
  assert.ok(asked, await answer.text())
  return { ...asked, answer }
}
