// A gateway whose database is lost, does not answer or accepts no writes.
import assert from 'node:assert/strict'
import { copyFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import pg from 'pg'
import { startGateway } from '../support/gateway.ts'
import { freshDatabase } from '../support/postgres/postgres.ts'
import { openRoad } from '../support/road.ts'
import { callSandbox, streamSandbox } from '../support/sandbox.ts'
import { until } from '../support/until.ts'

const folders: string[] = []
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

test('after losing the SQLite thread the running answer completes, the gateway exits with 1, and a restart finds it', async () => {
  const folder = freshFolder()
  const DIE_WHEN = join(folder, 'die')
  const preload = new URL('../support/programs/dying-thread.ts', import.meta.url).href
  const env = { NODE_OPTIONS: `--import=${preload}`, DIE_WHEN }
  await using gateway = await startGateway({ folder, env })
  const key = await gateway.key('demo', 'sandbox-chat')
  const answer = await streamSandbox(gateway, key, 'tokens=40 gap=100ms')
  writeFileSync(DIE_WHEN, '')
  assert.equal((await gateway.logged('database_lost'))['level'], 'error')
  assert.match(await answer.text(), /data: \[DONE\]\n\n$/)
  assert.equal((await gateway.ended).code, 1)
  rmSync(DIE_WHEN)
  await using next = await startGateway({ folder })
  const [row] = (await next.tollgate('usage'))['rows'] as { requests: number; failed: number }[]
  assert.partialDeepStrictEqual(row, { requests: 1, failed: 0 })
  const { orphans } = await next.tollgate('ledger', 'orphans')
  assert.deepEqual(orphans, [])
  assert.partialDeepStrictEqual(await next.tollgate('ledger', 'verify', '--quiescent'), {
    ok: true,
  })
})

test('a gateway whose SQLite file is replaced ends, so that a restart uses the new file', async () => {
  const folder = freshFolder()
  await using gateway = await startGateway({ folder })
  const file = join(folder, 'tollgate.db')
  copyFileSync(file, `${file}.copy`)
  renameSync(`${file}.copy`, file)
  const lost = await gateway.logged('database_lost')
  assert.match(JSON.stringify(lost['cause']), /another file/)
  assert.equal((await gateway.ended).code, 1)
})

for (const beside of ['-wal', '-shm']) {
  test(`a gateway whose SQLite file loses its ${beside} ends, and a restart finds every call`, async () => {
    const folder = freshFolder()
    await using gateway = await startGateway({ folder })
    const key = await gateway.key('demo', 'sandbox-chat')
    assert.equal(await callSandbox(gateway.url, key), 200)
    rmSync(join(folder, `tollgate.db${beside}`))
    const lost = await gateway.logged('database_lost')
    assert.match(JSON.stringify(lost['cause']), new RegExp(`${beside} was removed`))
    assert.equal((await gateway.ended).code, 1)
    await using next = await startGateway({ folder })
    const [row] = (await next.tollgate('usage'))['rows'] as { requests: number }[]
    assert.equal(row?.requests, 1)
    assert.partialDeepStrictEqual(await next.tollgate('ledger', 'verify'), {
      ok: true,
      violations: [],
    })
  })
}

test('a SQLite file that another process keeps locked soon makes the gateway not ready', async () => {
  const folder = freshFolder()
  await using gateway = await startGateway({ folder })
  const key = await gateway.key('demo', 'sandbox-chat')
  const other = new DatabaseSync(join(folder, 'tollgate.db'))
  other.exec('BEGIN IMMEDIATE')
  // The database thread waits for the lock with the first write, and later queries wait for the thread.
  const waiting = streamSandbox(gateway, key, 'tokens=1')
  const ready = await until(async () => {
    const response = await fetch(`${gateway.url}/readyz`)
    return !response.ok && response
  })
  assert.equal(ready.status, 503)
  assert.deepEqual(await ready.json(), {
    status: 'not ready',
    reason: 'the database does not answer',
  })
  other.exec('ROLLBACK')
  other.close()
  await (await waiting).text()
})

test('a read-only PostgreSQL makes the gateway not ready until it can be written again', async () => {
  const database = await freshDatabase()
  await using gateway = await startGateway({
    database: database.url,
    config: 'ledger: { beat: 0.2s, dead_after: 1s }',
  })
  const state = async (): Promise<unknown> => (await fetch(`${gateway.url}/readyz`)).json()
  const name = new URL(database.url).pathname.slice(1)
  const change = async (setting: string): Promise<void> => {
    const options = '-c default_transaction_read_only=off'
    const client = new pg.Client({ connectionString: database.url, options })
    await client.connect()
    await client.query(`alter database ${name} ${setting}`)
    await client.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()',
      [name],
    )
    await client.end()
  }
  assert.deepEqual(await state(), { status: 'ready' })
  await change('set default_transaction_read_only = on')
  const reason = 'the database cannot be written'
  await until(async () => isDeepStrictEqual(await state(), { status: 'not ready', reason }))
  await change('reset default_transaction_read_only')
  await until(async () => isDeepStrictEqual(await state(), { status: 'ready' }))
  await gateway.stop()
  await database.drop()
})

test('one outage of PostgreSQL is one alarm', async () => {
  const database = await freshDatabase()
  await using road = await openRoad(database.url)
  const config = 'ledger: { beat: 0.2s, dead_after: 1s }'
  await using gateway = await startGateway({ database: road.url, config })
  const isReady = async (): Promise<boolean> => (await fetch(`${gateway.url}/readyz`)).ok
  const alarms = (): number => gateway.log().filter(({ event }) => event === 'ledger_alarm').length
  for (const outages of [1, 2, 3]) {
    road.cut()
    await until(async () => !(await isReady()) && alarms() >= outages)
    road.mend()
    await until(isReady)
    assert.equal(alarms(), outages)
  }
  await gateway.stop()
  await database.drop()
})

test('a silent PostgreSQL keeps neither requests nor a stop waiting: an unseen key gets a 503', async () => {
  const database = await freshDatabase()
  await using road = await openRoad(database.url)
  await using gateway = await startGateway({ database: road.url })
  const key = await gateway.key('demo', 'sandbox-chat')
  road.block()
  const calledAt = Date.now()
  assert.equal(await callSandbox(gateway.url, key), 503)
  assert.ok(Date.now() - calledAt < QUERY_MS_MAX, 'before the question itself is given up')
  const stoppedAt = Date.now()
  assert.equal((await gateway.stop()).code, 0)
  assert.ok(Date.now() - stoppedAt < QUERY_MS_MAX, 'before a question is given up')
  await database.drop()
})

/** How long an unanswered PostgreSQL query stays open. */
const QUERY_MS_MAX = 35_000

function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-outage-'))
  folders.push(folder)
  return folder
}
