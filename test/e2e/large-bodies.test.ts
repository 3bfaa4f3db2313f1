// No body holds up a gateway: while it reads and translates the largest bodies it accepts, with the worst that each list
// may contain, it keeps answering others. Its serving thread turns at least every 150 ms of its own work, on a machine as
// fast as the one this was measured on. `IDLE=1` also holds /healthz to 150 ms by the clock, for a machine that does
// nothing else; `ALL=1` sends each body to every format, and not some of them to one in turn: that each pass over each
// body is linear is tested in test/integration/large-bodies.test.ts.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, describe, test } from 'node:test'
import { Worker } from 'node:worker_threads'

import type { Format } from '../../src/core/endpoints.ts'
import type { TestGateway } from '../support/gateway.ts'
import { startGateway } from '../support/gateway.ts'
import type { TestProvider } from '../support/provider.ts'
import { startProvider } from '../support/provider.ts'
import type { WorstBody } from '../support/worst-bodies.ts'
import { worstBodies } from '../support/worst-bodies.ts'

const PATHS: Record<Format, string> = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
  embeddings: '/v1/embeddings',
}
/** The models, by the format in which each is called. */
const UPSTREAM = ['chat', 'strict', 'responses', 'messages', 'gemini', 'converse'] as const
const EMBEDDING = ['embeddings', 'gemini-embeddings'] as const
/** What the provider says about whatever it is sent. */
const SEEN = 'the provider has seen it'
const BYTES_MAX = 31_000_000
/** Sent in turn until one is accepted. */
const COUNTS = [150_000, 90_000, 48_000, 24_000, 9_900, 4_900, 60]

const SAMPLE = 500
/** In texts they count less than elsewhere. */
const CONTAINERS_FAR = 120_000

const IS_WHOLE = process.env['ALL'] !== undefined
/** One body in so many; no factor of the number of models, so that each of them has its turn. */
const SENT_EVERY = IS_WHOLE ? 1 : 5

const TURN_MS_MAX = 150
/** What the fixed piece of work took on the machine that the limit is for. */
const REFERENCE_MS = 40

describe('the largest bodies', () => {
  let provider: TestProvider
  let gateway: TestGateway
  let secret: string
  let health: Worker
  let signals = 0

  before(async () => {
    provider = await startProvider((_, response) => {
      response.writeHead(400, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ error: { message: SEEN } }))
    })
    const { url } = provider
    const facts = 'price: { input: 0, output: 0 }, context: 1000000, max_output: 1000'
    const embeds = 'kind: embedding, price: { input: 0 }, context: 8192'
    gateway = await startGateway({
      env: {
        NODE_OPTIONS: `--import ${new URL('../support/programs/turn-watch.ts', import.meta.url)}`,
      },
      config: `
providers:
  chat: { kind: openai, api: chat, base_url: "${url}/v1", api_key: x }
  strict: { kind: openai, preset: mistral, base_url: "${url}/v1", api_key: x }
  responses: { kind: openai, api: responses, base_url: "${url}/v1", api_key: x }
  messages: { kind: anthropic, base_url: "${url}", api_key: x }
  gemini: { kind: gemini, base_url: "${url}", api_key: x }
  converse: { kind: bedrock, region: eu-central-1, base_url: "${url}", api_key: x }
models:
${UPSTREAM.map((name) => `  ${name}: { targets: [${name}/m], ${facts} }`).join('\n')}
  embeddings: { targets: [chat/e], ${embeds} }
  gemini-embeddings: { targets: [gemini/e], ${embeds} }
`,
    })
    secret = await gateway.key('app', [...UPSTREAM, ...EMBEDDING].join(','))
    health = new Worker(new URL('../support/programs/health-watch.ts', import.meta.url), {
      workerData: gateway.url,
    })
    // What is compiled and loaded with the first requests is no matter of their size.
    for (const model of UPSTREAM) await send('chat', small(model))
    await longestTurn()
  })
  after(async () => {
    await health.terminate()
    await gateway.stop('SIGKILL')
    await provider[Symbol.asyncDispose]()
  })

  const small = (model: string): string =>
    JSON.stringify({ model, messages: [{ role: 'user', content: 'x' }] })

  async function send(format: Format, body: string): Promise<string> {
    const response = await fetch(gateway.url + PATHS[format], {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'x-api-key': secret },
      body,
    })
    assert.equal(response.status, 400)
    return response.text()
  }

  /** Refused ones are no less watched. Returns what was said about the last. */
  async function sendLargest({ format, make }: WorstBody, model: string): Promise<string> {
    const sample = JSON.stringify(make(SAMPLE))
    const containers = sample.split(/[[{]/).length
    let told = ''
    for (const count of COUNTS) {
      // Most that are far too large are not even made.
      const growth = count / SAMPLE
      if (sample.length * growth > 2 * BYTES_MAX || containers * growth > CONTAINERS_FAR) continue
      const text = JSON.stringify({ ...make(count), model })
      if (text.length > BYTES_MAX) continue
      told = await send(format, text)
      if (told.includes(SEEN)) break
    }
    return told.slice(0, 200)
  }

  /** Of the serving thread since the last call, and its limit on this machine. */
  async function longestTurn(): Promise<{ readonly ms: number; readonly msMax: number }> {
    process.kill(gateway.pid, 'SIGUSR2')
    const [, ms, referenceMs] = await gateway.printed(
      new RegExp(`until signal ${++signals}: ([\\d.]+) ms, reference ([\\d.]+) ms`),
    )
    return { ms: Number(ms), msMax: TURN_MS_MAX * Math.max(1, Number(referenceMs) / REFERENCE_MS) }
  }

  async function turnOf(body: WorstBody, model: string) {
    const told = await sendLargest(body, model)
    return { told, ...(await longestTurn()) }
  }

  for (const [index, body] of worstBodies().entries()) {
    if (index % SENT_EVERY !== 0) continue
    test(`${body.format}: ${body.list}`, async (t) => {
      const models = body.format === 'embeddings' ? EMBEDDING : UPSTREAM
      const next = models.slice(index % models.length).slice(0, 1)
      for (const model of IS_WHOLE ? models : next) {
        let turn = await turnOf(body, model)
        // What a machine does to its guests for a second counts as their own time; what a body does, it does again.
        for (let again = 0; turn.ms >= turn.msMax && again < 2; again++)
          turn = await turnOf(body, model)
        const { told, ms, msMax } = turn
        t.diagnostic(`${model}: ${told}, longest turn ${ms} ms`)
        assert.ok(ms < msMax, `a turn of ${ms} ms for ${model}, more than ${Math.round(msMax)} ms`)
      }
    })
  }

  test('/healthz is answered meanwhile', async (t) => {
    health.postMessage('over')
    const [{ slowestMs, answers }] = (await once(health, 'message')) as [
      { readonly slowestMs: number; readonly answers: number },
    ]
    t.diagnostic(`${answers} answers, the slowest after ${Math.round(slowestMs)} ms`)
    assert.ok(answers > 0)
    if (process.env['IDLE'] !== undefined) assert.ok(slowestMs < 150, `${slowestMs} ms`)
  })
})
