// What may go wrong beside a node on SQLite that decides in memory: files that break, amounts that no database takes, others
// who read, join, fence and leave meanwhile.
import assert from 'node:assert/strict'
import {
  chmodSync,
  closeSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { systemClock } from '../../src/core/clock.ts'
import { DAY_MS } from '../../src/core/units.ts'
import type { Ask } from '../../src/ledger/ledger.ts'
import { fence, HOLDS_PER_NODE, joinNodes } from '../../src/ledger/nodes/membership.ts'
import { openLedger } from '../../src/ledger/nodes/open.ts'
import { verifyLedger } from '../../src/ledger/reports/verify.ts'
import type { Item } from '../../src/ledger/rules/batch.ts'
import { decideIn } from '../../src/ledger/rules/decide.ts'
import { packRecord, recordOf } from '../../src/ledger/rules/replay.ts'
import { checkedAsk } from '../../src/ledger/rules/validation.ts'
import { WorkingSet } from '../../src/ledger/rules/working-set.ts'
import { LEDGER_THREAD_MODULE, runInDatabase } from '../../src/ledger/sqlite/runner.ts'
import { DatabaseLedger } from '../../src/ledger/writer/database-ledger.ts'
import type { SqliteStore, Store } from '../../src/store/database/store.ts'
import { lockAccount, movedPeriodEnd } from '../../src/store/accounts/accounts.ts'
import { legColumns } from '../../src/store/accounts/budget-changes.ts'
import { packBudgets, unpackBudgets } from '../../src/store/accounts/budgets.ts'
import { atOneMoment } from '../../src/store/backup/transaction.ts'
import { createKey } from '../../src/store/keys/lifecycle.ts'
import { openStore } from '../../src/store/open.ts'
import { Journal } from '../../src/store/sqlite/journal.ts'
import { ask, granted, LedgerFixture, settlement, spend } from '../contract/ledger-fixture.ts'
import { SAMPLE_PACE } from '../samples/ledger-pace.ts'

const options = { clock: systemClock, threadModules: [LEDGER_THREAD_MODULE] }

async function open(context: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-journal-'))
  const url = `sqlite:${join(folder, 'test.db')}`
  const clock = { ...systemClock, aheadMs: 0, now: () => systemClock.now() + clock.aheadMs }
  const fixture = new LedgerFixture(await openStore(url, { ...options, clock }), { nodes: 1 })
  await fixture.ready
  const other = await openStore(url, options)
  context.after(async () => {
    await other.close().catch(() => {})
    await fixture.close()
    rmSync(folder, { recursive: true })
  })
  return { folder, fixture, other, clock }
}

async function count(store: Store, table: string): Promise<number> {
  const { rows } = await sql<{
    count: number
  }>`SELECT count(*) AS count FROM ${sql.raw(table)}`.execute(store.db)
  return Number(rows[0]?.count)
}

function journals(folder: string): readonly string[] {
  return readdirSync(folder).filter((name) => name.includes('-node-'))
}

/** What looks at the files and locks of this process. */
const withProc = {
  skip: process.platform === 'linux' ? false : 'only Linux tells of files and locks in /proc',
}

/** The next write to the journal finds the disk full. */
function breakJournal(folder: string): void {
  for (const fd of readdirSync('/proc/self/fd')) {
    try {
      const to = readlinkSync(`/proc/self/fd/${fd}`)
      if (!to.startsWith(folder) || !to.includes('-node-')) continue
      const flags =
        readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8').match(/flags:\s+(\d+)/)?.[1] ?? '0'
      if ((parseInt(flags, 8) & 3) === 0) continue
      closeSync(Number(fd))
      const again = openSync('/dev/full', 'w')
      assert.equal(again, Number(fd))
    } catch (error) {
      if ((error as { code?: string }).code !== 'ENOENT') throw error
    }
  }
}

test('broken journal: another process sees the new one', withProc, async (context) => {
  const { folder, fixture, other } = await open(context)
  const key = await fixture.key(null)
  await spend(fixture.ledger, ask(key, 10))
  assert.equal(await count(other, 'usage'), 1)
  breakJournal(folder)
  await spend(fixture.ledger, ask(key, 10))
  assert.equal(await count(other, 'usage'), 2)
  for (let n = 3; n <= 12; n++) {
    await spend(fixture.ledger, ask(key, 10))
    assert.equal(await count(other, 'usage'), n)
  }
  assert.deepEqual(await verifyLedger(other, { quiescent: true }), [])
})

test('broken journal, then another node joins', withProc, async (context) => {
  const { folder, fixture, other } = await open(context)
  const key = await fixture.key(100n)
  await spend(fixture.ledger, ask(key, 0))
  await count(other, 'usage')
  breakJournal(folder)
  for (let n = 0; n < 6; n++) await spend(fixture.ledger, ask(key, 10))
  const visitor = await openLedger({ ...SAMPLE_PACE, store: other })
  let got = 6
  for (let n = 0; n < 10; n++) {
    const asked = ask(key, 10)
    const answer = await visitor.reserve(asked)
    if (!answer.reserved) break
    await visitor.settle(settlement(asked, answer))
    got++
  }
  await visitor.close()
  assert.equal(got, 10)
  assert.deepEqual(await verifyLedger(other, { quiescent: true }), [])
})

for (const [what, change] of [
  ['removed', (path: string) => rmSync(path)],
  ['replaced', (path: string) => (rmSync(path), writeFileSync(path, Buffer.alloc(8 << 20)))],
] as const)
  test(`a journal that is ${what} under the server costs nothing, and the next one is used`, async (context) => {
    const { folder, fixture, other } = await open(context)
    const key = await fixture.key(1000n)
    for (let n = 0; n < 10; n++) await spend(fixture.ledger, ask(key, 10))
    const [name = ''] = journals(folder)
    change(join(folder, name))
    let made = 10
    for (; made < 150; made++) {
      const asked = ask(key, 10)
      const answer = await fixture.ledger.reserve(asked)
      if (!answer.reserved) break
      await fixture.ledger.settle(settlement(asked, answer))
      if (made === 50) await pause(200)
    }
    assert.equal(made, 100)
    assert.equal(await count(other, 'usage'), 100)
    assert.deepEqual(await verifyLedger(other, { quiescent: true }), [])
    const found = journals(folder).map((each) => statSync(join(folder, each)).size)
    assert.deepEqual(found, [8 << 20])
  })

test('a journal that cannot be opened is not an empty one', async (context) => {
  const { folder, fixture, other } = await open(context)
  const looking = await openStore(`sqlite:${join(folder, 'test.db')}`, {
    ...options,
    purpose: 'look',
  })
  context.after(() => looking.close())
  const key = await fixture.key(100n)
  const spent = spend(fixture.ledger, ask(key, 10))
  await spent
  const path = join(folder, journals(folder)[0] ?? '')
  renameSync(path, join(folder, 'aside'))
  symlinkSync(path, path)
  await assert.rejects(count(looking, 'usage'), /ELOOP/)
  const visitor = await openLedger({ ...SAMPLE_PACE, store: other })
  assert.equal((await visitor.reserve(ask(key, 10))).reserved, false)
  rmSync(path)
  renameSync(join(folder, 'aside'), path)
  let made = 1
  for (; made < 20; made++) {
    const asked = ask(key, 10)
    const answer = await visitor.reserve(asked)
    if (!answer.reserved) break
    await visitor.settle(settlement(asked, answer))
  }
  await visitor.close()
  assert.equal(made, 10)
  assert.deepEqual(await verifyLedger(other, { quiescent: true }), [])
})

test('a journal that lost what was answered ends all granting, and a hold that is refused its settlement is charged by others', async (context) => {
  const { folder, fixture } = await open(context)
  const key = await fixture.key(null)
  const asked = ask(key, 10)
  const held = granted(await fixture.ledger.reserve(asked))
  const loseAll = async (): Promise<void> => {
    for (let n = 0; n < 200; n++) {
      await spend(fixture.ledger, ask(key, 10))
      // What is in the database already is not missed.
      for (const name of journals(folder)) {
        const file = openSync(join(folder, name), 'r+')
        writeSync(file, Buffer.alloc(8 << 20))
        closeSync(file)
      }
    }
  }
  await assert.rejects(loseAll, /has lost decisions that were answered, from number \d+ on/)
  await assert.rejects(fixture.ledger.settle(settlement(asked, held)), /has lost decisions/)
  assert.ok(fixture.ledger instanceof DatabaseLedger)
  assert.equal(fixture.ledger.owns(held.holdId), false)
})

test('whoever may use the database may read the journal', async (context) => {
  const { folder, fixture } = await open(context)
  chmodSync(join(folder, 'test.db'), 0o640)
  await spend(fixture.ledger, ask(await fixture.key(null), 10))
  const [name = ''] = journals(folder)
  assert.equal(statSync(join(folder, name)).mode & 0o777, 0o640)
})

test('overflow: one ask spoils nothing for others', async (context) => {
  const { fixture, other } = await open(context)
  await other.db
    .updateTable('accounts')
    .set({ limit_nanodollars: null })
    .where('id', '=', 'frame')
    .execute()
  const key = await fixture.key(null)
  const key2 = await fixture.key(null)
  await spend(fixture.ledger, ask(key, 10))
  await spend(fixture.ledger, ask(key, 10))
  const huge = {
    candidates: [
      {
        fixedPicodollars: 0n,
        outputTokenPicodollars: 10n ** 10n,
        outputTokens: Number.MAX_SAFE_INTEGER,
        outputTokensFrom: 'client' as const,
        outputTokensMinimum: 256,
      },
    ],
  }
  const answer = await fixture.ledger.reserve(ask(key, 0, huge)).then(
    (a) => a.reserved,
    (e: unknown) => String(e),
  )
  assert.notEqual(answer, true)
  await pause(200)
  await spend(fixture.ledger, ask(key2, 10))
  assert.deepEqual(await verifyLedger(other, { quiescent: true }), [])
})

test('locks survive the end of another store', withProc, async (context) => {
  const { folder, fixture, other } = await open(context)
  const key = await fixture.key(null)
  await spend(fixture.ledger, ask(key, 10))
  const visitor = await openLedger({ ...SAMPLE_PACE, store: other })
  await spend(visitor, ask(key, 10))
  await visitor.close()
  const ino = statSync(join(folder, 'test.db-shm')).ino
  const locks = () =>
    readFileSync('/proc/locks', 'utf8')
      .split('\n')
      .filter((l) => l.includes(`:${ino} `))
  assert.ok(locks().length > 0)
  await other.close()
  assert.ok(locks().length > 0)
})

test('files of nodes that have left', async (context) => {
  const { folder, fixture, other } = await open(context)
  const key = await fixture.key(null)
  await spend(fixture.ledger, ask(key, 10))
  for (let n = 0; n < 3; n++) {
    const visitor = await openLedger({ ...SAMPLE_PACE, store: other })
    await spend(visitor, ask(key, 10))
    await visitor.close()
  }
  await spend(fixture.ledger, ask(key, 10))
  assert.equal(journals(folder).length, 1)
})

test('files that a killed process left without a word in the database', async (context) => {
  const { folder, fixture, other } = await open(context)
  const live = await joinNodes(other, 0)
  const files = [live, live + 1, 99].map((nodeId) => join(folder, `test.db-node-${nodeId}`))
  for (const file of [...files, join(folder, 'test.db-node-1.txt')]) writeFileSync(file, 'x')
  await spend(fixture.ledger, ask(await fixture.key(null), 10))
  assert.deepEqual(journals(folder).toSorted(), [`test.db-node-1.txt`, `test.db-node-${live}`])
})

test('extend and refused once, while somebody reads', async (context) => {
  const { fixture, other } = await open(context)
  const key = await fixture.key(null)
  const ended = new AbortController()
  const reading = (async () => {
    while (!ended.signal.aborted) await count(other, 'usage')
  })()
  let wrong = 0,
    tries = 0
  for (let n = 0; n < 100; n++) {
    const asked = ask(key, 10)
    const reserved = granted(await fixture.ledger.reserve(asked))
    if (await fixture.ledger.extend(reserved.holdId, 5n)) tries++
    const row = await fixture.store.db
      .selectFrom('holds')
      .select('held_nanodollars')
      .where('id', '=', reserved.holdId)
      .executeTakeFirstOrThrow()
    if (row.held_nanodollars !== 15n) wrong++
    await fixture.ledger.settle(settlement(asked, reserved))
  }
  ended.abort()
  await reading
  assert.ok(tries > 0)
  assert.equal(wrong, 0)
})

test('a record that another node brought in counts once, and one that came later not at all', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-journal-'))
  const url = `sqlite:${join(folder, 'test.db')}`
  const store = (await openStore(url, options)) as SqliteStore
  const other = await openStore(url, options)
  context.after(async () => {
    await other.close()
    await store.close()
    rmSync(folder, { recursive: true })
  })
  const settings = { name: 'key', models: ['m'], limitNanodollars: null }
  await new LedgerFixture(store, { nodes: 0 }).ready
  const { key } = await createKey(store, settings)
  const nodeId = await joinNodes(store, 0)
  const journal = await Journal.create(store.file, nodeId)
  context.after(() => journal.close())
  const run = (item: Item, more: { readonly doubtfulSeq: number; readonly isDecided: boolean }) => {
    const batch = { nodeId, items: [item], prices: [], isRetry: more.isDecided }
    const { memory } = journal.state
    const { doubtfulSeq } = more
    const own = { nodeId, memory, next: journal.next, isOver: false, doubtfulSeq, answeredSeq: 0 }
    return runInDatabase(store, { batch, journal: own, isDecided: more.isDecided })
  }
  const holdId = nodeId * HOLDS_PER_NODE + 1
  const reserve: Item = { kind: 'reserve', holdId, ask: checkedAsk(ask(key.id, 10)) }
  const { accounts, changes } = await run(reserve, { doubtfulSeq: 0, isDecided: false })

  // As SqliteRunner decides and writes, but it is not told yet that the write is durable.
  const extend: Item = { kind: 'extend', keyId: key.id, groupId: null, holdId, extra: 5n }
  const append = async (): Promise<number> => {
    const now = systemClock.now()
    const work = new WorkingSet({ now, accounts, holds: changes.holdsInserted, usage: [] })
    const { outcomes } = decideIn(work, [extend])
    const batch = { nodeId, items: [extend], prices: [], isRetry: false }
    const record = recordOf(batch, outcomes, work)
    assert.ok(record)
    const { seq } = journal.next
    await journal.append(packRecord(record))
    return seq
  }
  const visitor = await openLedger({ ...SAMPLE_PACE, store: other })
  context.after(() => visitor.close())
  const held = async (): Promise<bigint> => {
    await spend(visitor, ask(key.id, 10))
    const columns = other.db.selectFrom('holds').select('held_nanodollars')
    const { held_nanodollars } = await columns.where('id', '=', holdId).executeTakeFirstOrThrow()
    return held_nanodollars
  }
  const before = await append()
  assert.equal(await held(), 15n)
  await append()
  assert.equal(await held(), 15n, 'what is written to a journal that was ended does not count')

  const again = await run(extend, { doubtfulSeq: before, isDecided: true })
  assert.ok(again.isBroughtIn)
  assert.equal(await held(), 15n)
})

