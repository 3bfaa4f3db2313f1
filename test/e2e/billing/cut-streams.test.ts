// A client that reads a whole answer and cuts the connection before the provider reports its counts is charged like any
// other. Every client format over every provider format; the provider counts hidden reasoning, so that the received text
// says little about the cost.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { after, before, describe, test } from 'node:test'
import type { Format } from '../../fixtures/recorded.ts'
import {
  formatAt,
  FORMATS,
  LAST_WORD,
  modelOver,
  modelsOver,
  PATHS,
  recorded,
} from '../../fixtures/recorded.ts'
import type { TestGateway } from '../../support/gateway.ts'
import { startGateway } from '../../support/gateway.ts'
import type { TestProvider } from '../../support/provider.ts'
import { startProvider } from '../../support/provider.ts'
import { until } from '../../support/until.ts'

const BODIES: Record<Format, object> = {
  chat: { messages: [{ role: 'user', content: 'When?' }] },
  responses: { input: 'When?' },
  messages: { max_tokens: 1000, messages: [{ role: 'user', content: 'When?' }] },
}

describe('a client that cuts the stream before the usage pays the full cost', () => {
  let provider: TestProvider
  let gateway: TestGateway
  let secret: string
  /** Resolves when the client has all the words and, if it is to leave, the gateway has noticed that. */
  let hasRead: PromiseWithResolvers<void>

  before(async () => {
    provider = await startProvider(({ url }, response) => {
      const [words, rest] = recorded(formatAt(url))
      const claim = rest.replaceAll(/"(completion|output)_tokens":7/g, '"$1_tokens":500')
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(words)
      void hasRead.promise.then(() => response.end(claim))
    })
    const facts = 'price: { input: 1, output: 2 }, context: 100000, max_output: 1000'
    gateway = await startGateway({ config: modelsOver(provider.url, facts) })
    secret = await gateway.key('app', FORMATS.map(modelOver).join(','))
  })
  after(async () => {
    await gateway.stop()
    await provider[Symbol.asyncDispose]()
  })

  /** Reads up to the last word, then leaves or reads on to the end. Returns the request id. */
  async function read(format: Format, model: string, goes: boolean): Promise<string> {
    hasRead = Promise.withResolvers<void>()
    const asking = request(`${gateway.url}${PATHS[format]}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'x-api-key': secret },
    })
    asking.end(JSON.stringify({ model, stream: true, ...BODIES[format] }))
    const [response] = (await once(asking, 'response')) as [IncomingMessage]
    let text = ''
    try {
      for await (const chunk of response) {
        text += String(chunk)
        if (!text.includes(LAST_WORD)) continue
        if (goes) await hangUp(response)
        hasRead.resolve()
      }
    } catch (thrown) {
      if (!goes) throw thrown
    }
    assert.ok(text.includes(LAST_WORD), text)
    return String(response.headers['x-request-id'])
  }

  /** Resolves when the gateway has noticed: it learns of the reset before it can answer a later connection. */
  async function hangUp({ socket }: IncomingMessage): Promise<void> {
    socket.resetAndDestroy()
    await fetch(`${gateway.url}/healthz`)
  }

  /** The request as its key sees it, once it is settled. */
  async function settled(
    id: string,
  ): Promise<{ cost: string; status: number; estimated: boolean }> {
    const headers = { authorization: `Bearer ${secret}` }
    const found = await until(async () => {
      const response = await fetch(`${gateway.url}/v1/requests/${id}`, { headers })
      return response.status === 200 && response
    })
    return found.json() as never
  }

  for (const client of FORMATS)
    for (const upstream of FORMATS)
      test(`${client} over ${upstream}`, async () => {
        const whole = await settled(await read(client, modelOver(upstream), false))
        const cut = await settled(await read(client, modelOver(upstream), true))
        assert.deepEqual([cut.cost, cut.estimated], [whole.cost, false])
        assert.deepEqual([whole.status, cut.status], [200, 499])
        assert.ok(Number(whole.cost) > 0.001)
      })
})
