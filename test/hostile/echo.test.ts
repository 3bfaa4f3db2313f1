// Providers that quote the key of a request in their answers: no client reads it, and the log does not contain it.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { recorded } from '../fixtures/recorded.ts'
import type { TestGateway } from '../support/gateway.ts'
import { startGateway } from '../support/gateway.ts'
import type { TestProvider } from '../support/provider.ts'
import { startProvider } from '../support/provider.ts'

/** In no usual shape, so that only knowing it helps. */
const KEY = 'house/key.0123456789'

const WRITTEN = [
  KEY,
  KEY.replaceAll('/', String.raw`\/`),
  KEY.replaceAll('e', String.raw`\u0065`),
  encodeURIComponent(KEY),
]

describe('a provider that quotes its key', () => {
  let provider: TestProvider
  let gateway: TestGateway
  let secret: string
  let status = 200
  /** The chunks of its answer. */
  let chunks: readonly string[] = []

  before(async () => {
    provider = await startProvider(async (_message, response) => {
      response.writeHead(status, { 'content-type': 'application/json' })
      for (const chunk of chunks) await new Promise((sent) => response.write(chunk, sent))
      response.end()
    })
    gateway = await startGateway({
      config: `
providers: { local: { kind: openai, base_url: "${provider.url}/v1", api: chat, api_key: "${KEY}" } }
models: { m: { targets: [local/m], price: { input: 1, output: 2 }, context: 100000, max_output: 1000 } }
`,
    })
    secret = await gateway.key('app', 'm')
  })
  after(async () => {
    await gateway.stop()
    await provider[Symbol.asyncDispose]()
  })

  async function ask(path: string, stream: boolean): Promise<string> {
    const answer = await fetch(gateway.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'x-api-key': secret },
      body: JSON.stringify({
        model: 'm',
        max_tokens: 100,
        stream,
        messages: [{ role: 'user', content: 'Well?' }],
      }),
    })
    return [...answer.headers.values(), await answer.text()].join('\n')
  }

  /** Where the key would be, something else is. */
  async function nothingLeaks(stream: boolean): Promise<void> {
    for (const path of ['/v1/chat/completions', '/v1/messages']) {
      const told = await ask(path, stream)
      assert.match(told, /\[redacted\]/, told)
      for (const form of WRITTEN) assert.ok(!told.includes(form), told)
    }
    assert.doesNotMatch(JSON.stringify(gateway.log()), /0123456789/)
  }

  for (const form of WRITTEN) {
    const error = `{"error":{"message":"bad key ${form}","type":"invalid_request_error","param":"${form}","code":"${form}"}}`
    for (const code of [200, 400])
      test(`in an error with status ${code}, as ${form}`, async () => {
        status = code
        chunks = [error]
        await nothingLeaks(false)
      })

    test(`in an error event, as ${form}, also cut in two`, async () => {
      const [words] = recorded('chat')
      status = 200
      chunks = [`data: ${error}\n\n`]
      await nothingLeaks(true)
      const cut = words.length + 6 + error.indexOf(form) + 5
      const text = `${words}data: ${error}\n\n`
      chunks = [text.slice(0, cut), text.slice(cut)]
      await nothingLeaks(true)
    })

    test(`in what the model is said to have written, as ${form}`, async () => {
      const [words, rest] = recorded('chat')
      status = 200
      const text = words.replace('noon.', `noon. ${form}`) + rest
      const cut = text.indexOf(form) + 5
      chunks = [text.slice(0, cut), text.slice(cut)]
      await nothingLeaks(true)
    })
  }
})
