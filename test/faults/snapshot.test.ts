// A snapshot of the database stays open, as during an export or a backup: requests continue, the books stay right, and
// afterwards the space is reused. `SECONDS=60 node --test …` holds it for a minute and prints rates.
import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import pg from 'pg'
import type { TestGateway } from '../support/gateway.ts'
import { startGateway } from '../support/gateway.ts'
import { freshDatabase } from '../support/postgres/postgres.ts'
import { freshSqlite } from '../support/store.ts'

const SECONDS = Number(process.env['SECONDS'] ?? 0)
const REQUESTS_MIN = 300
const CLIENTS = 16
/** SQLite restarts its log after a thousand pages of 4 KB; one batch may add a few more. */
const LOG_BYTES = 1_000 * 4096
const BATCH_BYTES = 200 * 4096

test('requests continue while a snapshot of SQLite is held open, and its log stops growing afterwards', async (t) => {
  const database = await freshSqlite()
  const file = database.url.replace('sqlite:', '')
  const logBytes = (): number => statSync(`${file}-wal`).size
  const gateway = await startGateway({ database: database.url })
  try {
    const secret = await gateway.key('app', 'sandbox-chat', '--budget', '1000')
    const before = await serve(gateway, secret)
    const reader = new DatabaseSync(file, { readOnly: true })
    reader.exec('BEGIN')
    reader.prepare('SELECT count(*) FROM usage').get()
    const meanwhile = await serve(gateway, secret)
    const grown = logBytes()
    reader.exec('COMMIT')
    reader.close()
    const afterwards = await serve(gateway, secret, meanwhile.requests)
    t.diagnostic(`requests per second: ${[before, meanwhile, afterwards].map(rate).join(', ')}`)
    t.diagnostic(`log: ${grown} bytes with the snapshot, ${logBytes()} after it`)
    assert.ok(logBytes() <= Math.max(grown, LOG_BYTES) + BATCH_BYTES, 'the log goes on growing')
    assert.partialDeepStrictEqual(await gateway.tollgate('ledger', 'verify', '--quiescent'), SOUND)
  } finally {
    await gateway.stop()
    await database.drop()
  }
})

test('requests continue while a snapshot of PostgreSQL is held open', async (t) => {
  const database = await freshDatabase()
  const gateway = await startGateway({ database: database.url })
  const reader = new pg.Client({ connectionString: database.url })
  try {
    const secret = await gateway.key('app', 'sandbox-chat', '--budget', '1000')
    const before = await serve(gateway, secret)
    await reader.connect()
    await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
    await reader.query('SELECT count(*) FROM usage')
    const meanwhile = await serve(gateway, secret)
    await reader.query('COMMIT')
    const afterwards = await serve(gateway, secret)
    t.diagnostic(`requests per second: ${[before, meanwhile, afterwards].map(rate).join(', ')}`)
    assert.partialDeepStrictEqual(await gateway.tollgate('ledger', 'verify', '--quiescent'), SOUND)
  } finally {
    await reader.end()
    await gateway.stop()
    await database.drop()
  }
})

const SOUND = { ok: true, violations: [] }

type Served = { readonly requests: number; readonly seconds: number }

/** Serves many clients at once until both the time and the number are reached; every request must be answered. */
async function serve(gateway: TestGateway, secret: string, min = REQUESTS_MIN): Promise<Served> {
  const startedMs = performance.now()
  const seconds = (): number => (performance.now() - startedMs) / 1000
  let requests = 0
  const client = async (): Promise<void> => {
    while (requests < min || seconds() < SECONDS) {
      requests++
      const response = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}`, 'x-tollgate-sandbox': 'tokens=1' },
        body: JSON.stringify({
          model: 'sandbox-chat',
          max_tokens: 10,
          messages: [{ role: 'user', content: 'Hello' }],
        }),
      })
      assert.equal(response.status, 200, await response.text())
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
  return { requests, seconds: seconds() }
}

function rate({ requests, seconds }: Served): number {
  return Math.round(requests / seconds)
}
