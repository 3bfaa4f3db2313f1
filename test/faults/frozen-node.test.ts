// A node stopped inside a batch (SIGSTOP) holds locks that the others need: they wait until PostgreSQL ends its
// session, and no longer. When it resumes, it continues, and the books balance. Prints how long the others waited.
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { systemClock } from '../../src/core/clock.ts'
import type { Ledger } from '../../src/ledger/ledger.ts'
import { openLedger } from '../../src/ledger/nodes/open.ts'
import { verifyLedger } from '../../src/ledger/reports/verify.ts'
import type { Store } from '../../src/store/database/store.ts'
import { seedFrame } from '../../src/store/frame.ts'
import { createKey } from '../../src/store/keys/lifecycle.ts'
import { openStore } from '../../src/store/open.ts'
import { ask, spend, USD } from '../contract/ledger-fixture.ts'
import { SAMPLE_FRAME } from '../samples/frame.ts'
import { SAMPLE_PACE } from '../samples/ledger-pace.ts'
import { freshDatabase } from '../support/postgres/postgres.ts'
import { until } from '../support/until.ts'

const NODE = fileURLToPath(new URL('./frozen-node.ts', import.meta.url))

test('a node stopped inside a batch delays the others by about a third of a second', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-frozen-'))
  const marker = join(folder, 'frozen')
  const database = await freshDatabase()
  const store = await openStore(database.url, { clock: systemClock })
  await seedFrame(store, { ...SAMPLE_FRAME, limitNanodollars: 1000n * USD })
  const [frozenKey = '', ...keys] = await Promise.all(
    ['frozen', 'one', 'other'].map(async (name) => {
      const settings = { name, models: ['m'], limitNanodollars: 100n * USD }
      return (await createKey(store, settings)).key.id
    }),
  )
  const alarms: string[] = []
  const alarm = (message: string): void => void alarms.push(message)
  const others = await Promise.all(
    keys.map(() => openLedger({ store, ...SAMPLE_PACE, beatMs: 100, deadAfterMs: 1000, alarm })),
  )
  const node = fork(NODE, [database.url, frozenKey, marker])
  try {
    await once(node, 'message')
    let isOver = false
    const clients = others.map((ledger, index) =>
      longestWait(ledger, keys[index] ?? '', () => isOver),
    )
    node.send('freeze')
    await until(() => existsSync(marker))
    // The others proceed while it is stopped, or give up after five seconds; and it is declared dead.
    await Promise.all(others.map((ledger, index) => spend(ledger, ask(keys[index] ?? '', 1))))
    await until(() => alarms.some((message) => message.includes('has stopped')))
    const settledBefore = await settledOf(store, frozenKey)
    node.kill('SIGCONT')
    // It settles what it had under way, and new asks after that.
    await until(async () => (await settledOf(store, frozenKey)) > settledBefore + 1)
    isOver = true
    const longestMs = Math.max(...(await Promise.all(clients)))
    t.diagnostic(`the others waited ${Math.round(longestMs)} ms at most`)
    assert.ok(longestMs > 200, 'it was not stopped inside a batch')
    const left = once(node, 'exit')
    node.disconnect()
    assert.deepEqual(await left, [0, null])
    assert.deepEqual(await verifyLedger(store, { quiescent: true }), [])
  } finally {
    node.kill('SIGKILL')
    await Promise.all(others.map((ledger) => ledger.close()))
    await store.close()
    await database.drop()
    rmSync(folder, { recursive: true })
  }
})

async function settledOf({ db }: Store, keyId: string): Promise<number> {
  const rows = db.selectFrom('usage').where('key_id', '=', keyId).where('state', '=', 'settled')
  return (await rows.select('id').execute()).length
}

/** Asks and settles until it is over; returns the longest time of one pair, in milliseconds. */
async function longestWait(ledger: Ledger, keyId: string, isOver: () => boolean): Promise<number> {
  let longestMs = 0
  while (!isOver()) {
    const startedMs = performance.now()
    await spend(ledger, ask(keyId, 1))
    longestMs = Math.max(longestMs, performance.now() - startedMs)
  }
  return longestMs
}
