// A gateway whose SQLite database is lost or does not answer.
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, test } from 'node:test'

import { startGateway } from '../support/gateway.ts'
import { streamSandbox } from '../support/sandbox.ts'

const folders: string[] = []
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

test('a lost SQLite thread: the running answer ends whole and is spooled, then exit 1', async () => {
  const folder = freshFolder()
  const DIE_WHEN = join(folder, 'die')
  const preload = new URL('../support/dying-thread.ts', import.meta.url).href
  const env = { NODE_OPTIONS: `--import=${preload}`, DIE_WHEN }
  await using gateway = await startGateway({ folder, env })
  const key = await gateway.key('demo', 'sandbox-chat')
  const answer = await streamSandbox(gateway, key, 'tokens=40 gap=20ms')
  writeFileSync(DIE_WHEN, '')
  assert.equal((await gateway.logged('database_lost'))['level'], 'error')
  assert.match(await answer.text(), /data: \[DONE\]\n\n$/)
  assert.equal((await gateway.ended).code, 1)
  assert.equal(readdirSync(join(folder, 'spool')).length, 1)
})

test('a SQLite that another process keeps locked makes the gateway not ready, soon', async () => {
  const folder = freshFolder()
  await using gateway = await startGateway({ folder })
  const key = await gateway.key('demo', 'sandbox-chat')
  const other = new DatabaseSync(join(folder, 'tollgate.db'))
  other.exec('BEGIN IMMEDIATE')
  // The thread waits for the lock with the first write, and what is asked after that waits for the thread.
  const waiting = streamSandbox(gateway, key, 'tokens=1')
  let ready = await fetch(`${gateway.url}/readyz`)
  for (let look = 0; look < 20 && ready.ok; look++) ready = await fetch(`${gateway.url}/readyz`)
  assert.equal(ready.status, 503)
  assert.deepEqual(await ready.json(), {
    status: 'not ready',
    reason: 'the database does not answer',
  })
  other.exec('ROLLBACK')
  other.close()
  await (await waiting).text()
})

function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-outage-'))
  folders.push(folder)
  return folder
}
