// `kill -9` of PostgreSQL itself under load, and its return: three gateways recover by themselves, refused requests get
// a 503, and the books have every call the provider got exactly once. `ROUNDS=50 node --test …` runs more. And what a node
// has answered is on the disk, though others could go on before it was; where it waits for a replica in vain, nothing piles
// up.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { Client } from 'pg'
import { systemClock } from '../../src/core/clock.ts'
import { openStore } from '../../src/store/open.ts'
import { verifyLedger } from '../../src/ledger/reports/verify.ts'
import { ask, granted, LedgerFixture, settlement, spend } from '../contract/ledger-fixture.ts'
import type { TestGateway } from '../support/gateway.ts'
import { startGateway } from '../support/gateway.ts'
import { startMortalPostgres } from '../support/postgres/postgres.ts'
import type { StoryAnswer } from '../support/story.ts'
import { addsUp, askStory, startStoryProvider, untilServed } from '../support/story.ts'
import { until } from '../support/until.ts'

const ROUNDS = Number(process.env['ROUNDS'] ?? 2)
/** Longer than a settlement waits before it goes to the spool, but shorter than a new request waits. */
const OUTAGE_MS = 3_000

test(`${ROUNDS} crashes of PostgreSQL under load lose nothing and count nothing twice`, async () => {
  await using provider = await startStoryProvider()
  const postgres = await startMortalPostgres()
  const config = `ledger: { beat: 0.2s, dead_after: 1s }${provider.config}`
  const start = (): Promise<TestGateway> => startGateway({ config, database: postgres.url })
  // One after the other: the first creates the tables.
  await using first = await start()
  await using second = await start()
  await using third = await start()
  const nodes = [first, second, third]
  const secret = await first.key('story', 'story', '--budget', '90')
  const unseen = await first.key('unseen', 'story', '--budget', '1')

  const answers: StoryAnswer[] = []
  let isOver = false
  const client = async (index: number): Promise<void> => {
    while (!isOver) {
      const answer = await askStory(nodes[index % 3]?.url ?? '', secret, index % 2 === 0)
      answers.push(answer ?? HUNG_UP)
    }
  }
  const clients = Promise.all(Array.from({ length: 9 }, (_, index) => client(index)))
  const refusals = []
  try {
    for (let round = 0; round < ROUNDS; round++) {
      await Promise.all(nodes.map(({ url }) => untilServed(url, secret)))
      postgres.kill()
      refusals.push(await askStory(nodes[round % 3]?.url ?? '', unseen, false))
      await pause(OUTAGE_MS)
      postgres.revive()
    }
    await Promise.all(nodes.map(({ url }) => untilServed(url, secret)))
  } finally {
    isOver = true
    await clients
  }

  // A key that no node has cached is not treated as invalid.
  for (const refused of refusals.slice(0, 3)) {
    assert.deepEqual([refused?.status, refused?.code], [503, 'ledger_unavailable'])
  }
  for (const { status, code, isWhole } of answers) {
    assert.ok(
      isWhole || (status === 503 && code === 'ledger_unavailable'),
      `an answer with status ${status}, ${code}`,
    )
  }
  await addsUp(first, provider)
  // No node was declared dead while none could be seen.
  assert.deepEqual(await first.tollgate('ledger', 'orphans'), { orphans: [] })
})

test('what a node has answered survives a crash of PostgreSQL at that moment', async (context) => {
  const postgres = await startMortalPostgres()
  const fixture = new LedgerFixture(await openStore(postgres.url, { clock: systemClock }))
  await fixture.ready
  context.after(() => fixture.close())
  const key = await fixture.key(1_000_000n)
  const { db } = fixture.store
  /** Of the server that answers: one that is about to be killed still does. */
  const startedAt = async (): Promise<number | undefined> => {
    const { rows } = await sql<{ at: Date }>`SELECT pg_postmaster_start_time() AS at`.execute(db)
    return rows[0]?.at.getTime()
  }
  const answered: number[] = []
  for (let round = 0; round < 3; round++) {
    // In turn, so that each node finds the frame changed by another, and takes two round trips.
    for (let turn = 0; turn < 6; turn++) {
      const hold = granted(await fixture.node(turn).reserve(ask(key, 1)))
      answered.push(hold.holdId)
    }
    const before = await startedAt()
    postgres.kill()
    postgres.revive()
    await until(async () => (await startedAt().catch(() => before)) !== before)
    const found = await db.selectFrom('holds').select('id').orderBy('id').execute()
    assert.deepEqual(
      found.map(({ id }) => id),
      answered.toSorted((one, other) => one - other),
    )
  }
})

test('commits that wait in vain for a replica do not pile up, and nothing is done again and again', async (context) => {
  const postgres = await startMortalPostgres()
  const fixture = new LedgerFixture(await openStore(postgres.url, { clock: systemClock }))
  await fixture.ready
  // The store's own connections wait as well.
  const watcher = new Client(postgres.url)
  await watcher.connect()
  const waitFor = async (replica: string): Promise<void> => {
    await watcher.query(`ALTER SYSTEM SET synchronous_standby_names = '${replica}'`)
    await watcher.query('SELECT pg_reload_conf()')
  }
  context.after(async () => {
    await waitFor('')
    await fixture.close()
    await watcher.end()
  })
  const key = await fixture.key(1_000_000n)
  const heldOf = async (): Promise<bigint> => (await fixture.account(key)).held_nanodollars
  const asked = ask(key, 300)
  const hold = granted(await fixture.ledger.reserve(asked))
  for (let turn = 0; turn < 6; turn++) await spend(fixture.node(turn), ask(key, 1))
  const before = await heldOf()

  await waitFor('nobody')
  const sinceMs = systemClock.monotonicMs()
  const made = fixture.ledger.extend(hold.holdId, 1000n)
  const refused = await Promise.all([1, 2].map((turn) => fixture.node(turn).reserve(ask(key, 1))))
  assert.deepEqual(
    refused.map((answer) => !answer.reserved && answer.reason),
    ['unavailable', 'unavailable'],
  )
  assert.equal(await made, false)
  await until(() => systemClock.monotonicMs() - sinceMs > SEVERAL_TRIES_MS)
  const { rows: waiting } = await watcher.query(
    "SELECT FROM pg_stat_activity WHERE application_name = 'tollgate ledger' AND wait_event = 'SyncRep'",
  )
  // Of each node the batch that nobody saw coming, and one that keeps its locks.
  assert.ok(waiting.length > 0 && waiting.length <= 4, `${waiting.length} commits wait`)

  await waitFor('')
  for (const node of fixture.nodes) {
    await until(async () => (await node.dryRun(ask(key, 1))).reserved)
  }
  const held = await heldOf()
  assert.ok(held === before || held === before + 1000n, `${held} are held, and ${before} were`)
  await fixture.ledger.settle(settlement(asked, hold))
  assert.deepEqual(await verifyLedger(fixture.store), [])
})

/** A try is given up after four seconds. */
const SEVERAL_TRIES_MS = 16_000

const HUNG_UP = { status: 0, requestId: '', isWhole: false, code: 'hung_up' }
