// Gateways are killed under load, on both databases, in front of a provider that keeps its own books: afterwards
// nothing leaks, nothing is overspent, and the books have every answer a client got. `ROUNDS=500 node --test …` runs
// more.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { formatUsd, parseUsd } from '../../../src/core/money.ts'
import type { TestGateway } from '../../support/gateway.ts'
import { startGateway } from '../../support/gateway.ts'
import { freshDatabase } from '../../support/postgres/postgres.ts'
import {
  askStory,
  quietKey,
  startStoryProvider,
  STORY_COST,
  STORY_HELD_MAX,
} from '../../support/story.ts'
import { until } from '../../support/until.ts'

const ROUNDS = Number(process.env['ROUNDS'] ?? 5)
const CLIENTS = 6
const BUDGET_USD = 90

test(`SQLite: killing ${ROUNDS} gateways under load loses nothing`, () => killLoop(undefined, 1))

test(`PostgreSQL: killing one of three gateways ${ROUNDS} times under load loses nothing`, async () => {
  const database = await freshDatabase()
  try {
    await killLoop(database.url, 3)
  } finally {
    await database.drop()
  }
})

async function killLoop(database: string | undefined, count: number): Promise<void> {
  await using provider = await startStoryProvider()
  const config = `ledger: { beat: 0.2s, dead_after: 1s }${provider.config}`
  const folders = Array.from({ length: count }, () => mkdtempSync(join(tmpdir(), 'tollgate-kill-')))
  const start = (folder: string): Promise<TestGateway> =>
    startGateway({ config, folder, ...(database === undefined ? {} : { database }) })
  const crew = await Promise.all(folders.map(start))
  const secret = (await crew[0]?.key('story', 'story', '--budget', String(BUDGET_USD))) ?? ''
  const answered = new Set<string>()
  let isOver = false
  const client = async (index: number): Promise<void> => {
    while (!isOver) {
      const answer = await askStory(crew[index % count]?.url ?? '', secret, index % 2 === 0)
      if (answer?.isWhole === true) answered.add(answer.requestId)
    }
  }
  const clients = Array.from({ length: CLIENTS }, (_, index) => client(index))
  for (let round = 0; round < ROUNDS; round++) {
    // Even on a slow machine, calls are answered between two kills.
    const enough = answered.size + CLIENTS
    await until(() => answered.size >= enough)
    await pause(Math.random() * 200)
    const victim = round % count
    await crew[victim]?.stop('SIGKILL')
    crew[victim] = await start(folders[victim] ?? '')
  }
  isOver = true
  await Promise.all(clients)
  const [survivor, ...others] = crew
  assert.ok(survivor !== undefined)
  await Promise.all(others.map((gateway) => gateway.stop()))
  try {
    await compare(survivor, secret, { answered, dispatched: provider.dispatched() })
  } finally {
    await survivor.stop()
  }
  for (const folder of folders) rmSync(folder, { recursive: true })
}

type Truth = {
  /** The requests that were answered completely. */
  readonly answered: ReadonlySet<string>
  /** How many calls the provider got. */
  readonly dispatched: number
}

async function compare(gateway: TestGateway, secret: string, truth: Truth): Promise<void> {
  const key = await quietKey(gateway)
  assert.partialDeepStrictEqual(await gateway.tollgate('ledger', 'verify', '--quiescent'), {
    ok: true,
    violations: [],
  })
  const spent = parseUsd(String(key['spent']))
  // What the provider did for a call that was cut off is unknown: it costs something, and at most what was held.
  const cutOff = BigInt(truth.dispatched - truth.answered.size)
  const least = STORY_COST * BigInt(truth.answered.size)
  assert.ok(
    spent >= least && spent <= least + STORY_HELD_MAX * cutOff,
    `${formatUsd(spent)} for ${truth.dispatched} calls`,
  )
  for (const id of truth.answered) {
    const response = await fetch(`${gateway.url}/v1/requests/${id}`, {
      headers: { authorization: `Bearer ${secret}` },
    })
    const row = (await response.json()) as { cost?: string; status?: number }
    assert.deepEqual([row.status, row.cost], [200, formatUsd(STORY_COST)], id)
  }
}
