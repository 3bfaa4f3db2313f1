// The store's contract apart from keys, on any database: run by test/contract/store.test.ts.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { sql } from 'kysely'
import { systemClock } from '../../src/core/clock.ts'
import { migrate } from '../../src/store/database/migrate.ts'
import { SCHEMA } from '../../src/store/database/migrations.ts'
import { readRevision, watchChanges } from '../../src/store/database/revision.ts'
import type { Store } from '../../src/store/database/store.ts'
import { frameJson, readFrame, seedFrame, setFrame } from '../../src/store/frame.ts'
import { readAllocated } from '../../src/store/keys/counts.ts'
import { findKey, listKeys } from '../../src/store/keys/keys.ts'
import {
  createKey,
  pauseKey,
  revokeKey,
  rotateKey,
  updateKey,
} from '../../src/store/keys/lifecycle.ts'
import { openStore } from '../../src/store/open.ts'
import {
  deleteResponse,
  getResponse,
  purgeResponses,
  putResponses,
  trimResponses,
} from '../../src/store/responses.ts'
import { SAMPLE_FRAME } from '../samples/frame.ts'
import { newKey, refusal, standingClock, type FreshDatabase } from '../support/store.ts'

const DAY_MS = 24 * 3_600_000

export function storeContract(fresh: FreshDatabase): void {
  const clock = standingClock()
  const options = { clock }
  let database: Awaited<ReturnType<FreshDatabase>>
  let store: Store

  before(async () => {
    database = await fresh()
    store = await openStore(database.url, options)
    await seedFrame(store, SAMPLE_FRAME)
  })
  after(async () => {
    await store.close()
    await database.drop()
  })

  describe('schema', () => {
    test('opening again changes nothing', async () => {
      const before = await store.db.selectFrom('meta').selectAll().orderBy('name').execute()
      const again = await openStore(database.url, options)
      const after = await again.db.selectFrom('meta').selectAll().orderBy('name').execute()
      await again.close()
      assert.deepEqual(after, before)
      const version = { name: 'schema_version', value: `${SCHEMA.major}.${SCHEMA.minor}` }
      assert.deepEqual(after.at(-1), version)
    })

    test('many connections open an empty database at once, and all find it ready', async () => {
      await using empty = await disposable(fresh)
      const stores = await Promise.all(
        Array.from({ length: 5 }, () => openStore(empty.url, options)),
      )
      await Promise.all(stores.map((each) => seedFrame(each, SAMPLE_FRAME)))
      const instances = await Promise.all(stores.map((each) => meta(each, 'instance_id')))
      await Promise.all(stores.map((each) => each.close()))
      assert.equal(new Set(instances).size, 1)
    })

    test('several processes open an empty database at once', async () => {
      await using empty = await disposable(fresh)
      const names = ['process 1', 'process 2', 'process 3']
      await Promise.all(
        names.map((name) =>
          promisify(execFile)(process.execPath, [OTHER_PROCESS, empty.url, name]),
        ),
      )
      const opened = await openStore(empty.url, options)
      const keys = await listKeys(opened)
      await opened.close()
      assert.deepEqual(keys.map((key) => key.name).toSorted(), names)
    })

    test('a later major version is refused', async () => {
      await using later = await disposable(fresh)
      const opened = await openStore(later.url, options)
      await setMeta(opened, 'schema_version', `${SCHEMA.major + 1}.0`)
      await opened.close()
      await assert.rejects(
        openStore(later.url, options),
        refusal('newer_schema', /has schema 3\.0, this Tollgate knows 2\.\d+/),
      )
    })

    test('opening to look or to change creates no database', async () => {
      await using empty = await disposable(fresh)
      const missing = empty.url.startsWith('sqlite:')
        ? refusal('no_database', /^there is no database at \S+: name another with --config/)
        : refusal('no_tables', /^the database at \S+ has no tables of Tollgate: name another with/)
      for (const purpose of ['look', 'change', 'look'] as const) {
        await assert.rejects(openStore(empty.url, { ...options, purpose }), missing)
      }
    })

    test('opening to look leaves an older schema alone', async () => {
      await using made = await disposable(fresh)
      const opened = await openStore(made.url, options)
      const older = '1.12'
      await setMeta(opened, 'schema_version', older)
      await assert.rejects(
        openStore(made.url, { ...options, purpose: 'look' }),
        refusal('older_schema', /^the database at \S+ has schema 1\.12, but this Tollgate needs/),
      )
      assert.equal(await meta(opened, 'schema_version'), older)
      await opened.close()
    })

    test('a database that is older than what can be taken over is refused with what to do', async () => {
      await using made = await disposable(fresh)
      const opened = await openStore(made.url, options)
      await setMeta(opened, 'schema_version', '1.11')
      for (const purpose of ['create', 'look'] as const) {
        await assert.rejects(
          openStore(made.url, { ...options, purpose }),
          refusal(
            'older_schema',
            /has schema 1\.11, .* commit 977cfc19 .* start that one on it once/,
          ),
        )
      }
      assert.equal(await meta(opened, 'schema_version'), '1.11')
      await opened.close()
    })

    test('this release still runs on the schema of a later minor version', async () => {
      await using later = await disposable(fresh)
      const next = await openStore(later.url, options)
      await migrate(next.db, next.kind, LATER)
      await next.close()
      const opened = await openStore(later.url, options)
      await seedFrame(opened, SAMPLE_FRAME)
      const { key } = await createKey(opened, newKey('on a later schema'))
      await updateKey(opened, key.id, { rpm: 1, addModels: ['m'] })
      await rotateKey(opened, key.id, { overlapMs: 0 })
      await pauseKey(opened, key.id)
      const revoked = await revokeKey(opened, key.id, 'test')
      const version = await meta(opened, 'schema_version')
      await opened.close()
      assert.equal(revoked.status, 'revoked')
      assert.equal(version, `${LATER.major}.${LATER.minor}`)
    })

    test('a failed migration leaves nothing behind', async () => {
      const statements = [...LATER_STEP.statements, 'CREATE NONSENSE']
      const wrong = { ...LATER, steps: [{ ...LATER_STEP, statements }] }
      const before = await meta(store, 'schema_version')
      await assert.rejects(migrate(store.db, store.kind, wrong), /syntax error/)
      assert.equal(await meta(store, 'schema_version'), before)
      await assert.rejects(sql`SELECT * FROM later_table`.execute(store.db), /later_table/)
    })
  })

  describe('queries', () => {
    test('money is a bigint and every other integer a number, in rows and in sums', async () => {
      const big = 9_007_199_254_740_993n
      await using other = await disposable(fresh)
      const opened = await openStore(other.url, options)
      await seedFrame(opened, SAMPLE_FRAME)
      await opened.db.updateTable('accounts').set({ spent_nanodollars: big }).execute()
      const row = await opened.db
        .selectFrom('accounts')
        .select(({ fn }) => [
          fn.sum('spent_nanodollars').as('total_nanodollars'),
          fn.max('limit_nanodollars').as('limit_nanodollars'),
          fn.sum('allow_version').as('versions'),
          fn.countAll().as('rows'),
        ])
        .executeTakeFirstOrThrow()
      await opened.close()
      assert.deepEqual(row, {
        total_nanodollars: big,
        limit_nanodollars: 100_000_000_000n,
        versions: 1,
        rows: 1,
      })
    })

    test('a transaction that throws is undone, and no other query runs inside it', async () => {
      const rpm = async () =>
        store.db.selectFrom('accounts').select('rpm').where('id', '=', 'frame').executeTakeFirst()
      const inside = Promise.withResolvers<void>()
      const transaction = store.db.transaction().execute(async (tx) => {
        await tx.updateTable('accounts').set({ rpm: 5 }).where('id', '=', 'frame').execute()
        inside.resolve()
        await tx.selectFrom('accounts').selectAll().execute()
        throw new Error('changed my mind')
      })
      const seen = inside.promise.then(rpm)
      await assert.rejects(transaction, /changed my mind/)
      assert.deepEqual(await seen, { rpm: null })
      assert.deepEqual(await rpm(), { rpm: null })
    })

    test('concurrent transactions lose no update', async () => {
      const before = await readRevision(store)
      const changes = Array.from({ length: 20 }, () => setFrame(store, {}))
      await Promise.all(changes)
      assert.equal(await readRevision(store), before + 20)
    })
  })

  describe('changes', () => {
    test('a second connection learns of a change within a second', async () => {
      const second = await openStore(database.url, options)
      const changed = Promise.withResolvers<number>()
      const stop = await watchChanges(second, {
        onChange: async (revision) => changed.resolve(revision),
        onError: changed.reject,
      })
      await setFrame(store, SAMPLE_FRAME)
      const committedAt = systemClock.monotonicMs()
      const revision = await changed.promise
      const tookMs = systemClock.monotonicMs() - committedAt
      await stop()
      await second.close()
      assert.equal(revision, await readRevision(store))
      assert.ok(tookMs < 1_000, `${tookMs} ms`)
    })

    test('a change whose handler failed is reported again', async () => {
      const dealtWith = Promise.withResolvers<number>()
      const errors: unknown[] = []
      const stop = await watchChanges(store, {
        onChange: async (revision) => {
          if (errors.length === 0) throw new Error('once')
          dealtWith.resolve(revision)
        },
        onError: (thrown) => errors.push(thrown),
      })
      await setFrame(store, SAMPLE_FRAME)
      assert.equal(await dealtWith.promise, await readRevision(store))
      await stop()
      assert.deepEqual(errors, [new Error('once')])
    })

    test('every kind of change raises the revision, and refused ones do not', async () => {
      const counts = async (change: () => Promise<unknown>) => {
        const before = await readRevision(store)
        await change().catch(() => {})
        return (await readRevision(store)) - before
      }
      const { key } = await createKey(store, newKey('counted'))
      assert.equal(await counts(() => createKey(store, newKey('counted too'))), 1)
      assert.equal(await counts(() => createKey(store, newKey('counted'))), 0)
      assert.equal(await counts(() => updateKey(store, key.id, { rpm: 2 })), 1)
      assert.equal(await counts(() => updateKey(store, key.id, { rpm: 0 })), 0)
      assert.equal(await counts(() => pauseKey(store, key.id)), 1)
      assert.equal(await counts(() => rotateKey(store, key.id, { overlapMs: 0 })), 1)
      assert.equal(await counts(() => setFrame(store, { limitNanodollars: 1n })), 1)
      assert.equal(await counts(() => setFrame(store, SAMPLE_FRAME)), 1)
      assert.equal(await counts(() => revokeKey(store, key.id, 'test')), 1)
      assert.equal(await counts(() => pauseKey(store, key.id)), 0)
    })
  })

  describe('frame and periods', () => {
    test('the frame is seeded once, and allocated is the sum of the budgets of keys that are not revoked', async () => {
      await seedFrame(store, { ...SAMPLE_FRAME, limitNanodollars: 5n, timezone: 'Asia/Tokyo' })
      const { limitNanodollars, timezone } = await readFrame(store)
      assert.equal(limitNanodollars, SAMPLE_FRAME.limitNanodollars)
      assert.equal(timezone, 'UTC')
      const before = await readAllocated(store)
      const budget = 9_000_000_000_000_000n
      const { key } = await createKey(store, newKey('allocated', { limitNanodollars: budget }))
      assert.equal(await readAllocated(store), before + budget)
      await revokeKey(store, key.id, 'test')
      assert.equal(await readAllocated(store), before)
    })

    test('a change to the frame sets only what it names, and new keys take its time zone', async () => {
      const frame = await setFrame(store, {
        limitNanodollars: 2_500_000_000n,
        timezone: 'Asia/Tokyo',
      })
      assert.deepEqual(frameJson(frame, 7_000_000_000n), {
        budget: '2.5',
        period: 'month',
        timezone: 'Asia/Tokyo',
        week_start: 'mon',
        spent: '0',
        held: '0',
        remaining: '2.5',
        resets_at: '2026-10-31T15:00:00.000Z',
        window: null,
        allocated: '7',
      })
      const { key } = await createKey(store, newKey('from Tokyo'))
      assert.equal(key.timezone, 'Asia/Tokyo')
      await assert.rejects(
        setFrame(store, { timezone: 'x' }),
        refusal('invalid_value', /time zone/),
      )
      await setFrame(store, SAMPLE_FRAME)
    })

    test('an ended period reads as a new one', async () => {
      const { key } = await createKey(store, newKey('period over'))
      await setAccount(store, key.id, {
        spent_nanodollars: 700n,
        held_nanodollars: 400n,
        top_up_nanodollars: 90n,
        period_seq: 1,
        period_ends_at: clock.at + 1,
      })
      const running = await findKey(store, key.id)
      assert.equal(running.spentNanodollars, 700n)
      assert.equal(running.remainingNanodollars, 1_000_000_000n + 90n - 1_100n)
      assert.equal(running.resetsAt, clock.at + 1)
      clock.at += 1
      const over = await findKey(store, key.id)
      assert.equal(over.spentNanodollars, 0n)
      assert.equal(over.heldNanodollars, 0n)
      assert.equal(over.remainingNanodollars, 1_000_000_000n)
      assert.equal(over.resetsAt, Date.UTC(2026, 10))
    })

    test('a limit below spent leaves zero remaining, not less', async () => {
      const { key } = await createKey(store, newKey('lowered'))
      await setAccount(store, key.id, { spent_nanodollars: 700n, period_ends_at: clock.at + 1 })
      const lowered = await updateKey(store, key.id, { limitNanodollars: 600n })
      assert.equal(lowered.spentNanodollars, 700n)
      assert.equal(lowered.remainingNanodollars, 0n)
    })

    test('a new period rule moves the end of the running period and keeps what is spent', async () => {
      const { key } = await createKey(store, newKey('new rule'))
      // Never-ending, so it is running by the database's clock, which on PostgreSQL is not the test's.
      const running = { spent_nanodollars: 700n, period_seq: 1, period_ends_at: null }
      await setAccount(store, key.id, running)
      const daily = await updateKey(store, key.id, { period: 'day' })
      assert.equal(daily.period, 'day')
      const row = await readAccountRow(store, key.id)
      assert.equal(row.spent_nanodollars, 700n)
      assert.equal(row.period_seq, 1)
      assert.equal((row.period_ends_at ?? 1) % DAY_MS, 0)
      await setAccount(store, key.id, { period_ends_at: row.period_ends_at })
      await updateKey(store, key.id, { rpm: 1 })
      assert.equal((await readAccountRow(store, key.id)).period_ends_at, row.period_ends_at)
    })

    test('a new period rule leaves an ended period to the ledger', async () => {
      const { key } = await createKey(store, newKey('unused'))
      await updateKey(store, key.id, { period: 'day' })
      const row = await readAccountRow(store, key.id)
      assert.equal(row.period_ends_at, 0)
      assert.equal(row.period_seq, 0)
    })
  })

  describe('stored responses', () => {
    test('are stored unchanged, for their key alone, until they expire', async () => {
      const { key } = await createKey(store, newKey('with responses'))
      const { key: stranger } = await createKey(store, newKey('stranger'))
      const sealed = Uint8Array.from({ length: 256 }, (_, byte) => byte)
      const mine = { id: 'resp_1', keyId: key.id }
      const theirs = { id: 'resp_1', keyId: stranger.id }
      await putResponses(store, [{ ...mine, sealed, expiresAt: clock.at + 10 }])
      await putResponses(store, [{ ...theirs, sealed: new Uint8Array(), expiresAt: clock.at + 10 }])
      assert.deepEqual(new Uint8Array((await getResponse(store, mine)) ?? []), sealed)
      assert.equal(await getResponse(store, theirs), undefined)
      assert.equal(await deleteResponse(store, theirs), false)
      assert.equal(await deleteResponse(store, mine), true)
      assert.equal(await deleteResponse(store, mine), false)
      assert.equal(await getResponse(store, mine), undefined)
    })

    test('are replaced when stored again under the same id', async () => {
      const { key } = await createKey(store, newKey('with the same again'))
      const name = { id: 'resp_again', keyId: key.id }
      for (const [byte, lives] of [
        [1, 10],
        [2, 20],
      ] as const)
        await putResponses(store, [
          { ...name, sealed: Uint8Array.of(byte), expiresAt: clock.at + lives },
        ])
      assert.deepEqual(new Uint8Array((await getResponse(store, name)) ?? []), Uint8Array.of(2))
      await deleteResponse(store, name)
    })

    test('are not found once expired, and are purged in batches', async () => {
      const { key } = await createKey(store, newKey('with old responses'))
      for (const [n, expiresAt] of [clock.at, clock.at - 1, clock.at - 2, clock.at + 1].entries()) {
        const response = {
          id: `resp_old_${n}`,
          keyId: key.id,
          sealed: new Uint8Array(1),
          expiresAt,
        }
        await putResponses(store, [response])
      }
      assert.equal(await getResponse(store, { id: 'resp_old_0', keyId: key.id }), undefined)
      assert.equal(await purgeResponses(store, 2), true)
      assert.equal(await purgeResponses(store, 2), false)
      const left = await store.db.selectFrom('responses').select('id').execute()
      assert.deepEqual(left, [{ id: 'resp_old_3' }])
    })

    test('are trimmed oldest first, for one key alone, until the rest fits', async () => {
      const { key } = await createKey(store, newKey('with many responses'))
      const { key: stranger } = await createKey(store, newKey('with few responses'))
      const put = (keyId: string, id: string, bytes: number) =>
        putResponses(store, [
          { id, keyId, sealed: new Uint8Array(bytes), expiresAt: clock.at + DAY_MS },
        ])
      const idsOf = async (keyId: string) => {
        const rows = store.db.selectFrom('responses').select('id').where('key_id', '=', keyId)
        return (await rows.orderBy('created_at').execute()).map(({ id }) => id)
      }
      for (const [n, bytes] of [10, 20, 30, 40].entries()) {
        clock.at += 1
        await put(stranger.id, `resp_theirs_${n}`, bytes)
        await put(key.id, `resp_mine_${n}`, bytes)
      }
      assert.equal(await trimResponses(store, key.id, 100), 0)
      assert.equal(await trimResponses(store, key.id, 75), 2)
      assert.deepEqual(await idsOf(key.id), ['resp_mine_2', 'resp_mine_3'])
      assert.equal((await idsOf(stranger.id)).length, 4)
      assert.equal(await trimResponses(store, key.id, 0), 2)
      assert.equal(await trimResponses(store, key.id, 0), 0)
      assert.deepEqual(await idsOf(key.id), [])
    })
  })
}