test('fenced while a record is written: no orphan of what was never answered', async (context) => {
  const { fixture, other } = await open(context)
  const key = await fixture.key(null)
  for (let round = 0; round < 60; round++) {
    for (let n = 0; n < 3; n++) await spend(fixture.ledger, ask(key, 10))
    const live = await other.db
      .selectFrom('nodes')
      .select('id')
      .where('status', '=', 'live')
      .executeTakeFirstOrThrow()
    let stop = false
    const fencing = fence(other, live.id).then(() => {
      stop = true
    })
    while (!stop) await spend(fixture.ledger, ask(key, 10))
    await fencing
  }
  await pause(300)
  const holds = await other.db.selectFrom('holds').selectAll().execute()
  const orphaned = await other.db
    .selectFrom('usage')
    .selectAll()
    .where('state', '=', 'orphaned')
    .execute()
  assert.equal(orphaned.length + holds.length, 0)
})

test('whoever only looks is told when the database does not take the journal', async (context) => {
  const { folder, fixture } = await open(context)
  const file = join(folder, 'test.db')
  const look = () => openStore(`sqlite:${file}`, { ...options, purpose: 'look' })
  const looking = await look()
  const bare = new DatabaseSync(file, { timeout: 5000 })
  const inDatabase = () => bare.prepare('SELECT count(*) AS count FROM usage').get()?.['count']
  const key = await fixture.key(null)
  let spent = 0
  do {
    bare.exec('DROP TRIGGER IF EXISTS refusing')
    await spend(fixture.ledger, ask(key, 10))
    bare.exec(`CREATE TRIGGER refusing BEFORE INSERT ON usage
      BEGIN SELECT RAISE(ABORT, 'will not have it'); END`)
    spent += 1
    // Until the last one is in the journal alone.
  } while (inDatabase() === spent)
  const why = /test\.db-node-\d+ has decisions that the database does not take \(will not have it\)/
  await assert.rejects(verifyLedger(looking), why)
  await assert.rejects(
    atOneMoment(looking, (tx) => tx.selectFrom('usage').selectAll().execute()),
    why,
  )
  await assert.rejects(look(), why)
  bare.exec('DROP TRIGGER refusing')
  bare.close()
  assert.equal(await count(looking, 'usage'), spent)
  assert.deepEqual(await verifyLedger(looking, { quiescent: true }), [])
  await looking.close()
})

