// `kill -9` of PostgreSQL itself under load, and its return: three gateways recover by themselves, refused requests get
// a 503, and the books have every call the provider got exactly once. `ROUNDS=50 node --test …` runs more. And what a node
// has answered is on the disk, though others could go on before it was.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { systemClock } from '../../src/core/clock.ts'
import { openStore } from '../../src/store/open.ts'
import { ask, granted, LedgerFixture } from '../contract/ledger-fixture.ts'
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
  const answered: number[] = []
  for (let round = 0; round < 3; round++) {
    // In turn, so that each node finds the frame changed by another, and takes two round trips.
    for (let turn = 0; turn < 6; turn++) {
      const hold = granted(await fixture.node(turn).reserve(ask(key, 1)))
      answered.push(hold.holdId)
    }
    postgres.kill()
    postgres.revive()
    await until(() => fixture.ledger.balances(key).catch(() => undefined))
    const { db } = fixture.store
    const found = await db.selectFrom('holds').select('id').orderBy('id').execute()
    assert.deepEqual(
      found.map(({ id }) => id),
      answered.toSorted((one, other) => one - other),
    )
  }
})

const HUNG_UP = { status: 0, requestId: '', isWhole: false, code: 'hung_up' }
