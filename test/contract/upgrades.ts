// Upgrading a database of an earlier release, on any database: run by test/contract/store.test.ts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Kysely, PostgresDialect, sql } from 'kysely'
import { Pool } from 'pg'
import { hashSecret } from '../../src/core/secret.ts'
import { listDeliveries } from '../../src/store/alerts/alerts.ts'
import { listAudit } from '../../src/store/audit/list.ts'
import { migrate } from '../../src/store/database/migrate.ts'
import { MIGRATIONS } from '../../src/store/database/migrations.ts'
import type { Tables } from '../../src/store/database/tables.ts'
import { sqlitePath } from '../../src/store/database/url.ts'
import { partOfFrame, readFrame } from '../../src/store/frame.ts'
import { findKey, findKeyBySecretHash } from '../../src/store/keys/keys.ts'
import { updateKey } from '../../src/store/keys/lifecycle.ts'
import { matchingIds } from '../../src/store/keys/search.ts'
import { openStore } from '../../src/store/open.ts'
import { sqliteDialect, SqliteThread } from '../../src/store/sqlite/thread.ts'
import { standingClock, type FreshDatabase } from '../support/store.ts'

const KEY_ID = 'key_01k7m0000000000000000000ab'
const SECRET = 'tg_live_of_an_earlier_release'
const NODES = 3

export function upgradesContract(fresh: FreshDatabase): void {
  for (const [index, { major, minor }] of MIGRATIONS.entries())
    test(`the data of schema ${major}.${minor} survives an upgrade by several nodes at once`, async () => {
      const { url, drop } = await fresh()
      await leave(url, index)
      const options = { clock: standingClock() }
      const stores = await Promise.all(Array.from({ length: NODES }, () => openStore(url, options)))
      const [store] = stores
      assert.ok(store !== undefined)
      const key = await findKey(store, 'Äpfel')
      const { name, owner, tags, models, spentNanodollars } = key
      assert.deepEqual(
        { name, owner, tags, models, spentNanodollars },
        {
          ...{ name: 'Äpfel', owner: 'Özgür', tags: ['Süß'] },
          ...{ models: ['one', 'two'], spentNanodollars: 5n },
        },
      )
      const opened = await findKeyBySecretHash(store, hashSecret(SECRET))
      assert.deepEqual(opened?.key, key)
      assert.equal((await readFrame(store)).spentNanodollars, 5n)
      for (const filter of [{ search: 'äpf' }, { search: 'ÖZGÜR' }, { tag: 'SÜSS' }]) {
        assert.deepEqual(await matchingIds(store, filter), [KEY_ID], JSON.stringify(filter))
      }
      const { model_count } = await store.db
        .selectFrom('keys')
        .select('model_count')
        .executeTakeFirstOrThrow()
      assert.equal(model_count, 2)
      if (minor > 1) assert.equal(partOfFrame(key, await readFrame(store)), 5n)
      if (minor > 1) assert.deepEqual(await frameSums(store.db), { requests: 5, cost: 7n })
      if (minor > 3) {
        const [refused] = await listAudit(store, { outcome: 'refused', limit: 1 })
        assert.deepEqual([refused?.reason, refused?.sentence], ['refused in words', null])
        const [delivery] = await listDeliveries(store, { limit: 1 })
        assert.deepEqual([delivery?.result, delivery?.failure], ['the destination is gone', null])
      }
      await updateKey(store, KEY_ID, { name: 'Pflaumen' })
      assert.deepEqual(await matchingIds(store, { search: 'PFLAU' }), [KEY_ID])
      for (const each of stores) await each.close()
      await drop()
    })
}

/** Creates the database as a release up to this migration leaves it. */
async function leave(url: string, newest: number): Promise<void> {
  const { db, kind } = await openBare(url)
  const known = MIGRATIONS.slice(0, newest + 1)
  await migrate(db, kind, known)
  for (const { minor } of known) {
    for (const statement of LEFT[minor] ?? []) await sql.raw(statement).execute(db)
  }
  await db.destroy()
}

