// A node after PostgreSQL was replaced, as in a failover: it notices when the new server lacks what it committed, and it
// is not taken for dead because it still waits for the old one. And what `ledger verify` can tell about its files.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from 'kysely'
import { Client } from 'pg'
import { systemClock } from '../../src/core/clock.ts'
import { HOLDS_PER_NODE } from '../../src/ledger/nodes/membership.ts'
import { openLedger } from '../../src/ledger/nodes/open.ts'
import { examineLedger, verifyLedger } from '../../src/ledger/reports/verify.ts'
import { databaseNow } from '../../src/store/database/store.ts'
import { openStore } from '../../src/store/open.ts'
import { ask, LedgerFixture, granted, settlement, spend } from '../contract/ledger-fixture.ts'
import { SAMPLE_PACE } from '../samples/ledger-pace.ts'
import { freshDatabase } from '../support/postgres/postgres.ts'
import { openRoad } from '../support/road.ts'
import { until } from '../support/until.ts'

test('commits that the database has lost are reported once the node is connected again', async (context) => {
  const database = await freshDatabase()
  const alarms: string[] = []
  const alarm = (message: string) => void alarms.push(message)
  let aheadMs = 0
  const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + aheadMs }
  const fixture = new LedgerFixture(await openStore(database.url, { clock }), { alarm })
  await fixture.ready
  context.after(async () => {
    await fixture.close()
    await database.drop()
  })
  const reconnect = () =>
    sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'tollgate ledger'`.execute(
      fixture.store.db,
    )
  const key = await fixture.key(10_000n)
  const { holdId } = granted(await fixture.ledger.reserve(ask(key, 100)))
  await reconnect()
  await fixture.ledger.dryRun(ask(key, 100))
  assert.deepEqual(alarms, [], 'nothing is lost yet')
  await sql`DELETE FROM holds WHERE id = ${holdId}`.execute(fixture.store.db)
  await sql`UPDATE accounts SET held_nanodollars = 0, in_flight = 0`.execute(fixture.store.db)
  aheadMs = 660_000
  await reconnect()
  await fixture.ledger.dryRun(ask(key, 100))
  assert.deepEqual(alarms, [], 'retention may have deleted the row of a hold that old')
  aheadMs = 0
  for (let round = 0; round < 2; round++) {
    await reconnect()
    await fixture.ledger.dryRun(ask(key, 100))
  }
  assert.equal(alarms.length, 1)
  assert.match(alarms.join(), /^the database has lost its latest commits/)
})

test('a node goes on beating although the connections of before have fallen silent', async () => {
  const database = await freshDatabase()
  const road = await openRoad(database.url)
  const store = await openStore(road.url, { clock: systemClock })
  const node = await openLedger({ ...SAMPLE_PACE, store, beatMs: 100 })
  const other = await openStore(database.url, { clock: systemClock })
  const beats = async () =>
    (await other.db.selectFrom('node_beats').select('beats').executeTakeFirstOrThrow()).beats
  await until(async () => (await beats()) > 0)
  road.silence()
  const startedMs = systemClock.monotonicMs()
  const before = await beats()
  await until(async () => (await beats()) > before + 1)
  assert.ok(systemClock.monotonicMs() - startedMs < QUERY_MS_MAX, 'no query was waited for')
  // First, because closing would wait for duties that still use a silent connection.
  await road[Symbol.asyncDispose]()
  await node.close()
  await store.close()
  await other.close()
  await database.drop()
})

/** How long a query may take. */
const QUERY_MS_MAX = 30_000

test('a damaged index is found where amcheck is installed, and elsewhere it is said that nobody looked', async (context) => {
  const database = await freshDatabase()
  const fixture = new LedgerFixture(await openStore(database.url, { clock: systemClock }))
  await fixture.ready
  context.after(async () => {
    await fixture.close()
    await database.drop()
  })
  await spend(fixture.ledger, ask(await fixture.key(10_000n), 100))
  const { db } = fixture.store
  const unaided = await examineLedger(fixture.store, {})
  assert.deepEqual(unaided.violations, [])
  assert.match(unaided.notChecked.join('\n'), /^whether PostgreSQL's files are damaged: .*amcheck/)

  await sql`CREATE EXTENSION amcheck`.execute(db)
  const aided = await examineLedger(fixture.store, {})
  assert.deepEqual(aided.violations, [])
  assert.doesNotMatch(aided.notChecked.join('\n'), /amcheck/)

  // An index whose order no longer follows from its table, as after a write that was lost.
  const order = (by: number) => sql`CREATE OR REPLACE FUNCTION placed(id bigint) RETURNS bigint
    LANGUAGE sql IMMUTABLE AS ${sql.lit(`SELECT id + ${by}`)}`
  await order(0).execute(db)
  await sql`CREATE INDEX usage_placed ON usage (placed(id))`.execute(db)
  await order(1).execute(db)
  const { violations, notChecked } = await examineLedger(fixture.store, {})
  assert.deepEqual(
    violations.map(({ check }) => check),
    ['damage'],
  )
  assert.match(violations[0]?.found ?? '', /^index usage_placed: .* lacks matching index tuple/)
  assert.match(notChecked[0] ?? '', /^whether the books balance/)
})

test('`ledger verify` takes the time it needs', async (context) => {
  const database = await freshDatabase()
  const store = await openStore(database.url, { clock: systemClock })
  const other = new Client(database.url)
  await other.connect()
  context.after(async () => {
    await other.end()
    await store.close()
    await database.drop()
  })
  assert.ok(store.kind === 'postgres')
  // Connections from now on end a statement this soon. A lock keeps it waiting, as many rows would keep it at work.
  store.pool.options.statement_timeout = 1_000
  await other.query(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
  )
  await until(() => store.kind === 'postgres' && store.pool.totalCount === 0)
  await other.query('BEGIN')
  await other.query('LOCK TABLE usage')
  const examined = examineLedger(store, {})
  await until(async () => {
    const { rows } = await other.query(
      `SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'usage'::regclass AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    )
    return rows.length > 0
  })
  await other.query('SELECT pg_sleep(1.2)')
  await other.query('COMMIT')
  assert.deepEqual((await examined).violations, [])
})