const OTHER_PROCESS = new URL('../support/programs/store-process.ts', import.meta.url).pathname

const LATER_STEP = {
  major: SCHEMA.major,
  minor: SCHEMA.minor + 1,
  statements: [
    'CREATE TABLE later_table (id INTEGER PRIMARY KEY) STRICT',
    'ALTER TABLE keys ADD COLUMN later_text TEXT',
    'ALTER TABLE accounts ADD COLUMN later_number INTEGER NOT NULL DEFAULT 7',
    'CREATE INDEX later_index ON secrets (created_at)',
  ],
}
const LATER = { ...SCHEMA, minor: LATER_STEP.minor, steps: [...SCHEMA.steps, LATER_STEP] }

async function disposable(fresh: FreshDatabase) {
  const { url, drop } = await fresh()
  return { url, [Symbol.asyncDispose]: drop }
}

async function meta(store: Store, name: string): Promise<string | undefined> {
  const row = await store.db
    .selectFrom('meta')
    .select('value')
    .where('name', '=', name)
    .executeTakeFirst()
  return row?.value
}

async function setMeta(store: Store, name: string, value: string): Promise<void> {
  await store.db.updateTable('meta').set({ value }).where('name', '=', name).execute()
}

/** Stands in for the ledger, which alone writes these columns. */
async function setAccount(
  store: Store,
  id: string,
  columns: {
    spent_nanodollars?: bigint
    held_nanodollars?: bigint
    top_up_nanodollars?: bigint
    period_seq?: number
    period_ends_at: number | null
  },
): Promise<void> {
  await store.db.updateTable('accounts').set(columns).where('id', '=', id).execute()
}

async function readAccountRow(store: Store, id: string) {
  return store.db.selectFrom('accounts').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
}
