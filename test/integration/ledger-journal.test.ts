// A node on SQLite that decides in memory, beside others who read and change the same database whenever they like.
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { sql } from 'kysely'
import { systemClock } from '../../src/core/clock.ts'
import type { Ledger } from '../../src/ledger/ledger.ts'
import { fence, HOLDS_PER_NODE, joinNodes } from '../../src/ledger/nodes/membership.ts'
import { openLedger } from '../../src/ledger/nodes/open.ts'
import { verifyLedger } from '../../src/ledger/reports/verify.ts'
import type { Item } from '../../src/ledger/rules/batch.ts'
import { LEDGER_THREAD_MODULE, runInDatabase } from '../../src/ledger/sqlite/runner.ts'
import type { SqliteStore, Store } from '../../src/store/database/store.ts'
import { revokeKey } from '../../src/store/keys/lifecycle.ts'
import { openStore } from '../../src/store/open.ts'
import {
  ask,
  granted,
  LedgerFixture,
  refusal,
  settlement,
  spend,
} from '../contract/ledger-fixture.ts'
import { SAMPLE_PACE } from '../samples/ledger-pace.ts'

const options = { clock: systemClock, threadModules: [LEDGER_THREAD_MODULE] }

/** One node, and a second connection as another process would have. */
async function open(context: TestContext): Promise<{
  readonly folder: string
  readonly fixture: LedgerFixture
  readonly other: Store
}> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-journal-'))
  const url = `sqlite:${join(folder, 'test.db')}`
  const fixture = new LedgerFixture(await openStore(url, options), { nodes: 1 })
  await fixture.ready
  const other = await openStore(url, options)
  context.after(async () => {
    await other.close()
    await fixture.close()
    rmSync(folder, { recursive: true })
  })
  return { folder, fixture, other }
}

test('others see every row at once, and nothing is left of a node that has left', async (context) => {
  const { folder, fixture, other } = await open(context)
  const key = await fixture.key(null)
  const bare = new DatabaseSync(join(folder, 'test.db'), { readOnly: true })
  let lags = 0
  for (let count = 1; count <= 50; count++) {
    await spend(fixture.ledger, ask(key, 10))
    if (bare.prepare('SELECT count(*) AS count FROM usage').get()?.['count'] !== count) lags += 1
    const { rows } = await sql<{ count: number }>`SELECT count(*) AS count FROM usage`.execute(
      other.db,
    )
    assert.equal(Number(rows[0]?.count), count)
  }
  bare.close()
  assert.ok(lags > 0, 'what is decided in memory is not in the database at once')
  assert.deepEqual(await verifyLedger(other, { quiescent: true }), [])
  assert.equal(journalsIn(folder).length, 1)
  const second = await openLedger({ ...SAMPLE_PACE, store: other })
  await second.close()
  assert.equal(journalsIn(folder).length, 1)
})

test('the first calls of keys are decided in memory as well, with what the database has of them', async (context) => {
  const { folder, fixture, other } = await open(context)
  const keys: string[] = []
  for (let count = 0; count <= 20; count++) keys.push(await fixture.key(1000n))
  const [first = '', ...others] = keys
  await spend(fixture.ledger, ask(first, 10))
  const bare = new DatabaseSync(join(folder, 'test.db'), { readOnly: true })
  let lags = 0
  for (const key of others) {
    const asked = ask(key, 10)
    const answer = await fixture.ledger.reserve(asked)
    assert.ok(answer.reserved)
    if (bare.prepare('SELECT count(*) AS count FROM holds').get()?.['count'] === 0) lags += 1
    await fixture.ledger.settle(settlement(asked, answer))
    const refused = refusal(await fixture.ledger.reserve(ask(key, 999)))
    assert.equal(refused.reason, 'budget')
  }
  bare.close()
  assert.ok(lags > 0, 'their accounts are read, and nothing is committed for that')
  assert.deepEqual(await verifyLedger(other, { quiescent: true }), [])
})

test('batches of any size are decided in memory', async (context) => {
  const { folder, fixture, other } = await open(context)
  const key = await fixture.key(null)
  await spend(fixture.ledger, ask(key, 10))
  const bare = new DatabaseSync(join(folder, 'test.db'), { readOnly: true })
  context.after(() => bare.close())
  const rows = () => Number(bare.prepare('SELECT count(*) AS count FROM holds').get()?.['count'])
  let lags = 0
  for (let round = 0; round < 10; round++) {
    const held = await Promise.all(
      Array.from({ length: 250 }, async () => {
        const asked = ask(key, 10)
        return settlement(asked, granted(await fixture.ledger.reserve(asked)))
      }),
    )
    if (rows() === 0) lags += 1
    await Promise.all(held.map((each) => fixture.ledger.settle(each)))
  }
  assert.ok(lags > 0, 'what is decided in memory is not in the database at once')
  assert.equal((await fixture.usage(key)).length, 1 + 10 * 250)
  assert.deepEqual(await verifyLedger(other, { quiescent: true }), [])
})