test('an ask that the database refuses after its record was written leaves no hold', async (context) => {
  const { folder, fixture, other } = await open(context)
  const [key, sound] = [await fixture.key(null), await fixture.key(null)]
  const bare = new DatabaseSync(join(folder, 'test.db'), { timeout: 5000 })
  // Until both are decided in memory: only then their record is on its way when `reserve` returns.
  await spend(fixture.ledger, ask(key, 10))
  await spend(fixture.ledger, ask(key, 10))
  const asked = ask(key, 20)
  const answer = fixture.ledger.reserve(asked)
  // Somebody commits before the record is durable, and from then on the database takes no such hold.
  bare.exec(`CREATE TRIGGER refusing BEFORE INSERT ON holds WHEN NEW.request_id = '${asked.requestId}'
    BEGIN SELECT RAISE(ABORT, 'will not have it'); END`)
  await assert.rejects(answer, /will not have it/)
  bare.exec('DROP TRIGGER refusing')
  bare.close()
  // Others bring the journal in.
  assert.equal(await count(other, 'usage'), 2)
  await spend(fixture.ledger, ask(sound, 10))
  assert.equal(await count(other, 'holds'), 0)
  assert.deepEqual(await verifyLedger(other, { quiescent: true }), [])
})

test('a period that has begun in memory while somebody moves its end', async (context) => {
  const { folder, fixture, other, clock } = await open(context)
  const key = await fixture.key(1000n, { period: 'day' })
  await fixture.changeGroup(key, {}, { window: { limitNanodollars: 1000n, period: 'week' } })
  const asked = await fixture.ask(key, 10)
  await knownAndFolded(folder, () => spend(fixture.ledger, again(asked)))
  await other.db.transaction().execute(async (tx) => {
    const from = await lockAccount(tx, key)
    const changed = {
      ...(await movedPeriodEnd(other, tx, { from, to: { period: 'year' } })),
      ...(await legColumns(other, tx, {
        from,
        to: { window: { limitNanodollars: 1000n, period: 'month' } },
      })),
    }
    // For the node, the day and the week are over before this is committed.
    clock.aheadMs = 8 * DAY_MS
    await spend(fixture.ledger, again(asked))
    clock.aheadMs = 0
    await tx
      .updateTable('accounts')
      .set({ ...changed, period: 'year' })
      .where('id', '=', key)
      .execute()
  })
  assert.deepEqual(await verifyLedger(other, { quiescent: true }), [])
  const { period_seq: seq, period_ends_at: endsAt } = await fixture.account(key)
  assert.equal(seq, 2)
  assert.ok(endsAt !== null && endsAt > Date.now())
  assert.deepEqual(await fixture.budgets(key), { '': [10n, 0n], window: [10n, 0n] })
})

