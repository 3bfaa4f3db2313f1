// The SQLite thread uses its cached books only while they match the file.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'

import { sql } from 'kysely'

import { systemClock } from '../src/core/clock.ts'
import { LEDGER_WORKER_MODULE } from '../src/ledger/sqlite-runner.ts'
import { verifyLedger } from '../src/ledger/verify.ts'
import { openStore } from '../src/store/open.ts'
import { ask, Desk } from './contracts/ledger-desk.ts'

const options = { clock: systemClock, workerModules: [LEDGER_WORKER_MODULE] }

async function open(context: TestContext): Promise<{ readonly url: string; readonly desk: Desk }> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-ledger-'))
  const url = `sqlite:${join(folder, 'test.db')}`
  const desk = new Desk(await openStore(url, options))
  await desk.ready
  context.after(async () => {
    await desk.close()
    rmSync(folder, { recursive: true })
  })
  return { url, desk }
}

test('a limit lowered by another process applies to the next request', async (context) => {
  const { url, desk } = await open(context)
  const keyId = await desk.key(1000n)
  assert.ok((await desk.ledger.reserve(ask(keyId, 100))).reserved)
  const other = await openStore(url, options)
  await sql`UPDATE accounts SET limit_nanodollars = 150 WHERE id = ${keyId}`.execute(other.db)
  await other.close()
  const refused = await desk.ledger.dryRun(ask(keyId, 100))
  assert.equal(refused.reserved ? 'granted' : refused.reason, 'held')
  assert.ok((await desk.ledger.reserve(ask(keyId, 50))).reserved)
})

test('a batch that was rolled back is not remembered', async (context) => {
  const { desk } = await open(context)
  const keyId = await desk.key(1000n)
  await sql`CREATE TRIGGER refuse BEFORE INSERT ON holds WHEN NEW.model_asked = 'bad'
    BEGIN SELECT RAISE(ABORT, 'refused'); END`.execute(desk.store.db)
  assert.ok((await desk.ledger.reserve(ask(keyId, 100))).reserved)
  for (let round = 0; round < 3; round++) {
    await assert.rejects(desk.ledger.reserve({ ...ask(keyId, 900), modelAsked: 'bad' }), /refused/)
  }
  assert.ok((await desk.ledger.reserve(ask(keyId, 900))).reserved)
  assert.equal((await desk.account(keyId)).held_nanodollars, 1000n)
  assert.deepEqual(await verifyLedger(desk.store), [])
})
