// A request body is released once its answer has begun: long prompts with slow answers take neither memory nor the room
// that other requests need.
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { after, before, describe, test } from 'node:test'
import type { Format } from '../fixtures/recorded.ts'
import { formatAt, FORMATS, modelOver, modelsOver, PATHS, recorded } from '../fixtures/recorded.ts'
import type { TestGateway } from '../support/gateway.ts'
import { startGateway } from '../support/gateway.ts'
import type { TestProvider } from '../support/provider.ts'
import { startProvider } from '../support/provider.ts'

/** All bodies together may take eight times the limit of 1 MB; this many exceed that. */
const STREAMS = 12
const PROMPT = 'Who paid the toll? '.repeat(50_000)

const BODIES: Record<Format, object> = {
  chat: { messages: [{ role: 'user', content: PROMPT }] },
  responses: { input: PROMPT, store: false },
  messages: { max_tokens: 100, messages: [{ role: 'user', content: PROMPT }] },
}

describe('open streams do not keep their long prompts in memory', () => {
  let provider: TestProvider
  let gateway: TestGateway
  let secret: string
  /** Answers the provider has begun and not ended. */
  const open: (() => void)[] = []

  before(async () => {
    provider = await startProvider(({ url }, response) => {
      open.push(begin(formatAt(url), response))
    })
    const facts = 'price: { input: 0, output: 0 }, context: 1000000, max_output: 1000'
    gateway = await startGateway({
      env: {
        NODE_OPTIONS: `--expose-gc --import ${new URL('../support/programs/memory-on-signal.ts', import.meta.url)}`,
      },
      config: `server: { body_limit: 1MB }\n${modelsOver(provider.url, facts)}`,
    })
    secret = await gateway.key('app', FORMATS.map(modelOver).join(','))
  })
  after(async () => {
    await gateway.stop()
    await provider[Symbol.asyncDispose]()
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
          answers.push(await ask(client, modelOver(upstream)))
        try {
          // The first stream pays the one-time costs.
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

/** Begins a recorded answer; calling the returned function sends the rest. */
function begin(format: Format, response: ServerResponse): () => void {
  const [words, rest] = recorded(format)
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(words)
  return () => response.end(rest)
}

async function textUnlessOk(response: Response): Promise<string> {
  return response.ok ? '' : response.text()
}
