// Fills a database as months of traffic would: keys with secrets, a usage row for every request, and the sums that the
// ledger keeps beside them. By a few hundred statements, whatever the number of rows.
import { sql } from 'kysely'
import { firstIdAt } from '../../src/core/ids.ts'
import { hashSecret, maskSecret, newSecret } from '../../src/core/secret.ts'
import { ENDPOINTS } from '../../src/core/endpoints.ts'
import type { Store } from '../../src/store/open.ts'
import { MODELS } from '../contenders/tollgate.ts'
import type { Size } from './size.ts'

const HOUR_MS = 3_600_000
const HOURS = 30 * 24
/** Keys in use in one hour; the next hour it is other ones. */
const KEYS_AN_HOUR = 1_000
const KEYS_A_STATEMENT = 500
const COST_NANODOLLARS = 43_000
/** A thousand dollars a key: what the filled rows and a benchmark cost is far below. */
const LIMIT_NANODOLLARS = 1_000_000_000_000n

/** Holds are numbered by node; no node of a benchmark gets this number. */
const FIRST_ROW = 500_000 * 2 ** 33

export type Filled = {
  readonly keyIds: readonly string[]
  readonly secrets: readonly string[]
}

export async function fill(store: Store, size: Size): Promise<Filled> {
  const endsAt = Math.floor(store.clock.now() / HOUR_MS) * HOUR_MS
  const startsAt = endsAt - HOURS * HOUR_MS
  const keyPrefix = firstIdAt('key', startsAt)
  const filled = await fillKeys(store, { keyPrefix, startsAt, keys: size.keys })
  const rowsAnHour = Math.ceil(size.rows / HOURS)
  for (let hour = 0; hour < HOURS; hour++) {
    await fillHour(store, { hour, startsAt, keyPrefix, rows: rowsAnHour, keys: size.keys })
  }
  await sumUp(store)
  return filled
}

/** Ids are made of a moment and a number, so that one statement can say many of them. */
function numbered(prefix: string, index: number): string {
  return prefix + String(index).padStart(16, '0')
}

async function fillKeys(
  { db }: Store,
  { keyPrefix, startsAt, keys }: { keyPrefix: string; startsAt: number; keys: number },
): Promise<Filled> {
  const keyIds: string[] = []
  const secrets: string[] = []
  for (let first = 0; first < keys; first += KEYS_A_STATEMENT) {
    const made = Array.from({ length: Math.min(KEYS_A_STATEMENT, keys - first) }, (_, index) => ({
      id: numbered(keyPrefix, first + index),
      name: `filled ${first + index}`,
      secret: newSecret('live'),
    }))
    await db.transaction().execute(async (tx) => {
      await tx
        .insertInto('accounts')
        .values(made.map(({ id }) => accountOf(id, startsAt)))
        .execute()
      await tx
        .insertInto('keys')
        .values(made.map((key) => keyOf(key, startsAt)))
        .execute()
      const models = made.flatMap(({ id }) =>
        Object.values(MODELS).map((model) => ({ key_id: id, model })),
      )
      await tx.insertInto('key_models').values(models).execute()
      await tx
        .insertInto('secrets')
        .values(made.map((key) => secretOf(key, startsAt)))
        .execute()
    })
    keyIds.push(...made.map(({ id }) => id))
    secrets.push(...made.map(({ secret }) => secret))
  }
  return { keyIds, secrets }
}

function accountOf(id: string, startsAt: number) {
  return {
    ...{ id, limit_nanodollars: LIMIT_NANODOLLARS, rpm: 100_000_000, expires_at: null },
    ...{ tpm: null, concurrency: null, timezone: 'UTC', week_start: 'mon' as const },
    ...{ period: 'never' as const, period_seq: 1, period_starts_at: startsAt },
    period_ends_at: null,
  }
}

function keyOf({ id, name }: { readonly id: string; readonly name: string }, startsAt: number) {
  return {
    ...{ id, name, mode: 'live' as const, environment: null, description: null },
    ...{ owner: 'ann@example.com', tags: '[]', permissions: JSON.stringify(ENDPOINTS) },
    ...{ when_tight: 'cap' as const, created_at: startsAt },
    last_used_at: startsAt,
  }
}

