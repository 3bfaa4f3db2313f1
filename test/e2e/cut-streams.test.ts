// A client that reads all of an answer and cuts the connection before the provider has told what it counted: it is
// charged what everybody is charged. Every format a client speaks, over every format a provider speaks; the provider
// counts thoughts that nobody gets to see, so that what was received tells little about what is owed.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import type { Server } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'

import type { TestGateway } from '../support/gateway.ts'
import { startGateway } from '../support/gateway.ts'

const FORMATS = ['chat', 'responses', 'messages'] as const
type Format = (typeof FORMATS)[number]

const PATHS: Record<Format, string> = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
}
const BODIES: Record<Format, object> = {
  chat: { messages: [{ role: 'user', content: 'When?' }] },
  responses: { input: 'When?' },
  messages: { max_tokens: 1000, messages: [{ role: 'user', content: 'When?' }] },
}
const LAST_WORD = 'noon.'

/** A recorded stream that claims 500 tokens: its words, and what comes after them. */
function recorded(format: Format): readonly [words: string, rest: string] {
  const file = new URL(`../fixtures/providers/${format}.sse`, import.meta.url)
  const text = readFileSync(file, 'utf8').replaceAll(
    /"(completion|output)_tokens":7/g,
    '"$1_tokens":500',
  )
  const end = text.indexOf('\n\n', text.indexOf(LAST_WORD)) + 2
  return [text.slice(0, end), text.slice(end)]
}

describe('a client that cuts the stream before the usage', () => {
  let provider: Server
  let gateway: TestGateway
  let secret: string
  /** Resolves when the client has all the words, and has gone if it wants to. */
  let hasRead: PromiseWithResolvers<void>

  before(async () => {
    provider = createServer((message, response) => {
      const format = FORMATS.find((each) => PATHS[each] === message.url) ?? 'chat'
      const [words, rest] = recorded(format)
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(words)
      void hasRead.promise.then(() => pause(50)).then(() => response.end(rest))
    })
    await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
    const base = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`
    const facts = 'price: { input: 1, output: 2 }, context: 100000, max_output: 1000'
    gateway = await startGateway({
      config: `
providers:
  chat: { kind: openai, base_url: "${base}/v1", api: chat }
  responses: { kind: openai, base_url: "${base}/v1", api: responses }
  messages: { kind: anthropic, base_url: "${base}", api_key: x }
models:
${FORMATS.map((format) => `  over-${format}: { targets: [${format}/m], ${facts} }`).join('\n')}
`,
    })
    secret = await gateway.key('app', FORMATS.map((format) => `over-${format}`).join(','))
  })
  after(async () => {
    await gateway.stop()
    provider.closeAllConnections()
    provider.close()
  })

  /** Reads until the last word has come, then goes, or reads on to the end. Returns the id of the request. */
  async function read(format: Format, model: string, goes: boolean): Promise<string> {
    hasRead = Promise.withResolvers<void>()
    const leaving = new AbortController()
    const response = await fetch(`${gateway.url}${PATHS[format]}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'x-api-key': secret },
      body: JSON.stringify({ model, stream: true, ...BODIES[format] }),
      signal: leaving.signal,
    })
    const id = response.headers.get('x-request-id') ?? ''
    let text = ''
    try {
      for await (const chunk of response.body ?? []) {
        text += Buffer.from(chunk).toString()
        if (!text.includes(LAST_WORD)) continue
        if (goes) leaving.abort()
        hasRead.resolve()
      }
    } catch (thrown) {
      if (!leaving.signal.aborted) throw thrown
    }
    assert.ok(text.includes(LAST_WORD), text)
    return id
  }

  /** The request as its key is shown it, once it is settled. */
  async function settled(
    id: string,
  ): Promise<{ cost: string; status: number; estimated: boolean }> {
    for (;;) {
      const headers = { authorization: `Bearer ${secret}` }
      const response = await fetch(`${gateway.url}/v1/requests/${id}`, { headers })
      if (response.status === 200) return response.json() as never
      await pause(20)
    }
  }

  for (const client of FORMATS)
    for (const upstream of FORMATS)
      test(`${client} over ${upstream}`, async () => {
        const whole = await settled(await read(client, `over-${upstream}`, false))
        const cut = await settled(await read(client, `over-${upstream}`, true))
        assert.deepEqual([cut.cost, cut.estimated], [whole.cost, false])
        assert.deepEqual([whole.status, cut.status], [200, 499])
        assert.ok(Number(whole.cost) > 0.001)
      })
})
