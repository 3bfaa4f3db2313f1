// What a client sent is let go once its answer has begun: long prompts of slow answers take neither memory nor the room
// that other requests need.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'

import type { TestGateway } from '../support/gateway.ts'
import { startGateway } from '../support/gateway.ts'

const FORMATS = ['chat', 'responses', 'messages'] as const
type Format = (typeof FORMATS)[number]

const PATHS: Record<Format, string> = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
}
/** All bodies together may take eight times the limit of 1 MB, and so many of these are more. */
const STREAMS = 12
const PROMPT = 'Who paid the toll? '.repeat(50_000)

const BODIES: Record<Format, object> = {
  chat: { messages: [{ role: 'user', content: PROMPT }] },
  responses: { input: PROMPT, store: false },
  messages: { max_tokens: 100, messages: [{ role: 'user', content: PROMPT }] },
}

describe('open streams with long prompts', () => {
  let provider: Server
  let gateway: TestGateway
  let secret: string
  /** Begun by the provider, and not ended. */
  const open: (() => void)[] = []

  before(async () => {
    provider = createServer((message, response) => {
      const format = FORMATS.find((each) => PATHS[each] === message.url) ?? 'chat'
      message.resume().once('end', () => open.push(begin(format, response)))
    })
    await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
    const base = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`
    const facts = 'price: { input: 0, output: 0 }, context: 1000000, max_output: 1000'
    gateway = await startGateway({
      env: {
        NODE_OPTIONS: `--expose-gc --import ${new URL('../support/memory-on-signal.ts', import.meta.url)}`,
      },
      config: `
server: { body_limit: 1MB }
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

  /** Resolves with the first piece of the answer. */
  async function ask(format: Format, model: string): Promise<AsyncIterator<Uint8Array>> {
    const response = await fetch(`${gateway.url}${PATHS[format]}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'x-api-key': secret },
      body: JSON.stringify({ model, stream: true, ...BODIES[format] }),
    })
    assert.equal(response.status, 200, await textUnlessOk(response))
    assert.ok(response.body)
    const pieces = response.body[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>
    await pieces.next()
    return pieces
  }

  let signals = 0

  async function bytesInUse(): Promise<number> {
    process.kill(gateway.pid, 'SIGUSR2')
    const [, bytes] = await gateway.printed(
      new RegExp(`in use at signal ${++signals}: (\\d+) bytes`),
    )
    return Number(bytes)
  }

  for (const client of FORMATS)
    for (const upstream of FORMATS)
      test(`${client} over ${upstream}`, async () => {
        const answers: AsyncIterator<Uint8Array>[] = []
        const openOne = async (): Promise<unknown> =>
          answers.push(await ask(client, `over-${upstream}`))
        try {
          // What the first one needs once is there for the others.
          await openOne()
          const before = await bytesInUse()
          while (answers.length < STREAMS) await openOne()
          const each = ((await bytesInUse()) - before) / (STREAMS - 1)
          assert.ok(each < PROMPT.length / 4, `${Math.round(each)} bytes for each open stream`)
        } finally {
          for (const end of open.splice(0)) end()
        }
        for (const answer of answers) while ((await answer.next()).done !== true);
      })
})

/** Begins a recorded answer; the rest of it comes when the returned function is called. */
function begin(format: Format, response: ServerResponse): () => void {
  const file = new URL(`../fixtures/providers/${format}.sse`, import.meta.url)
  const text = readFileSync(file, 'utf8')
  const words = text.indexOf('\n\n', text.indexOf(LAST_WORD)) + 2
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(text.slice(0, words))
  return () => response.end(text.slice(words))
}

const LAST_WORD = 'noon.'

async function textUnlessOk(response: Response): Promise<string> {
  return response.ok ? '' : response.text()
}
