// What tests of the store share: a fresh database, a clock, a key to begin with.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Kysely, PostgresDialect } from 'kysely'
import { Pool } from 'pg'
import type { Clock } from '../../src/core/clock.ts'
import { StoreError, type StoreErrorCode } from '../../src/store/database/errors.ts'
import type { Store } from '../../src/store/database/store.ts'
import type { Queries, Tables } from '../../src/store/database/tables.ts'
import { sqlitePath } from '../../src/store/database/url.ts'
import type { NewKey } from '../../src/store/keys/lifecycle.ts'
import { sqliteDialect, SqliteThread } from '../../src/store/sqlite/thread.ts'

/** Makes an empty database; `drop` removes it once every store on it is closed. */
export type FreshDatabase = () => Promise<{ readonly url: string; drop(): Promise<void> }>

export const freshSqlite: FreshDatabase = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-store-'))
  return {
    url: `sqlite:${join(folder, 'tollgate.db')}`,
    drop: async () => rmSync(folder, { recursive: true }),
  }
}

/** The database as it is: opening it this way changes nothing. `onStatement` is called after each statement. */
export async function openBare(
  url: string,
  onStatement = (_statement: string): void => {},
): Promise<{ readonly kind: Store['kind']; readonly db: Queries }> {
  const log = ({ query }: { readonly query: { readonly sql: string } }) => onStatement(query.sql)
  const path = sqlitePath(url)
  if (path === undefined) {
    const dialect = new PostgresDialect({ pool: new Pool({ connectionString: url }) })
    return { kind: 'postgres', db: new Kysely<Tables>({ dialect, log }) }
  }
  const thread = await SqliteThread.open({ path, modules: [], isReader: false }, () => {})
  return { kind: 'sqlite', db: new Kysely<Tables>({ dialect: sqliteDialect(thread), log }) }
}

/** A clock that stands still until it is set. */
export function standingClock(): Clock & { at: number } {
  return {
    at: Date.UTC(2026, 9, 15, 12),
    now() {
      return this.at
    },
    monotonicMs: () => 0,
  }
}

export function newKey(name: string, more: Partial<NewKey> = {}): NewKey {
  return { name, models: ['sandbox-chat'], limitNanodollars: 1_000_000_000n, ...more }
}

/** Passes for a StoreError of this code whose message is one line and matches. */
export function refusal(code: StoreErrorCode, message: RegExp) {
  return (error: unknown) => {
    assert.ok(error instanceof StoreError, String(error))
    assert.equal(error.code, code)
    assert.match(error.message, message)
    assert.doesNotMatch(error.message, /\n/)
    return true
  }
}