test('a node that is alone again decides in memory again', async (context) => {
  const { folder, fixture, other } = await open(context)
  const key = await fixture.key(null)
  const bare = new DatabaseSync(join(folder, 'test.db'), { readOnly: true })
  context.after(() => bare.close())
  const rows = () => Number(bare.prepare('SELECT count(*) AS count FROM usage').get()?.['count'])
  let calls = 0
  const isInMemory = async (): Promise<boolean> => {
    let lags = 0
    for (let count = 0; count < 20; count++) {
      await spend(fixture.ledger, ask(key, 10))
      if (rows() !== ++calls) lags += 1
    }
    return lags > 0
  }
  assert.ok(await isInMemory())
  const visitor = await openLedger({ ...SAMPLE_PACE, store: other })
  assert.ok(!(await isInMemory()))
  await visitor.close()
  assert.ok(await isInMemory())
  assert.deepEqual(await verifyLedger(other, { quiescent: true }), [])
})

test('a node that was fenced and wakes up does not end the journal of the one that took over', async (context) => {
  const { fixture, other } = await open(context)
  const fenced = await joinNodes(other, 0)
  await fence(other, fenced)
  const key = await fixture.key(null)
  for (let count = 0; count < 3; count++) await spend(fixture.ledger, ask(key, 10))
  const journals = async () =>
    (await other.db.selectFrom('meta').select('name').where('name', 'like', 'journal:%').execute())
      .length
  assert.equal(await journals(), 1)

  // What the other one writes while this transaction lasts counts already, and must still be found.
  const on = { keyId: key, groupId: null, holdId: fenced * HOLDS_PER_NODE + 1 }
  const items: readonly Item[] = [{ kind: 'void', ...on, reason: 'a test' }]
  const batch = { nodeId: fenced, items, prices: [], isRetry: false }
  const direct = { batch, journal: null }
  const { result } = await runInDatabase(other as SqliteStore, direct)
  assert.equal(result.live, false)
  assert.equal(await journals(), 1)
})

test('a key that another process revokes gets nothing from then on', async (context) => {
  const { fixture, other } = await open(context)
  for (let round = 0; round < 20; round++) {
    const key = await fixture.key(null)
    await spend(fixture.ledger, ask(key, 10))
    await revokeKey(other, key, 'over')
    const answer = refusal(await fixture.ledger.reserve(ask(key, 10)))
    assert.equal(answer.reason === 'key_status' && answer.status, 'revoked')
  }
})

test('a budget is spent exactly while another process commits all the time', async (context) => {
  const { fixture, other } = await open(context)
  const key = await fixture.key(100_000n)
  const ended = new AbortController()
  let commits = 0
  const committing = (async (): Promise<void> => {
    for (; !ended.signal.aborted; commits++) {
      await sql`INSERT INTO meta (name, value) VALUES ('test', ${commits})
        ON CONFLICT (name) DO UPDATE SET value = excluded.value`.execute(other.db)
    }
  })()
  let answered = 0
  while (commits < 50 || answered < 100) {
    answered += await callAtOnce(5, key, () => fixture.ledger)
  }
  ended.abort()
  await committing
  assert.equal(answered, 100)
  const account = await fixture.account(key)
  assert.deepEqual([account.spent_nanodollars, account.held_nanodollars], [100_000n, 0n])
  assert.deepEqual(await verifyLedger(other, { quiescent: true }), [])
})

test('a budget is spent exactly while other nodes join, spend of it and leave', async (context) => {
  const { fixture, other } = await open(context)
  const key = await fixture.key(100_000n)
  const ended = new AbortController()
  const visiting = (async (): Promise<number> => {
    let answered = 0
    while (!ended.signal.aborted) {
      const visitor = await openLedger({ ...SAMPLE_PACE, store: other })
      answered += await callAtOnce(3, key, () => visitor)
      await visitor.close()
    }
    return answered
  })()
  let answered = 0
  for (let wave = 0; wave < 30; wave++) answered += await callAtOnce(10, key, () => fixture.ledger)
  ended.abort()
  const ofVisitors = await visiting
  assert.ok(ofVisitors > 0, 'others have spent of it')
  assert.equal(answered + ofVisitors, 100)
  const account = await fixture.account(key)
  assert.deepEqual([account.spent_nanodollars, account.held_nanodollars], [100_000n, 0n])
  assert.deepEqual(await verifyLedger(other, { quiescent: true }), [])
})

function journalsIn(folder: string): readonly string[] {
  return readdirSync(folder).filter((name) => name.includes('-node-'))
}

/** How many of so many calls at once are answered, each at the cost that was held for it. */
async function callAtOnce(count: number, key: string, ledger: () => Ledger): Promise<number> {
  const calls = Array.from({ length: count }, async () => {
    const asked = ask(key, 1000)
    const answer = await ledger().reserve(asked)
    if (answer.reserved) await ledger().settle(settlement(asked, answer))
    return answer.reserved
  })
  return (await Promise.all(calls)).filter(Boolean).length
}
