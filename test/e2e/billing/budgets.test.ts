// Budgets hold, seen from outside: three nodes over one PostgreSQL under concurrent load, and the books afterwards.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { systemClock } from '../../../src/core/clock.ts'
import { formatUsd, parseUsd } from '../../../src/core/money.ts'
import { createKey } from '../../../src/store/keys/lifecycle.ts'
import { openStore } from '../../../src/store/open.ts'
import type { TestGateway } from '../../support/gateway.ts'
import { startGateway } from '../../support/gateway.ts'
import type { TestDatabase } from '../../support/postgres/postgres.ts'
import { freshDatabase } from '../../support/postgres/postgres.ts'
import { startProvider } from '../../support/provider.ts'
import { newKey } from '../../support/store.ts'

type Outcome = { readonly status: number; readonly code?: string; readonly retries: number }

/** Calls until it is answered or refused for good, retrying whenever it is asked to. */
async function call(url: string, secret: string, body: object): Promise<Outcome> {
  for (let retries = 0; ; retries++) {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}` },
      body: JSON.stringify(body),
    })
    const answer = (await response.json()) as { error?: { code: string } }
    // Money that is held for others, and more calls at once than a busy machine can serve.
    if (response.status !== 429 && response.status !== 503) {
      return { status: response.status, retries, ...(answer.error && { code: answer.error.code }) }
    }
    await pause(200)
  }
}

/** The most that one call may cost, according to the gateway. */
async function worstCase(url: string, secret: string, body: object): Promise<bigint> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'x-tollgate-dry-run': '1' },
    body: JSON.stringify(body),
  })
  return parseUsd(((await response.json()) as { worst_case: string }).worst_case)
}

/** A call that uses its worst case to the last token, or only a part of it. */
const asking = (tokens: number) => ({
  model: 'sandbox-chat',
  max_tokens: 1000,
  messages: [{ role: 'user', content: `[[sandbox tokens=${tokens}]] Tell me a story.` }],
})

const succeeded = (outcomes: readonly Outcome[]): number =>
  outcomes.filter(({ status }) => status === 200).length

describe('three nodes over one PostgreSQL', () => {
  let database: TestDatabase
  let nodes: readonly TestGateway[]
  let first: TestGateway

  before(async () => {
    database = await freshDatabase()
    first = await startGateway({ database: database.url })
    nodes = [
      first,
      ...(await Promise.all([1, 2].map(() => startGateway({ database: database.url })))),
    ]
  })
  after(async () => {
    await Promise.all(nodes.map((node) => node.stop()))
    await database.drop()
  })

  const everywhere = (calls: number, one: (url: string, index: number) => Promise<Outcome>) =>
    Promise.all(
      Array.from({ length: calls }, (_, index) =>
        one(nodes[index % nodes.length]?.url ?? '', index),
      ),
    )

  const key = async (name: string): Promise<Record<string, unknown>> =>
    first.tollgate('keys', 'show', name)

  test('a budget for ten calls answers ten of two hundred made at once', async () => {
    const secret = await first.key('ten', 'sandbox-chat')
    const budget = 10n * (await worstCase(first.url, secret, asking(1000)))
    await first.tollgate(
      'keys',
      'update',
      'ten',
      '--budget',
      formatUsd(budget),
      '--when-tight',
      'refuse',
    )
    const outcomes = await everywhere(200, (url) => call(url, secret, asking(1000)))
    assert.equal(succeeded(outcomes), 10)
    assert.ok(
      outcomes.every(({ status, code }) => status === 200 || code === 'key_budget_exceeded'),
    )
    assert.equal((await key('ten'))['spent'], formatUsd(budget))
    const usage = await first.tollgate('usage', '--key', 'ten')
    assert.equal((usage['total'] as { cost: string }).cost, formatUsd(budget))
    assert.partialDeepStrictEqual(await first.tollgate('ledger', 'verify', '--quiescent'), {
      ok: true,
      violations: [],
    })
  })

  test('calls cheaper than their worst case use up the budget to the last one that fits', async () => {
    const secret = await first.key('thrifty', 'sandbox-chat')
    const worst = await worstCase(first.url, secret, asking(1000))
    const budget = 5n * worst
    await first.tollgate(
      'keys',
      'update',
      'thrifty',
      '--budget',
      formatUsd(budget),
      '--when-tight',
      'refuse',
    )
    const outcomes = await everywhere(60, (url) => call(url, secret, asking(200)))
    const spent = parseUsd(String((await key('thrifty'))['spent']))
    const cost = spent / BigInt(succeeded(outcomes))
    assert.ok(spent <= budget)
    assert.ok(
      BigInt(succeeded(outcomes)) >= (budget - worst) / cost + 1n,
      `${succeeded(outcomes)} calls`,
    )
  })

  test('the frame limits twenty keys together', async () => {
    const store = await openStore(database.url, { clock: systemClock })
    const secrets: string[] = []
    for (let index = 0; index < 20; index++) {
      const settings = { limitNanodollars: null, whenTight: 'refuse' } as const
      secrets.push((await createKey(store, newKey(`framed-${index}`, settings))).secret)
    }
    await store.close()
    const worst = await worstCase(first.url, secrets[0] ?? '', asking(1000))
    const { spent } = await first.tollgate('frame', 'show')
    const budget = parseUsd(String(spent)) + 10n * worst
    await first.tollgate('frame', 'set', '--budget', formatUsd(budget))
    const outcomes = await everywhere(200, (url, index) =>
      call(url, secrets[index % secrets.length] ?? '', asking(1000)),
    )
    assert.equal(succeeded(outcomes), 10)
    assert.deepEqual(
      outcomes.filter(({ status, code }) => status !== 200 && code !== 'frame_budget_exceeded'),
      [],
    )
    assert.equal((await first.tollgate('frame', 'show'))['spent'], formatUsd(budget))
    assert.partialDeepStrictEqual(await first.tollgate('ledger', 'verify', '--quiescent'), {
      ok: true,
      violations: [],
    })
  })
})

test('a coding agent spends nearly all of its 20 USD, and never more', async () => {
  // An OpenAI-compatible provider that reads 100,000 tokens and writes 500, whatever the request.
  await using provider = await startProvider((_, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({
        id: 'chatcmpl-1',
        object: 'chat.completion',
        created: 1,
        model: 'agent',
        choices: [
          {
            index: 0,
            finish_reason: 'stop',
            logprobs: null,
            message: { role: 'assistant', content: 'x '.repeat(500), refusal: null },
          },
        ],
        usage: { prompt_tokens: 100_000, completion_tokens: 500, total_tokens: 100_500 },
      }),
    )
  })
  const config = `
providers:
  local: { kind: openai, base_url: "${provider.url}/v1" }
models:
  agent: { targets: [local/agent], price: { input: 3, output: 15 }, context: 200000, max_output: 64000 }
`
  await using gateway = await startGateway({ config })
  const secret = await gateway.key('agent', 'agent', '--budget', '20')
  const body = {
    model: 'agent',
    max_tokens: 32_000,
    // About 100,000 tokens of prose.
    messages: [
      {
        role: 'user',
        content: 'the quick brown fox jumps over the lazy dog and so on '.repeat(8_300),
      },
    ],
  }
  let isRefused = false
  const agent = async (): Promise<void> => {
    while (!isRefused) isRefused = (await call(gateway.url, secret, body)).status !== 200
  }
  await Promise.all([1, 2, 3, 4, 5].map(agent))
  const { spent } = await gateway.tollgate('keys', 'show', 'agent')
  assert.ok(Number(spent) >= 19, `only ${String(spent)} of 20 USD were spent`)
  assert.ok(Number(spent) <= 20, `${String(spent)} of 20 USD were spent`)
  assert.partialDeepStrictEqual(await gateway.tollgate('ledger', 'verify', '--quiescent'), {
    ok: true,
    violations: [],
  })
})