/** Rows as the releases wrote them, with the columns of their time: later columns filled themselves. */
const LEFT: Readonly<Record<number, readonly string[]>> = {
  1: [
    `INSERT INTO accounts (id, limit_nanodollars, spent_nanodollars, period, timezone, week_start,
        period_seq, period_ends_at)
      VALUES ('frame', 100, 5, 'never', 'UTC', 'mon', 1, NULL),
        ('${KEY_ID}', NULL, 5, 'never', 'UTC', 'mon', 1, NULL)`,
    `INSERT INTO keys (id, name, mode, owner, tags, permissions, when_tight, created_at)
      VALUES ('${KEY_ID}', 'Äpfel', 'live', 'Özgür', '["Süß"]', '["chat"]', 'cap', 1)`,
    `INSERT INTO key_models (key_id, model) VALUES ('${KEY_ID}', 'one'), ('${KEY_ID}', 'two')`,
    `INSERT INTO secrets (hash, key_id, masked, created_at)
      VALUES ('${hashSecret(SECRET)}', '${KEY_ID}', 'tg_live_…', 1)`,
  ],
  2: [
    `INSERT INTO rollups VALUES
      ('day', 0, '${KEY_ID}', 'one', 2, 0, 0, 0, 0, 0, 0, 0, 0, 3),
      ('day', 0, 'key_of_another', 'one', 3, 0, 0, 0, 0, 0, 0, 0, 0, 4)`,
    // Two in the frame's running period, one before it.
    ...[
      [1, 1, 2],
      [2, 1, 3],
      [3, 0, 9],
    ].map(
      ([id, framePeriod, cost]) => `INSERT INTO usage (id, request_id, key_id, key_period,
        frame_period, state, held_nanodollars, cost_nanodollars, endpoint, model_asked, status,
        input_tokens, cached_tokens, cache_write_tokens, cache_write_long_tokens, output_tokens,
        reasoning_tokens, estimated, latency_ms, tags, attempts, reserved_at, settled_at)
      VALUES (${id}, 'req_${id}', '${KEY_ID}', 1, ${framePeriod}, 'settled', 9, ${cost}, 'chat',
        'one', 200, 0, 0, 0, 0, 0, 0, 0, 1, '{}', '[]', 1, 1)`,
    ),
  ],
  // In words: later releases keep why by name and values.
  4: [
    `INSERT INTO audit (id, at, actor, source, action, subject, subject_id, outcome, reason, fields)
      VALUES ('entry_1', 1, 'ada@example.com', 'api', 'key.pause', 'key', '${KEY_ID}', 'refused',
        'refused in words', '[]')`,
    `INSERT INTO alerts (id, at, account_id, period_seq, threshold, spent_nanodollars,
        limit_nanodollars)
      VALUES ('alert_1', 1, '${KEY_ID}', 1, 80, 80, 100)`,
    `INSERT INTO alert_deliveries (id, alert_id, destination_id, address, state, attempts, result)
      VALUES ('dlv_1', 'alert_1', 'dest_1', 'ops@example.com', 'failed', 1,
        'the destination is gone')`,
  ],
  // From here on the ledger keeps sums for all keys.
  7: [
    `INSERT INTO rollups VALUES ('day', 0, 'frame', 'one', 5, 0, 0, 0, 0, 0, 0, 0, 0, 7)
      ON CONFLICT DO NOTHING`,
    'UPDATE keys SET model_count = 2',
  ],
  // And each key's part of the frame's period.
  13: [
    `UPDATE accounts SET frame_period_seq = 1, frame_spent_nanodollars = 5 WHERE id = '${KEY_ID}'`,
  ],
  9: [`UPDATE keys SET folded_text = 'ÄPFEL\nÖZGÜR', folded_tags = '["SÜSS"]'`],
}

async function frameSums(db: Kysely<Tables>) {
  const { requests, cost_nanodollars } = await db
    .selectFrom('rollups')
    .selectAll()
    .where('key_id', '=', 'frame')
    .executeTakeFirstOrThrow()
  return { requests, cost: cost_nanodollars }
}

async function openBare(url: string) {
  const path = sqlitePath(url)
  if (path === undefined) {
    const dialect = new PostgresDialect({ pool: new Pool({ connectionString: url }) })
    return { kind: 'postgres' as const, db: new Kysely<Tables>({ dialect }) }
  }
  const thread = await SqliteThread.open({ path, modules: [] }, () => {})
  return { kind: 'sqlite' as const, db: new Kysely<Tables>({ dialect: sqliteDialect(thread) }) }
}
