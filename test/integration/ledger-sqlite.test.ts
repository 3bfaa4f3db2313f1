// The SQLite thread uses its cached books only while they match the file, and a damaged file is found damaged.
import assert from 'node:assert/strict'
import {
  closeSync,
  copyFileSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { sql } from 'kysely'
import { systemClock } from '../../src/core/clock.ts'
import { messageOf } from '../../src/core/errors.ts'
import { DAMAGE, examineLedger, verifyLedger } from '../../src/ledger/reports/verify.ts'
import { LEDGER_THREAD_MODULE } from '../../src/ledger/sqlite/runner.ts'
import type { Store } from '../../src/store/database/store.ts'
import { openStore } from '../../src/store/open.ts'
import { ask, LedgerFixture, spend } from '../contract/ledger-fixture.ts'

const options = { clock: systemClock, threadModules: [LEDGER_THREAD_MODULE] }

async function open(
  context: TestContext,
): Promise<{ readonly url: string; readonly fixture: LedgerFixture }> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-ledger-'))
  const url = `sqlite:${join(folder, 'test.db')}`
  const fixture = new LedgerFixture(await openStore(url, options))
  await fixture.ready
  context.after(async () => {
    await fixture.close()
    rmSync(folder, { recursive: true })
  })
  return { url, fixture }
}

test('a limit lowered by another process applies to the next request', async (context) => {
  const { url, fixture } = await open(context)
  const keyId = await fixture.key(1000n)
  assert.ok((await fixture.ledger.reserve(ask(keyId, 100))).reserved)
  const other = await openStore(url, options)
  await sql`UPDATE accounts SET limit_nanodollars = 150 WHERE id = ${keyId}`.execute(other.db)
  await other.close()
  const refused = await fixture.ledger.dryRun(ask(keyId, 100))
  assert.equal(refused.reserved ? 'granted' : refused.reason, 'held')
  assert.ok((await fixture.ledger.reserve(ask(keyId, 50))).reserved)
})

test('a file with any one of its pages zeroed is found damaged', async (context) => {
  const { url, fixture } = await open(context)
  const keys = await Promise.all([1, 2, 3, 4, 5].map(() => fixture.key(1_000_000n)))
  for (const key of keys) await spend(fixture.ledger, ask(key, 100))
  const sound = `${url.slice('sqlite:'.length)}-copy`
  // No page of it is free.
  await sql`VACUUM INTO ${sql.lit(sound)}`.execute(fixture.store.db)
  assert.deepEqual(await damageOf(sound), [])

  const pages = statSync(sound).size / PAGE_BYTES
  const damaged = `${sound}-damaged`
  const missed: number[] = []
  for (let page = 0; page < pages; page++) {
    copyFileSync(sound, damaged)
    const file = openSync(damaged, 'r+')
    writeSync(file, Buffer.alloc(PAGE_BYTES), 0, PAGE_BYTES, page * PAGE_BYTES)
    closeSync(file)
    if ((await damageOf(damaged)).length === 0) missed.push(page)
    for (const beside of ['-wal', '-shm']) rmSync(damaged + beside, { force: true })
  }
  context.diagnostic(`${pages} pages`)
  assert.ok(pages > 50, `${pages} pages`)
  assert.deepEqual(missed, [])
})

const PAGE_BYTES = 4096

/** What is damaged, as `ledger verify` reports it: in its findings, or because the file cannot even be opened. */
async function damageOf(path: string): Promise<readonly string[]> {
  let store: Store
  try {
    store = await openStore(`sqlite:${path}`, { clock: systemClock, purpose: 'look' })
  } catch (error) {
    assert.match(messageOf(error), /is not a usable SQLite database: .* restore this one/)
    return [messageOf(error)]
  }
  const { violations } = await examineLedger(store, {})
  await store.close()
  assert.ok(violations.every(({ check }) => check === DAMAGE))
  return violations.map(({ found }) => found)
}

test('a batch that was rolled back is not remembered', async (context) => {
  const { fixture } = await open(context)
  const keyId = await fixture.key(1000n)
  await sql`CREATE TRIGGER refuse BEFORE INSERT ON holds WHEN NEW.model_asked = 'bad'
    BEGIN SELECT RAISE(ABORT, 'refused'); END`.execute(fixture.store.db)
  assert.ok((await fixture.ledger.reserve(ask(keyId, 100))).reserved)
  for (let round = 0; round < 3; round++) {
    await assert.rejects(
      fixture.ledger.reserve({ ...ask(keyId, 900), modelAsked: 'bad' }),
      /refused/,
    )
  }
  assert.ok((await fixture.ledger.reserve(ask(keyId, 900))).reserved)
  assert.equal((await fixture.account(keyId)).held_nanodollars, 1000n)
  assert.deepEqual(await verifyLedger(fixture.store), [])
})
