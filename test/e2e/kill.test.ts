// Gateways killed under load, on both databases, in front of a provider that keeps its own books: afterwards nothing
// leaks, nothing is overspent, and every answer anybody got is in Tollgate's. `ROUNDS=500 node --test …` runs more.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'

import { formatUsd, parseUsd } from '../../src/core/money.ts'
import type { TestGateway } from '../support/gateway.ts'
import { startGateway } from '../support/gateway.ts'
import { freshDatabase } from '../support/postgres.ts'

const ROUNDS = Number(process.env['ROUNDS'] ?? 5)
const CLIENTS = 6
const INPUT_TOKENS = 50
const OUTPUT_TOKENS = 200
/** At 1 and 2 USD per million tokens. */
const COST = BigInt(INPUT_TOKENS * 1_000 + OUTPUT_TOKENS * 2_000)
/** No call holds more than the whole context and the whole output. */
const HELD = BigInt(8_192 * 1_000 + 1_000 * 2_000)
const BUDGET_USD = 90

test(`SQLite: ${ROUNDS} gateways killed under load lose nothing`, () => killLoop(undefined, 1))

test(`PostgreSQL: ${ROUNDS} of three gateways killed under load lose nothing`, async () => {
  const database = await freshDatabase()
  try {
    await killLoop(database.url, 3)
  } finally {
    await database.drop()
  }
})

async function killLoop(database: string | undefined, count: number): Promise<void> {
  await using provider = await startProvider()
  const config = `
ledger: { beat: 0.2s, dead_after: 1s }
providers:
  local: { kind: openai, base_url: "${provider.url}" }
models:
  story: { targets: [local/story], price: { input: 1, output: 2 }, context: 8192, max_output: 1000 }
`
  const folders = Array.from({ length: count }, () => mkdtempSync(join(tmpdir(), 'tollgate-kill-')))
  const start = (folder: string): Promise<TestGateway> =>
    startGateway({ config, folder, ...(database === undefined ? {} : { database }) })
  const crew = await Promise.all(folders.map(start))
  const secret = (await crew[0]?.key('story', 'story', '--budget', String(BUDGET_USD))) ?? ''
  const answered = new Set<string>()
  let isOver = false
  const client = async (index: number): Promise<void> => {
    while (!isOver) {
      const id = await call(crew[index % count]?.url ?? '', secret, index % 2 === 0)
      if (id !== undefined) answered.add(id)
    }
  }
  const clients = Array.from({ length: CLIENTS }, (_, index) => client(index))
  for (let round = 0; round < ROUNDS; round++) {
    await pause(100 + Math.random() * 200)
    const victim = round % count
    await crew[victim]?.stop('SIGKILL')
    crew[victim] = await start(folders[victim] ?? '')
  }
  isOver = true
  await Promise.all(clients)
  const [keeper, ...others] = crew
  assert.ok(keeper !== undefined)
  await Promise.all(others.map((gateway) => gateway.stop()))
  await compare(keeper, secret, { answered, dispatched: provider.dispatched() })
  await keeper.stop()
  for (const folder of folders) rmSync(folder, { recursive: true })
}

type Truth = {
  /** The requests that were answered whole. */
  readonly answered: ReadonlySet<string>
  /** How many calls the provider got. */
  readonly dispatched: number
}

async function compare(gateway: TestGateway, secret: string, truth: Truth): Promise<void> {
  const key = await quiet(gateway)
  assert.deepEqual(await gateway.tollgate('ledger', 'verify', '--quiescent'), {
    ok: true,
    violations: [],
  })
  const spent = parseUsd(String(key['spent']))
  assert.ok(truth.answered.size > ROUNDS, `only ${truth.answered.size} answers`)
  // Of what was cut off nobody knows what the provider did for it: it costs something, and at most what was held.
  const cutOff = BigInt(truth.dispatched - truth.answered.size)
  const least = COST * BigInt(truth.answered.size)
  assert.ok(
    spent >= least && spent <= least + HELD * cutOff,
    `${formatUsd(spent)} for ${truth.dispatched} calls`,
  )
  for (const id of truth.answered) {
    const response = await fetch(`${gateway.url}/v1/requests/${id}`, {
      headers: { authorization: `Bearer ${secret}` },
    })
    const row = (await response.json()) as { cost?: string; status?: number }
    assert.deepEqual([row.status, row.cost], [200, formatUsd(COST)], id)
  }
}

/** The key, once what the dead held has been charged. */
async function quiet(gateway: TestGateway): Promise<Record<string, unknown>> {
  for (;;) {
    const key = await gateway.tollgate('keys', 'show', 'story')
    if (key['held'] === '0') return key
    await pause(200)
  }
}

/** The id of a request that was answered whole; undefined when the gateway died meanwhile. */
async function call(url: string, secret: string, stream: boolean): Promise<string | undefined> {
  try {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}` },
      body: JSON.stringify({
        model: 'story',
        stream,
        max_tokens: 1000,
        messages: [{ role: 'user', content: 'Tell me a story.' }],
      }),
    })
    const body = await response.text()
    const isWhole = response.status === 200 && (!stream || body.endsWith('data: [DONE]\n\n'))
    return isWhole ? (response.headers.get('x-request-id') ?? undefined) : undefined
  } catch {
    await pause(20)
    return undefined
  }
}

type TestProvider = AsyncDisposable & { readonly url: string; dispatched(): number }

/** An OpenAI-compatible provider whose answers take a moment and always cost the same. */
async function startProvider(): Promise<TestProvider> {
  let dispatched = 0
  const usage = {
    prompt_tokens: INPUT_TOKENS,
    completion_tokens: OUTPUT_TOKENS,
    total_tokens: INPUT_TOKENS + OUTPUT_TOKENS,
  }
  const head = { id: 'chatcmpl-1', created: 1, model: 'story' }
  const answer = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    dispatched++
    const body = await text(message)
    await pause(10 + Math.random() * 40)
    if (!body.includes('"stream":true')) {
      response.setHeader('content-type', 'application/json')
      const choice = { index: 0, finish_reason: 'stop', logprobs: null }
      const choices = [
        { ...choice, message: { role: 'assistant', content: 'Once.', refusal: null } },
      ]
      response.end(JSON.stringify({ ...head, object: 'chat.completion', choices, usage }))
      return
    }
    response.setHeader('content-type', 'text/event-stream')
    const chunk = { ...head, object: 'chat.completion.chunk' }
    const send = (value: unknown): boolean => response.write(`data: ${JSON.stringify(value)}\n\n`)
    for (const content of ['Once ', 'upon ', 'a ', 'time.']) {
      send({
        ...chunk,
        choices: [{ index: 0, delta: { role: 'assistant', content }, finish_reason: null }],
      })
      await pause(5)
    }
    send({ ...chunk, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })
    send({ ...chunk, choices: [], usage })
    response.end('data: [DONE]\n\n')
  }
  const server = createServer((message, response) => {
    // A gateway that was killed hangs up in the middle.
    answer(message, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/v1`,
    dispatched: () => dispatched,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
