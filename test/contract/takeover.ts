// Taking over a database of commit 977cfc19, on either database: run by test/contract/store.test.ts. The fixtures were
// made by running that commit: `.sql` is its database, with open holds of a gateway that was killed, and `.json` is what
// its own code then said about it.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { sql } from 'kysely'
import { Client } from 'pg'
import { hashSecret } from '../../src/core/secret.ts'
import { explain, explanationJson } from '../../src/ledger/reports/requests.ts'
import { verifyLedger } from '../../src/ledger/reports/verify.ts'
import { listDeliveries } from '../../src/store/alerts/alerts.ts'
import { listAudit } from '../../src/store/audit/record.ts'
import { migrate } from '../../src/store/database/migrate.ts'
import { SCHEMA } from '../../src/store/database/migrations.ts'
import type { Store } from '../../src/store/database/store.ts'
import type { Queries } from '../../src/store/database/tables.ts'
import { sqlitePath } from '../../src/store/database/url.ts'
import { frameJson, partOfFrame, readFrame } from '../../src/store/frame.ts'
import { readAllocated } from '../../src/store/keys/counts.ts'
import { findKey, findKeyBySecretHash, keyJson, listKeys } from '../../src/store/keys/keys.ts'
import { matchingIds } from '../../src/store/keys/search.ts'
import { openStore } from '../../src/store/open.ts'
import { listPeople, listStoredRoles } from '../../src/store/people/people.ts'
import { findAccessToken } from '../../src/store/people/tokens.ts'
import { getResponse } from '../../src/store/responses.ts'
import { appCode, Browser } from '../support/browser.ts'
import { startGateway } from '../support/gateway.ts'
import { openBare, refusal, type FreshDatabase } from '../support/store.ts'
import { until } from '../support/until.ts'

type Json = Readonly<Record<string, unknown>>

/** What 977cfc19 said; amounts of nano-dollars as text. */
type Figures = {
  readonly now: number
  readonly instance_id: string
  readonly secret: string
  /** By the name of the key. */
  readonly secrets: Readonly<Record<string, string>>
  readonly password: string
  readonly second_factor: string
  readonly token: string
  readonly response: { readonly id: string }
  readonly frame: Json
  readonly counts: Readonly<Record<string, number>>
} & Readonly<Record<List, readonly Json[]>>
type List =
  | ('keys' | 'balances' | 'closed' | 'holds' | 'usage' | 'explanations' | 'rollups' | 'purged')
  | ('entries' | 'people' | 'roles' | 'audit' | 'deliveries')

const NODES = 3
const FOLDER = new URL('../fixtures/977cfc19/', import.meta.url)
const DYING = fileURLToPath(new URL('../support/programs/dying-migration.ts', import.meta.url))