test('the first grant of a window, while somebody removes that', async (context) => {
  const { folder, fixture, other } = await open(context)
  const key = await fixture.key(1000n)
  await fixture.changeGroup(key, {}, { window: { limitNanodollars: 1000n, period: 'day' } })
  const [free, asked] = [await fixture.ask(key, 0), await fixture.ask(key, 10)]
  await knownAndFolded(folder, () => spend(fixture.ledger, again(free)))
  await other.db.transaction().execute(async (tx) => {
    const from = await lockAccount(tx, key)
    const changed = await legColumns(other, tx, { from, to: { window: null } })
    await spend(fixture.ledger, asked)
    await tx.updateTable('accounts').set(changed).where('id', '=', key).execute()
  })
  assert.deepEqual(await verifyLedger(other, { quiescent: true }), [])
})

/** The same as another request. */
function again(asked: Ask): Ask {
  return { ...asked, requestId: ask(asked.keyId, 0).requestId }
}

/** Until the node decides in memory, and what it has decided is in the database, where nobody else has brought it. */
async function knownAndFolded(folder: string, call: () => Promise<unknown>): Promise<void> {
  const bare = new DatabaseSync(join(folder, 'test.db'), { readOnly: true })
  const used = () => Number(bare.prepare('SELECT count(*) AS count FROM usage').get()?.['count'])
  const before = used()
  for (let calls = 0; calls < 2; calls++) await call()
  while (used() < before + 2) await pause(5)
  bare.close()
}

