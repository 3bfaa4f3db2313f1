// What tests of the store share: a fresh database, a clock, a key to begin with.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../../src/core/clock.ts'
import { StoreError, type StoreErrorCode } from '../../src/store/database/errors.ts'
import type { NewKey } from '../../src/store/keys/lifecycle.ts'

/** Makes an empty database; `drop` removes it once every store on it is closed. */
export type FreshDatabase = () => Promise<{ readonly url: string; drop(): Promise<void> }>

export const freshSqlite: FreshDatabase = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-store-'))
  return {
    url: `sqlite:${join(folder, 'tollgate.db')}`,
    drop: async () => rmSync(folder, { recursive: true }),
  }
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