export function takeoverContract(kind: 'sqlite' | 'postgres', fresh: FreshDatabase): void {
  const said = JSON.parse(readFileSync(new URL(`${kind}.json`, FOLDER), 'utf8')) as Figures
  const clock = { now: () => said.now, monotonicMs: () => 0 }
  const dump = readFileSync(new URL(`${kind}.sql`, FOLDER), 'utf8')
  const old = async () => {
    const { url, drop } = await fresh()
    await load(url, dump)
    return { url, [Symbol.asyncDispose]: drop }
  }
  const freshShape = async (): Promise<unknown> => {
    const { url, drop } = await fresh()
    const store = await openStore(url, { clock })
    const shape = await shapeOf(store.db, kind)
    await store.close()
    await drop()
    return shape
  }

  describe('figures', () => {
    let database: Awaited<ReturnType<typeof old>>
    let stores: readonly Store[] = []
    let store: Store

    before(async () => {
      database = await old()
      const nodes = Array.from({ length: NODES }, () => openStore(database.url, { clock }))
      stores = await Promise.all(nodes)
      ;[store] = stores as [Store]
    })
    after(async () => {
      for (const each of stores) await each.close()
      await database[Symbol.asyncDispose]()
    })

    const rows = async (query: string): Promise<unknown> =>
      plain((await sql.raw(query).execute(store.db)).rows)

    test('balances of every account and period', async () => {
      const amounts = `limit_nanodollars, spent_nanodollars, held_nanodollars, overrun_nanodollars,
        granted_limit_nanodollars`
      const running =
        await rows(`SELECT id, period_seq, period_starts_at, period_ends_at, in_flight,
        top_up_nanodollars, ${amounts} FROM accounts ORDER BY id`)
      assert.deepEqual(running, said.balances)
      const closed = await rows(`SELECT account_id, seq, starts_at, ends_at, ${amounts}
        FROM account_periods ORDER BY account_id, seq`)
      assert.deepEqual(closed, said.closed)
    })

    test('holds, usage rows and what is left of those that were deleted', async () => {
      const holds = await rows(`SELECT id, request_id, key_id,
        held_nanodollars AS amount_nanodollars, output_tokens_max AS output_tokens, reserved_at
        FROM holds ORDER BY id`)
      assert.deepEqual(holds, said.holds)
      const usage = await rows(`SELECT id, request_id, key_id, key_period, frame_period, state,
        held_nanodollars, cost_nanodollars, status, settled_at FROM usage ORDER BY id`)
      assert.deepEqual(usage, said.usage)
      const purged = await rows(`SELECT account_id, period_seq, requests, cost_nanodollars,
        overrun_nanodollars FROM purged_usage ORDER BY account_id, period_seq`)
      assert.deepEqual(purged, said.purged)
    })

    test('rollups and entries', async () => {
      const rollups = await rows(`SELECT span, starts_at, key_id, model, requests, failed AS errors,
        refused, input_tokens, cached_tokens, output_tokens, reasoning_tokens, cost_nanodollars
        FROM rollups ORDER BY span, starts_at, key_id, model`)
      assert.deepEqual(rollups, said.rollups)
      const entries =
        await rows(`SELECT id, created_at AS at, kind, account_id, period_seq, hold_id,
        before_nanodollars, after_nanodollars, actor, reason FROM ledger_entries ORDER BY id`)
      assert.deepEqual(entries, said.entries)
    })

    test('what every request cost is explained as before', async () => {
      for (const expected of said.explanations) {
        const found = explanationJson(await explain(store, String(expected['request_id'])))
        const { hold, key, held, cost, recomputed, agrees, lines, changes } = expected
        const figures = { hold, key, held, cost, recomputed, agrees, lines, changes }
        assert.partialDeepStrictEqual(plain(found), figures)
      }
    })

    test('the books balance', async () => {
      assert.deepEqual(await verifyLedger(store, { quiescent: false }), [])
    })

    test("each key's part of the frame's period is what its requests cost in it", async () => {
      const frame = await readFrame(store)
      const { period_seq: period } = said.balances.find(({ id }) => id === 'frame') ?? {}
      for (const key of await listKeys(store)) {
        const mine = said.usage.filter((row) => row['key_id'] === key.id)
        const costs = mine.filter((row) => row['frame_period'] === period)
        const sum = costs.reduce(
          (total, row) => total + BigInt(String(row['cost_nanodollars'])),
          0n,
        )
        assert.equal(partOfFrame(key, frame), sum, key.name)
      }
    })

    test('keys and the frame, and every secret opens its key', async () => {
      const keys = plain((await listKeys(store)).map(keyJson))
      assert.partialDeepStrictEqual(keys, said.keys)
      const frame = frameJson(await readFrame(store), await readAllocated(store))
      assert.partialDeepStrictEqual(plain(frame), said.frame)
      for (const [name, secret] of Object.entries(said.secrets)) {
        const opened = await findKeyBySecretHash(store, hashSecret(secret))
        assert.equal(opened?.key.name, name === 'rotated anew' ? 'rotated' : name)
      }
      const { id } = await findKey(store, 'shop')
      assert.ok(await getResponse(store, { id: said.response.id, keyId: id }))
      for (const filter of [{ search: 'SHO' }, { search: 'öZGÜR' }, { tag: 'SÜSS' }])
        assert.deepEqual(await matchingIds(store, filter), [id], JSON.stringify(filter))
    })

    test('people, roles, audit and alerts', async () => {
      assert.partialDeepStrictEqual(plain(await listPeople(store.db)), said.people)
      assert.partialDeepStrictEqual(plain(await listStoredRoles(store.db)), said.roles)
      const token = await findAccessToken(store.db, said.token)
      const ann = said.people.find(({ email }) => email === 'ann@example.com')
      assert.equal(token?.personId, ann?.['id'])
      assert.partialDeepStrictEqual(plain(await listAudit(store, { limit: 500 })), said.audit)
      assert.partialDeepStrictEqual(
        plain(await listDeliveries(store, { limit: 100 })),
        said.deliveries,
      )
    })

    test('as many rows of everything, the same instance, and nothing left of the old tables', async () => {
      const today: Readonly<Record<string, string>> = {
        person_accounts: 'identities',
        attempts: 'try_counts',
      }
      for (const [table, count] of Object.entries(said.counts)) {
        const found = await rows(`SELECT count(*) AS count FROM ${today[table] ?? table}`)
        assert.deepEqual(found, [{ count }], table)
      }
      const kept = { instance_id: said.instance_id, schema_version: textOf(SCHEMA) }
      for (const [name, value] of Object.entries(kept))
        assert.deepEqual(await rows(`SELECT value FROM meta WHERE name = '${name}'`), [{ value }])
      assert.deepEqual(await shapeOf(store.db, kind), await freshShape())
    })
  })

  for (const last of ['DROP TABLE accounts', 'INSERT INTO usage', 'CREATE INDEX']) {
    test(`a process that is killed after ${last} leaves the old database whole`, async () => {
      await using database = await old()
      const before = await contents(database.url)
      await assert.rejects(
        promisify(execFile)(process.execPath, [DYING, database.url, last]),
        (error: Error & { signal?: string }) => error.signal === 'SIGKILL',
      )
      assert.deepEqual(await contents(database.url), before)
      const store = await openStore(database.url, { clock })
      const keys = plain((await listKeys(store)).map(keyJson))
      await store.close()
      assert.partialDeepStrictEqual(keys, said.keys)
    })
  }

  test('a takeover that fails leaves the old database whole', async () => {
    await using database = await old()
    const before = await contents(database.url)
    const { db } = await openBare(database.url)
    const wrong = { ...SCHEMA, indexes: [...SCHEMA.indexes, 'CREATE NONSENSE'] }
    await assert.rejects(migrate(db, kind, wrong), /syntax error/)
    await db.destroy()
    assert.deepEqual(await contents(database.url), before)
  })

  test('a column that is new gets its default, and one that is gone goes', async () => {
    await using database = await old()
    const { db } = await openBare(database.url)
    // As the commits after 977cfc19 had it.
    for (const statement of [
      'ALTER TABLE accounts ADD COLUMN frame_period_seq BIGINT NOT NULL DEFAULT 0',
      'ALTER TABLE accounts ADD COLUMN frame_spent_nanodollars BIGINT NOT NULL DEFAULT 0',
      'ALTER TABLE keys ADD COLUMN unknown_column TEXT',
      "UPDATE accounts SET frame_period_seq = 2, frame_spent_nanodollars = 77 WHERE id <> 'frame'",
      "UPDATE meta SET value = '1.13' WHERE name = 'schema_version'",
    ])
      await sql
        .raw(kind === 'sqlite' ? statement.replace('BIGINT', 'INTEGER') : statement)
        .execute(db)
    await db.destroy()
    const store = await openStore(database.url, { clock })
    const key = await findKey(store, 'shop')
    assert.equal(partOfFrame(key, await readFrame(store)), 77n)
    assert.deepEqual(await shapeOf(store.db, kind), await freshShape())
    await store.close()
  })

  test('opening to look leaves the old database alone', async () => {
    await using database = await old()
    const before = await contents(database.url)
    await assert.rejects(
      openStore(database.url, { clock, purpose: 'look' }),
      refusal('older_schema', /has schema 1\.12, but this Tollgate needs 2\.\d+/),
    )
    assert.deepEqual(await contents(database.url), before)
  })

  test('a gateway serves it: requests run, people sign in, and the books balance', async () => {
    await using database = await old()
    const gateway = await startGateway({
      database: database.url,
      env: { TOLLGATE_SECRET: said.secret },
      config: 'ledger: { beat: 0.2s, dead_after: 1s }',
    })
    try {
      for (const name of ['shop', 'sandboxed', 'rotated anew']) {
        const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${said.secrets[name]}` },
          body: JSON.stringify({
            model: 'sandbox-chat',
            messages: [{ role: 'user', content: 'Hello' }],
          }),
        })
        assert.equal(answer.status, 200, `${name}: ${await answer.text()}`)
      }
      const ben = new Browser(gateway.url)
      const credentials = { email: 'ben@example.com', password: said.password }
      assert.deepEqual((await ben.post('/session', credentials)).json, { step: 'code' })
      const code = appCode(said.second_factor)
      assert.deepEqual((await ben.post('/session/code', { code })).json, { step: 'done' })
      // Once the holds of the gateway that was killed are charged.
      const { db } = await openBare(database.url)
      await until(async () => (await db.selectFrom('holds').select('id').execute()).length === 0)
      await db.destroy()
      const verified = await gateway.tollgate('ledger', 'verify', '--quiescent')
      assert.partialDeepStrictEqual(verified, { ok: true, violations: [] })
    } finally {
      await gateway.stop()
    }
  })
}

/** As the fixtures write it. */
function plain(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_name, each: unknown) =>
      typeof each === 'bigint' ? String(each) : each,
    ),
  )
}

export async function load(url: string, dump: string): Promise<void> {
  const path = sqlitePath(url)
  if (path !== undefined) {
    using database = new DatabaseSync(path)
    database.exec(dump)
    return
  }
  const client = new Client(url)
  await client.connect()
  await client.query(dump)
  await client.end()
}

function textOf({ major, minor }: { readonly major: number; readonly minor: number }): string {
  return `${major}.${minor}`
}

/** Every table with all that is in it, and every index. */
async function contents(url: string): Promise<unknown> {
  const { db, kind } = await openBare(url)
  const tables = await names(db, kind)
  const rows: Record<string, unknown> = {}
  for (const table of tables)
    rows[table] = plain((await sql`SELECT * FROM ${sql.ref(table)}`.execute(db)).rows)
  const shape = await shapeOf(db, kind)
  await db.destroy()
  return { rows, shape }
}

async function names(db: Queries, kind: Store['kind']): Promise<readonly string[]> {
  const query =
    kind === 'sqlite'
      ? sql<{ name: string }>`SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`
      : sql<{ name: string }>`SELECT tablename AS name FROM pg_tables
          WHERE schemaname = current_schema() ORDER BY tablename`
  return (await query.execute(db)).rows.map(({ name }) => name)
}

/** How the tables and indexes are declared. */
async function shapeOf(db: Queries, kind: Store['kind']): Promise<unknown> {
  const queries =
    kind === 'sqlite'
      ? [sql`SELECT name, sql FROM sqlite_schema ORDER BY name`]
      : [
          sql`SELECT table_name, ordinal_position, column_name, data_type, is_nullable,
            column_default, collation_name FROM information_schema.columns
            WHERE table_schema = current_schema() ORDER BY table_name, ordinal_position`,
          sql`SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = current_schema()
            ORDER BY indexname`,
          sql`SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint
            WHERE connamespace = current_schema()::regnamespace ORDER BY conrelid::regclass::text, conname`,
          sql`SELECT relname, reloptions FROM pg_class
            WHERE relnamespace = current_schema()::regnamespace ORDER BY relname`,
        ]
  const found = []
  for (const query of queries) found.push(plain((await query.execute(db)).rows))
  return found
}