function secretOf(
  { id, secret }: { readonly id: string; readonly secret: string },
  startsAt: number,
) {
  const masked = maskSecret(secret)
  return { hash: hashSecret(secret), key_id: id, masked, created_at: startsAt, valid_until: null }
}

type Hour = {
  readonly hour: number
  readonly startsAt: number
  readonly keyPrefix: string
  readonly rows: number
  readonly keys: number
}

async function fillHour(store: Store, { hour, startsAt, keyPrefix, rows, keys }: Hour) {
  const at = startsAt + hour * HOUR_MS
  const firstId = FIRST_ROW + hour * rows
  const active = Math.min(KEYS_AN_HOUR, keys)
  const n = sql.ref('series.n')
  const keyIndex = sql`(${sql.lit(hour * active)} + ${n} % ${sql.lit(active)}) % ${sql.lit(keys)}`
  const digits = (number: typeof keyIndex) =>
    store.kind === 'sqlite'
      ? sql`printf('%016d', ${number})`
      : sql`lpad((${number})::text, 16, '0')`
  const attempts =
    '[{"target":"whole/constant","why":"first choice","outcome":"answered","durationMs":10}]'
  await sql`
    ${series(store, rows)}
    INSERT INTO usage (
      id, request_id, key_id, key_period, frame_period, state, held_nanodollars,
      cost_nanodollars, endpoint, model_asked, model_served, provider, status, input_tokens,
      cached_tokens, cache_write_tokens, cache_write_long_tokens, output_tokens,
      reasoning_tokens, estimated, latency_ms, first_token_ms, tags, attempts, reserved_at,
      settled_at)
    SELECT ${sql.lit(firstId)} + ${n}, ${sql.lit(firstIdAt('req', at))} || ${digits(sql`${n}`)},
      ${sql.lit(keyPrefix)} || ${digits(keyIndex)}, 1, 1, 'settled', 120000,
      ${sql.lit(COST_NANODOLLARS)}, 'chat', ${sql.lit(MODELS.chat)}, 'constant', 'whole', 200, 60,
      0, 0, 0, 100, 0, 0, 12, 11, '{}', ${sql.lit(attempts)}, ${sql.lit(at)} + ${n} % 3600000,
      ${sql.lit(at)} + ${n} % 3600000 + 12
    FROM series`.execute(store.db)
  await sql`
    INSERT INTO rollups
    SELECT 'hour', ${sql.lit(at)}, key_id, model_asked, count(*), 0, 0, 0, sum(input_tokens), 0, 0,
      sum(output_tokens), 0, sum(cost_nanodollars)
    FROM usage WHERE id BETWEEN ${sql.lit(firstId)} AND ${sql.lit(firstId + rows)}
    GROUP BY key_id, model_asked`.execute(store.db)
}

/** The numbers from 1 to `length`, as a table named series. */
function series({ kind }: Store, length: number) {
  const last = sql.lit(length)
  return kind === 'sqlite'
    ? sql`WITH RECURSIVE series (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM series WHERE n < ${last})`
    : sql`WITH series AS (SELECT n FROM generate_series(1, ${last}) AS n)`
}

async function sumUp(store: Store): Promise<void> {
  await sql`
    INSERT INTO rollups
    SELECT 'day', starts_at / 86400000 * 86400000 AS day, key_id, model, sum(requests), 0, 0, 0,
      sum(input_tokens), 0, 0, sum(output_tokens), 0, sum(cost_nanodollars)
    FROM rollups WHERE span = 'hour' GROUP BY day, key_id, model`.execute(store.db)
  await sql`
    UPDATE accounts SET spent_nanodollars = spent
    FROM (SELECT key_id, sum(cost_nanodollars) AS spent FROM rollups WHERE span = 'day' GROUP BY key_id) AS sums
    WHERE accounts.id = sums.key_id`.execute(store.db)
  // A server that ran for months has done this by itself.
  if (store.kind === 'postgres') await sql`VACUUM ANALYZE`.execute(store.db)
}