/** How the statement of a batch that takes one round trip begins. */
const ONE_TRIP = /^WITH\s+locked/

describe('a node that knows the books from its own batches', () => {
  /** A node that takes one round trip for a batch on this key. */
  type Knowing = {
    readonly fixture: LedgerFixture
    readonly key: string
    readonly clock: { aheadMs: number }
    /** Of the ledger's connection that was last in use. */
    readonly lastStatement: () => Promise<string>
  }

  const knowing = (what: string, run: (knowing: Knowing) => Promise<void>): void => {
    test(what, async (context) => {
      const database = await freshDatabase()
      const clock = { aheadMs: 0 }
      const monotonicMs = () => systemClock.monotonicMs() + clock.aheadMs
      const store = await openStore(database.url, { clock: { ...systemClock, monotonicMs } })
      const fixture = new LedgerFixture(store)
      await fixture.ready
      context.after(async () => {
        await fixture.close()
        await database.drop()
      })
      const lastStatement = async () => {
        const { rows } = await sql<{ query: string }>`SELECT query FROM pg_stat_activity
          WHERE datname = current_database() AND application_name = 'tollgate ledger'
          ORDER BY query_start DESC LIMIT 1`.execute(store.db)
        return rows[0]?.query ?? ''
      }
      const key = await fixture.key(10_000n)
      // A machine that stops for a moment makes a node read again, so it may take several.
      await until(async () => {
        await spend(fixture.ledger, ask(key, 100))
        return ONE_TRIP.test(await lastStatement())
      })
      await run({ fixture, key, clock, lastStatement })
      assert.deepEqual(await verifyLedger(store), [])
    })
  }

  const refusal = async ({ fixture, key }: Knowing, tokens: number): Promise<string> => {
    const answer = await fixture.ledger.reserve(ask(key, tokens))
    return answer.reserved ? 'granted' : answer.reason
  }

  knowing('refuses when the limit was lowered meanwhile', async (here) => {
    await here.fixture.store.db
      .updateTable('accounts')
      .set({ limit_nanodollars: 0n })
      .where('id', '=', here.key)
      .execute()
    assert.equal(await refusal(here, 100), 'budget')
  })

  knowing('refuses when the key was revoked meanwhile', async (here) => {
    await here.fixture.store.db
      .updateTable('accounts')
      .set({ status: 'revoked' })
      .where('id', '=', here.key)
      .execute()
    assert.equal(await refusal(here, 100), 'key_status')
  })

  knowing('refuses what another node has spent', async (here) => {
    const [, other] = here.fixture.nodes
    assert.ok(other)
    await spend(other, ask(here.key, 9000))
    assert.equal(await refusal(here, 9000), 'budget')
  })

  knowing('waits for a change that is being made', async (here) => {
    const { promise: isOver, resolve: letGo } = Promise.withResolvers<void>()
    const changed = Promise.withResolvers<void>()
    const changing = here.fixture.store.db.transaction().execute(async (tx) => {
      const limit = { limit_nanodollars: 0n }
      await tx.updateTable('accounts').set(limit).where('id', '=', here.key).execute()
      changed.resolve()
      await isOver
    })
    await changed.promise
    const answer = refusal(here, 100)
    await until(async () => {
      const { rows } = await sql`SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'
        AND datname = current_database() AND application_name = 'tollgate ledger'`.execute(
        here.fixture.store.db,
      )
      return rows.length > 0
    })
    letGo()
    await changing
    assert.equal(await answer, 'budget')
  })

  knowing('grants nothing once it is fenced', async ({ fixture, key }) => {
    const { db } = fixture.store
    const before = granted(await fixture.ledger.reserve(ask(key, 100))).holdId
    const nodeId = Math.floor(before / HOLDS_PER_NODE)
    await db.updateTable('nodes').set({ status: 'fenced' }).where('id', '=', nodeId).execute()
    const after = granted(await fixture.ledger.reserve(ask(key, 100))).holdId
    assert.notEqual(Math.floor(after / HOLDS_PER_NODE), nodeId, 'it has joined anew')
  })

  for (const aheadMs of [30_000, -30_000]) {
    knowing(`goes by the database's clock, not its own (${aheadMs} ms)`, async (here) => {
      const { fixture, key, clock } = here
      const from = await databaseNow(fixture.store)
      clock.aheadMs = aheadMs
      const { holdId } = granted(await fixture.ledger.reserve(ask(key, 100)))
      const { reserved_at } = await fixture.store.db
        .selectFrom('holds')
        .select('reserved_at')
        .where('id', '=', holdId)
        .executeTakeFirstOrThrow()
      assert.ok(reserved_at >= from && reserved_at <= (await databaseNow(fixture.store)))
    })
  }

  knowing('writes what is rare as well', async ({ fixture, key, lastStatement }) => {
    const asked = ask(key, 1000)
    const hold = granted(await fixture.ledger.reserve(asked))
    assert.match(await lastStatement(), ONE_TRIP)
    await Promise.all([
      fixture.ledger.trim(hold.holdId, 500n),
      fixture.ledger.settle(settlement(asked, hold, { costNanodollars: 400n })),
    ])
    await fixture.endPeriod(key)
    await spend(fixture.ledger, ask(key, 100))
    assert.equal((await fixture.account(key)).period_seq, 2)
  })
})