test('window removed while its next period begins in memory', async (context) => {
  const { fixture, other } = await open(context)
  const key = await fixture.key(null)
  await fixture.changeGroup(key, {}, { window: { limitNanodollars: 1000n, period: 'day' } })
  const row = await fixture.account(key)
  const endsAt = Date.now() + 1500
  const set = unpackBudgets(row.budgets).map((b) => ({ ...b, periodEndsAt: endsAt }))
  assert.equal(set.length, 1)
  await fixture.store.db
    .updateTable('accounts')
    .set({ budgets: packBudgets(set) })
    .where('id', '=', key)
    .execute()
  await spend(fixture.ledger, await fixture.ask(key, 10))
  await spend(fixture.ledger, await fixture.ask(key, 10))
  await spend(fixture.ledger, await fixture.ask(key, 10))
  assert.ok(Date.now() < endsAt)
  await pause(endsAt - Date.now() - 500)
  await spend(fixture.ledger, await fixture.ask(key, 10))
  await pause(120)
  const asked = await fixture.ask(key, 10)
  await spend(fixture.ledger, { ...asked, requestId: ask(key, 10).requestId })
  await pause(110)
  await other.db.transaction().execute(async (tx) => {
    const from = await lockAccount(tx, key)
    const changed = await legColumns(other, tx, { from, to: { window: null } })
    await pause(Math.max(0, endsAt - Date.now() + 5))
    const answer = granted(await fixture.ledger.reserve(asked))
    await fixture.ledger.settle(settlement(asked, answer))
    await tx.updateTable('accounts').set(changed).where('id', '=', key).execute()
  })
  await pause(200)
  assert.deepEqual(await verifyLedger(other, { quiescent: true }), [])
})
