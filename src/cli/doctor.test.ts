// What the doctor sees in the books: nodes that are silent, clocks that ran ahead, and what raised an alarm; and what it
// says about this machine.
import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { DAY_MS } from '../core/units.ts'
import { beat, joinNodes, leaveNodes } from '../ledger/nodes/membership.ts'
import type { Store } from '../store/database/store.ts'
import { seedFrame } from '../store/frame.ts'
import { openStore } from '../store/open.ts'
import { alarms, clock, connections, disk, nodes, secret } from './doctor.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-doctor-'))
/** Stands still, but for those who wait: each look at it is one second later. */
const time = { at: Date.UTC(2026, 9, 15, 12), waitedMs: 0 }
const standing = { now: () => time.at, monotonicMs: () => (time.waitedMs += 1_000) }
const pace = { beatMs: 3_000, deadAfterMs: 3_000, keepUsageMs: DAY_MS }
let store: Store

before(async () => {
  store = await openStore(`sqlite:${join(folder, 'tollgate.db')}`, { clock: standing })
  const frame = { period: 'month', timezone: 'UTC', weekStart: 'mon' } as const
  await seedFrame(store, { ...frame, limitNanodollars: 1_000n })
})
after(async () => {
  await store.close()
  rmSync(folder, { recursive: true })
})

test('a database that nobody serves says how to serve it', async () => {
  const { outcome, todo } = await nodes(store, pace)
  assert.deepEqual([outcome, todo], ['wrong', 'start one: `tollgate serve`'])
})

test('a node that does not beat within its time is named; one that beats or leaves is fine', async () => {
  const [silent, lively] = [await joinNodes(store, 0), await joinNodes(store, 0)]
  const timer = setInterval(() => void beat(store, lively), 5)
  const found = await nodes(store, pace)
  assert.deepEqual([found.outcome, found.found], ['wrong', `of 2, silent: ${silent}`])
  await leaveNodes(store, silent)
  const sound = await nodes(store, { ...pace, deadAfterMs: 3_600_000 })
  clearInterval(timer)
  await leaveNodes(store, lively)
  assert.deepEqual([sound.outcome, sound.found], ['ok', '1 node serves'])
})

test('a clock that ran ahead is noticed by the period that it opened', async () => {
  assert.equal((await clock(store)).outcome, 'ok')
  const ahead = {
    period_starts_at: Date.UTC(2027, 0, 1),
    period_ends_at: Date.UTC(2027, 1, 1),
  }
  await store.db.updateTable('accounts').set(ahead).execute()
  const { outcome, found, todo } = await clock(store)
  assert.equal(outcome, 'wrong')
  assert.match(found, /^it ran ahead, and opened a period of frame /)
  assert.match(String(todo), /`tollgate ledger verify`/)
})

test('an alarm is what can still be seen of it: files set aside, orphans of today, lost alerts', async () => {
  const spool = join(folder, 'spool')
  assert.equal((await alarms(store, spool)).outcome, 'ok')
  mkdirSync(spool)
  writeFileSync(join(spool, 'settlements-1.jsonl'), '')
  assert.equal((await alarms(store, spool)).outcome, 'ok')
  const aside = join(spool, 'settlements-2.jsonl.set-aside')
  writeFileSync(aside, '')
  assert.equal((await alarms(store, spool)).found, `costs that fit no books: ${aside}`)

  const sums = { spent_nanodollars: 900n, limit_nanodollars: 1_000n, threshold: 90 }
  const of = { account_id: 'frame', kind: 'budget', period_seq: 0 } as const
  const alert = { id: 'alert_1', created_at: time.at, ...of, ...sums }
  await store.db.insertInto('alerts').values(alert).execute()
  const delivery = { alert_id: 'alert_1', destination_id: 'dest_1', address: 'https://a.example' }
  const failed = { state: 'failed', attempt_count: 9, next_attempt_at: null, result: null } as const
  const at = { last_attempt_at: time.at - DAY_MS + 1 }
  await store.db
    .insertInto('alert_deliveries')
    .values({ id: 'delivery_1', ...delivery, ...failed, ...at })
    .execute()
  const { outcome, found } = await alarms(store, undefined)
  assert.deepEqual([outcome, found], ['wrong', 'alerts that could not be delivered today: 1'])
})

// What the doctor says about the disk and the secret of a machine, and that it changes neither.

after(() => rmSync(folder, { recursive: true }))
const sqlite = {
  secret: null,
  database: `sqlite:${join(folder, 'tollgate.db')}`,
  dataFolder: folder,
}

test('a disk with little room left is wrong, however large it is', () => {
  const room = { freeBytes: 0.9e9, totalBytes: 4000e9 }
  const { outcome, found, todo } = disk(sqlite, room)
  assert.deepEqual([outcome, found], ['wrong', `0.9 GB of 4000.0 GB are free in ${folder}`])
  assert.match(String(todo), /^make room: /)
  assert.equal(disk(sqlite, { freeBytes: 1e9, totalBytes: 2e9 }).outcome, 'ok')
})

test('connections need files: two for each', () => {
  const server = { connectionsMax: 5_000 }
  const limits = (most: string): string =>
    `Limit  Soft  Hard  Units\nMax open files            1024                 ${most}              files\n`
  assert.equal(connections({ server }, limits('10000')).outcome, 'ok')
  assert.equal(connections({ server }, limits('unlimited')).outcome, 'ok')
  const { outcome, found, todo } = connections({ server }, limits('9999'))
  assert.deepEqual(
    [outcome, found],
    ['wrong', '5000 at most, but no more than 9999 files may be open'],
  )
  assert.match(String(todo), /LimitNOFILE=/)
})

test('a folder that is made by the first start is judged by the one around it', () => {
  const dataFolder = join(folder, 'not', 'yet')
  assert.match(disk({ dataFolder }).found, new RegExp(`are free in ${folder}$`))
  assert.ok(!existsSync(dataFolder))
})

test('the secret of SQLite is its own file, which nobody else may read; none is made', () => {
  assert.match(secret(sqlite).found, /^none yet: the first start writes /)
  const file = join(folder, 'secret')
  assert.ok(!existsSync(file))
  writeFileSync(file, 'a secret of enough letters\n', { mode: 0o600 })
  assert.equal(secret(sqlite).outcome, 'ok')
  chmodSync(file, 0o644)
  assert.deepEqual(secret(sqlite), {
    check: 'secret',
    outcome: 'wrong',
    found: `${file} can be read by others`,
    todo: `chmod 600 ${file}`,
  })
})

test('PostgreSQL needs a secret from the environment', () => {
  const postgres = { ...sqlite, database: 'postgres://db/tollgate' }
  assert.match(
    String(secret(postgres).todo),
    /^TOLLGATE_SECRET is required with PostgreSQL, .*`openssl rand/,
  )
  assert.equal(secret({ ...postgres, secret: 'x'.repeat(15) }).outcome, 'wrong')
  assert.equal(secret({ ...postgres, secret: 'x'.repeat(16) }).outcome, 'ok')
})
