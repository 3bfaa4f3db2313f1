// The ledger's contract for nodes that die, stop or lose the database. It has its own books, because impatient nodes
// declare any node dead that beats more slowly than they do.
import assert from 'node:assert/strict'
import { fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { DAY_MS } from '../../src/core/units.ts'
import { adjustHold, listOrphans, resetSpent } from '../../src/ledger/nodes/adjustments.ts'
import { MACHINE } from '../../src/ledger/nodes/membership.ts'
import { openLedger, runnerFor } from '../../src/ledger/nodes/open.ts'
import { periodsAhead, verifyLedger } from '../../src/ledger/reports/verify.ts'
import { toCharge } from '../../src/ledger/rules/validation.ts'
import { Spool } from '../../src/ledger/writer/spool.ts'
import { FRAME_ID } from '../../src/store/database/tables.ts'
import { SAMPLE_PACE } from '../samples/ledger-pace.ts'
import { until } from '../support/until.ts'
import { ask, LedgerFixture, granted, settlement, spend, type Database } from './ledger-fixture.ts'

/** Never beats, and declares no node dead. */
const DEAF = { ...SAMPLE_PACE, beatMs: 3_600_000, deadAfterMs: 3_600_000 }
const REPLAYER = fileURLToPath(new URL('./ledger-replayer.ts', import.meta.url))
const VOIDER = fileURLToPath(new URL('./ledger-voider.ts', import.meta.url))
const IMPATIENT = { ...SAMPLE_PACE, beatMs: 20, deadAfterMs: 200, sweepMs: 50 }

export function ledgerNodesContract(
  name: string,
  open: () => Promise<Database & { readonly url: string; lock(): Promise<() => Promise<void>> }>,
): void {
  describe(`nodes of the ledger on ${name}`, () => {
    const opened = open()
    const fixture = opened.then(({ store }) => new LedgerFixture(store, DEAF))
    after(async () => {
      await (await fixture).close()
      await (await opened).drop()
    })

    const it = (what: string, run: (fixture: LedgerFixture) => Promise<void>): void => {
      test(what, async () => {
        const here = await fixture
        await here.ready
        await run(here)
        assert.deepEqual(await verifyLedger(here.store), [])
      })
    }

    it('a silent node is fenced, its holds are charged, and it can still settle them late', async (fixture) => {
      const key = await fixture.key(10_000n)
      const asks = [ask(key, 1000), ask(key, 2000), ask(key, 3000)]
      const holds = await Promise.all(
        asks.map(async (each) => granted(await fixture.ledger.reserve(each))),
      )
      const alarms: string[] = []
      const watcher = await openLedger({
        store: fixture.store,
        ...IMPATIENT,
        alarm: (message) => alarms.push(message),
      })
      await until(async () => (await listOrphans(fixture.store)).length === 3)
      await watcher.close()
      const saying = (what: string): readonly string[] =>
        alarms.filter((message) => message.includes(what))
      assert.equal(saying('has stopped').length, fixture.nodes.length)
      assert.match(saying('charged').join(), /^3 calls of nodes that have stopped: charged in full/)
      assert.equal((await fixture.account(key)).spent_nanodollars, 6000n)
      assert.ok(
        (await fixture.usage(key)).every((row) => row.estimated === 1 && row.state === 'orphaned'),
      )

      const [first, second, third] = holds
      const [firstAsk] = asks
      assert.ok(first && second && third && firstAsk)
      await fixture.ledger.settle(settlement(firstAsk, first, { costNanodollars: 700n }))
      await fixture.ledger.void(second.holdId, 'client_gone')
      await adjustHold(fixture.store, {
        holdId: third.holdId,
        costNanodollars: 2500n,
        reason: 'the bill came',
      })
      assert.equal((await fixture.account(key)).spent_nanodollars, 3200n)
      assert.deepEqual(await listOrphans(fixture.store), [])
      granted(await fixture.ledger.reserve(ask(key, 100)))
    })

    it('a hold can be charged as an orphan and settled in one batch', async (fixture) => {
      const key = await fixture.key(10_000n)
      const asked = ask(key, 1000)
      const reserved = granted(await fixture.ledger.reserve(asked))
      const charge = toCharge(settlement(asked, reserved, { costNanodollars: 300n }))
      const runner = runnerFor(fixture.store, () => {})
      await runner.run({
        nodeId: null,
        items: [
          { kind: 'orphan', keyId: key, groupId: null, holdId: reserved.holdId },
          { kind: 'settle', charge },
        ],
        prices: [],
        isRetry: false,
      })
      await runner.close()
      const rows = await fixture.usage(key)
      assert.deepEqual(
        rows.map((row) => [row.state, row.cost_nanodollars]),
        [['settled', 300n]],
      )
    })

    it('voids that the database does not take in time are in the books once it answers, without a sweep', async (fixture) => {
      const key = await fixture.key(1_000_000n)
      const node = await openLedger({ store: fixture.store, ...DEAF })
      const holds = await Promise.all(
        Array.from({ length: 400 }, async () => granted(await node.reserve(ask(key, 1000)))),
      )
      const release = await (await opened).lock()
      const voids = []
      for (const [index, { holdId }] of holds.entries()) {
        voids.push(node.void(holdId, 'client_gone'))
        // More turns than a batch waits for others to join: most voids are never sent before their time is up.
        for (let turns = 0; index === 0 && turns < 10; turns++) await turn()
      }
      await Promise.all(voids)
      await release()
      await until(async () => (await fixture.usage(key)).length === holds.length)
      const { spent_nanodollars, held_nanodollars, in_flight } = await fixture.account(key)
      assert.deepEqual([spent_nanodollars, held_nanodollars, in_flight], [0n, 0n, 0])
      await node.close()
    })

    it('voids that wait for the database when their process is killed are made by the next one', async (fixture) => {
      const folder = mkdtempSync(join(tmpdir(), 'tollgate-spool-'))
      const key = await fixture.key(10_000n)
      const { url, lock } = await opened
      const voider = fork(VOIDER, [url, folder, key])
      await once(voider, 'message')
      const release = await lock()
      voider.send('now')
      await once(voider, 'message')
      const ended = once(voider, 'exit')
      voider.kill('SIGKILL')
      await ended
      await release()
      assert.equal((await fixture.account(key)).held_nanodollars, 3000n)
      const node = await openLedger({ store: fixture.store, ...DEAF, spoolFolder: folder })
      const { spent_nanodollars, held_nanodollars } = await fixture.account(key)
      assert.deepEqual([spent_nanodollars, held_nanodollars], [0n, 0n])
      assert.deepEqual(readdirSync(folder), [])
      await node.close()
      rmSync(folder, { recursive: true })
    })

    it('the alarm about a dead node says that its holds are charged only once they are', async (fixture) => {
      const key = await fixture.key(10_000n)
      const silent = await openLedger({ store: fixture.store, ...DEAF })
      granted(await silent.reserve(ask(key, 1000)))
      const alarms: string[] = []
      const alarm = (message: string) => void alarms.push(message)
      const isSaid = (what: RegExp): boolean => alarms.some((message) => what.test(message))
      const watcher = await openLedger({ store: fixture.store, ...IMPATIENT, alarm })
      await sql`ALTER TABLE usage RENAME TO usage_elsewhere`.execute(fixture.store.db)
      await until(() => isSaid(/^node \d+ has stopped$/))
      assert.ok(!isSaid(/charged/))
      await sql`ALTER TABLE usage_elsewhere RENAME TO usage`.execute(fixture.store.db)
      await until(() => isSaid(/^\d+ calls? of nodes that have stopped: charged in full/))
      await until(async () => (await fixture.account(key)).spent_nanodollars === 1000n)
      await watcher.close()
      await silent.close()
      for (const { holdId } of await listOrphans(fixture.store))
        await adjustHold(fixture.store, { holdId, costNanodollars: 0n, reason: 'the bill came' })
    })

    it('a period that a clock which ran ahead has opened is reported once, until it is reset', async (fixture) => {
      const key = await fixture.key(10_000n, { period: 'day' })
      await spend(fixture.ledger, ask(key, 100))
      // As after a batch that ran while the clock was 400 days ahead.
      const startsAt = Math.floor((Date.now() + 400 * DAY_MS) / DAY_MS) * DAY_MS
      const move = (by: number) => ({ period_starts_at: startsAt, period_ends_at: startsAt + by })
      await fixture.store.db
        .updateTable('accounts')
        .set(move(DAY_MS))
        .where('id', '=', key)
        .execute()
      const alarms: string[] = []
      const alarm = (message: string) => void alarms.push(message)
      const pace = { ...DEAF, beatMs: 20, sweepMs: 20 }
      const node = await openLedger({ store: fixture.store, ...pace, alarm })
      const isAhead = (message: string): boolean => message.startsWith('a clock ran ahead')
      await until(() => alarms.some(isAhead))
      assert.match(alarms.find(isAhead) ?? '', new RegExp(`${key} begins at .*ledger verify`))
      assert.deepEqual(await periodsAhead(fixture.store), [
        { account: key, startsAt, endsAt: startsAt + DAY_MS },
      ])
      // Two more rounds of the auditor say nothing new.
      const refused = async (): Promise<number> => {
        const sums = fixture.store.db.selectFrom('rollups').select('refused')
        const rows = await sums.where('key_id', '=', key).where('span', '=', 'day').execute()
        return rows.reduce((sum, row) => sum + row.refused, 0)
      }
      for (const round of [1, 2, 3]) {
        node.countRefused(ask(key, 1))
        await until(async () => (await refused()) === round)
      }
      assert.equal(alarms.filter(isAhead).length, 1)
      await resetSpent(fixture.store, { accountId: key, reason: 'the clock was wrong' })
      assert.deepEqual(await periodsAhead(fixture.store), [])
      const { period_ends_at } = await fixture.account(key)
      assert.ok(period_ends_at !== null && period_ends_at <= Date.now() + DAY_MS)
      await node.close()
    })

    it('a node charges its own hold in full if the database has lost how it ended', async (fixture) => {
      const key = await fixture.key(10_000n)
      const alarms: string[] = []
      const alarm = (message: string) => void alarms.push(message)
      const pace = { ...IMPATIENT, deadAfterMs: 3_600_000 }
      const node = await openLedger({ store: fixture.store, ...pace, alarm })
      const { holdId } = granted(await node.reserve(ask(key, 1000)))
      // As after a failover to a replica that lagged behind: an open hold that no request of the node owns.
      await fixture.store.db
        .updateTable('holds')
        .set({ id: holdId + 1, reserved_at: 1 })
        .where('id', '=', holdId)
        .execute()
      await until(async () => (await listOrphans(fixture.store)).length === 1)
      const { spent_nanodollars, held_nanodollars } = await fixture.account(key)
      assert.deepEqual([spent_nanodollars, held_nanodollars], [1000n, 0n])
      await until(() => /lost how 1 call ended: it is charged in full/.test(alarms.join()))
      await node.close()
    })

    it('a dead process is recognized by its pid, but not on another machine of the same name', async (fixture) => {
      const { pid } = spawnSync(process.execPath, ['--version'])
      const node = { status: 'live', pid, joined_at: 0 } as const
      const nodes = [
        { ...node, id: 1_001, host: MACHINE },
        { ...node, id: 1_002, host: `${hostname()} of another start` },
      ]
      await fixture.store.db.insertInto('nodes').values(nodes).execute()
      await (await openLedger({ store: fixture.store, ...DEAF })).close()
      const found = await fixture.store.db
        .selectFrom('nodes')
        .select(['id', 'status'])
        .where('pid', '=', pid)
        .orderBy('id')
        .execute()
      assert.deepEqual(found, [
        { id: 1_001, status: 'fenced' },
        { id: 1_002, status: 'live' },
      ])
    })

    it('a settlement that the database does not take in time is spooled, and reaches it later', async (fixture) => {
      const folder = mkdtempSync(join(tmpdir(), 'tollgate-spool-'))
      const key = await fixture.key(10_000n)
      const node = await openLedger({ store: fixture.store, ...DEAF, spoolFolder: folder })
      const asked = ask(key, 1000)
      const reserved = granted(await node.reserve(asked))
      const release = await (await opened).lock()
      const settled = await node.settle(settlement(asked, reserved, { costNanodollars: 400n }))
      assert.equal(settled.durableIn, 'spool')
      assert.equal(readdirSync(folder).length, 1)
      await release()
      await until(async () => (await fixture.usage(key)).length === 1)
      assert.equal((await fixture.account(key)).spent_nanodollars, 400n)
      await node.close()
      assert.deepEqual(readdirSync(folder), [])
      rmSync(folder, { recursive: true })
    })

    it('a settlement whose table is away is spooled, and reaches the books later', async (fixture) => {
      const folder = mkdtempSync(join(tmpdir(), 'tollgate-spool-'))
      const node = await openLedger({ store: fixture.store, ...DEAF, spoolFolder: folder })
      const key = await fixture.key(10_000n)
      const asked = ask(key, 1000)
      const reserved = granted(await node.reserve(asked))
      await sql`ALTER TABLE usage RENAME TO usage_elsewhere`.execute(fixture.store.db)
      const { durableIn } = await node.settle(
        settlement(asked, reserved, { costNanodollars: 300n }),
      )
      await sql`ALTER TABLE usage_elsewhere RENAME TO usage`.execute(fixture.store.db)
      assert.equal(durableIn, 'spool')
      await until(async () => (await fixture.account(key)).spent_nanodollars === 300n)
      await node.close()
      rmSync(folder, { recursive: true })
    })

    it('the spool of a dead process is replayed once', async (fixture) => {
      const folder = mkdtempSync(join(tmpdir(), 'tollgate-spool-'))
      const key = await fixture.key(10_000n)
      const asked = ask(key, 1000)
      const reserved = granted(await fixture.ledger.reserve(asked))
      const charge = toCharge(settlement(asked, reserved, { costNanodollars: 400n }))
      for (const _ of ['once', 'again']) {
        const spool = new Spool(folder)
        await spool.append({ charge, price: undefined })
        await spool.close()
      }
      const node = await openLedger({ store: fixture.store, ...DEAF, spoolFolder: folder })
      assert.equal((await fixture.account(key)).spent_nanodollars, 400n)
      assert.deepEqual(readdirSync(folder), [])
      await node.close()
      rmSync(folder, { recursive: true })
    })

    it('a settlement spooled before a restore does not settle a newer call with the same hold id', async (fixture) => {
      const folder = mkdtempSync(join(tmpdir(), 'tollgate-spool-'))
      const key = await fixture.key(10_000n)
      const asked = ask(key, 1000)
      const reserved = granted(await fixture.ledger.reserve(asked))
      const lost = { ...asked, requestId: 'req_of_the_lost_books' }
      const charge = toCharge(settlement(lost, reserved, { costNanodollars: 400n }))
      const spool = new Spool(folder)
      await spool.append({ charge, price: undefined })
      await spool.close()
      const alarms: string[] = []
      const alarm = (message: string) => void alarms.push(message)
      const node = await openLedger({ store: fixture.store, ...DEAF, spoolFolder: folder, alarm })
      assert.match(alarms.join(), /no hold in the books: it is set aside in .*\.set-aside$/)
      await fixture.ledger.settle(settlement(asked, reserved, { costNanodollars: 300n }))
      assert.equal((await fixture.account(key)).spent_nanodollars, 300n)
      await node.close()
      rmSync(folder, { recursive: true })
    })

    it('a node that the books forgot, as after a restore, joins again and charges every call', async (fixture) => {
      const key = await fixture.key(10_000n)
      const node = await openLedger({ store: fixture.store, ...DEAF })
      await spend(node, ask(key, 1000), { costNanodollars: 300n })
      const { db } = fixture.store
      await sql`DELETE FROM node_beats WHERE node_id = (SELECT max(id) FROM nodes)`.execute(db)
      await sql`DELETE FROM nodes WHERE id = (SELECT max(id) FROM nodes)`.execute(db)
      await spend(node, ask(key, 1000), { costNanodollars: 400n })
      assert.equal((await fixture.account(key)).spent_nanodollars, 700n)
      await node.close()
    })

    it('settlements that several processes replay at once reach the books once', async (fixture) => {
      const folder = mkdtempSync(join(tmpdir(), 'tollgate-spool-'))
      const key = await fixture.key(1_000_000n)
      for (let file = 0; file < 50; file++) {
        const spool = new Spool(folder)
        const asks = [ask(key, 1000), ask(key, 1000)]
        for (const asked of asks) {
          const reserved = granted(await fixture.ledger.reserve(asked))
          const charge = toCharge(settlement(asked, reserved, { costNanodollars: 400n }))
          await spool.append({ charge, price: undefined })
        }
        await spool.close()
      }
      const { url } = await opened
      const replayers = [1, 2].map(() => fork(REPLAYER, [url, folder]))
      const ended = replayers.map((replayer) => once(replayer, 'exit'))
      await Promise.all(replayers.map((replayer) => once(replayer, 'message')))
      for (const replayer of replayers) replayer.send('now')
      assert.deepEqual(await Promise.all(ended), [
        [0, null],
        [0, null],
      ])
      assert.deepEqual(readdirSync(folder), [])
      assert.equal((await fixture.usage(key)).length, 100)
      assert.equal((await fixture.account(key)).spent_nanodollars, 40_000n)
      rmSync(folder, { recursive: true })
    })

    it('a process that is killed while it replays the spool loses nothing and charges nothing twice', async (fixture) => {
      const folder = mkdtempSync(join(tmpdir(), 'tollgate-spool-'))
      const key = await fixture.key(1_000_000n)
      const files = 6
      for (let file = 0; file < files; file++) {
        const asked = ask(key, 1000)
        const reserved = granted(await fixture.ledger.reserve(asked))
        const charge = toCharge(settlement(asked, reserved, { costNanodollars: 400n }))
        const spool = new Spool(folder)
        await spool.append({ charge, price: undefined })
        await spool.close()
      }
      const { url } = await opened
      const replay = async (...killedAfter: string[]): Promise<unknown> => {
        const replayer = fork(REPLAYER, [url, folder, ...killedAfter])
        const ended = once(replayer, 'exit')
        await once(replayer, 'message')
        replayer.send('now')
        return ended
      }
      for (const killedAfter of ['0', '1', '3'])
        assert.deepEqual(await replay(killedAfter), [null, 'SIGKILL'])
      assert.notEqual(readdirSync(folder).length, 0, 'not everything was replayed yet')
      assert.deepEqual(await replay(), [0, null])
      assert.deepEqual(readdirSync(folder), [])
      const rows = await fixture.usage(key)
      assert.deepEqual(new Set(rows.map(({ state }) => state)), new Set(['settled']))
      assert.equal(rows.length, files)
      assert.equal((await fixture.account(key)).spent_nanodollars, 400n * BigInt(files))
      rmSync(folder, { recursive: true })
    })

    for (const [what, column] of [
      ['held', 'held_nanodollars'],
      ['spent', 'spent_nanodollars'],
      ['in_flight', 'in_flight'],
    ] as const)
      it(`running nodes find a key whose ${what} is wrong`, async (fixture) => {
        const keys = await Promise.all([1, 2, 3].map(() => fixture.key(10_000n)))
        for (const key of keys) await spend(fixture.ledger, ask(key, 100))
        await found(fixture, { what, column, accountId: keys[1] ?? '' })
      })

    it('running nodes find a frame that has not spent what its keys have', (fixture) =>
      found(fixture, { what: 'spent', column: 'spent_nanodollars', accountId: FRAME_ID }))

    it('an unusable spool folder is reported at the start', async (fixture) => {
      const alarms: string[] = []
      const alarm = (message: string) => void alarms.push(message)
      for (const place of ['.', 'spool']) {
        // A folder cannot be created inside a file.
        const spoolFolder = join(fileURLToPath(import.meta.url), place)
        await (await openLedger({ store: fixture.store, ...DEAF, spoolFolder, alarm })).close()
        assert.match(alarms.pop() ?? '', /could not be kept .* ENOTDIR: .*ledger-nodes\.ts/)
      }
    })

    it('a settlement that neither database nor spool takes reaches the books later', async (fixture) => {
      const key = await fixture.key(10_000n)
      // A folder cannot be created inside a file.
      const spoolFolder = fileURLToPath(import.meta.url)
      const node = await openLedger({ store: fixture.store, ...DEAF, spoolFolder })
      const asks = [ask(key, 1000), ask(key, 1000)]
      const holds = await Promise.all(asks.map(async (asked) => granted(await node.reserve(asked))))
      const release = await (await opened).lock()
      const settled = []
      for (const [index, hold] of holds.entries()) {
        const asked = asks[index] ?? ask(key, 1)
        settled.push(node.settle(settlement(asked, hold, { costNanodollars: 400n })))
        // More turns than a batch waits for others to join: the second settlement comes while the first is on its way,
        // so no attempt of its own is under way when its time is up.
        for (let turns = 0; turns < 10; turns++) await turn()
      }
      const answers = await Promise.allSettled(settled)
      assert.deepEqual(
        answers.map(({ status }) => status),
        ['rejected', 'rejected'],
      )
      await release()
      await until(async () => (await fixture.account(key)).held_nanodollars === 0n)
      assert.equal((await fixture.account(key)).spent_nanodollars, 800n)
      await node.close()
    })
  })
}

type Corruption = {
  readonly what: string
  readonly column: 'held_nanodollars' | 'spent_nanodollars' | 'in_flight'
  readonly accountId: string
}

/** Falsifies an account by one, until a node raises the alarm. */
async function found(
  fixture: LedgerFixture,
  { what, column, accountId }: Corruption,
): Promise<void> {
  const alarms: string[] = []
  const alarm = (message: string): void => void alarms.push(message)
  const node = await openLedger({ ...DEAF, store: fixture.store, beatMs: 20, sweepMs: 20, alarm })
  const falsify = (by: number) =>
    sql`UPDATE accounts SET ${sql.ref(column)} = ${sql.ref(column)} + ${sql.lit(by)}
      WHERE id = ${accountId}`.execute(fixture.store.db)
  await falsify(1)
  const isSaid = (message: string): boolean =>
    message.startsWith(`the books do not balance: ${what} of ${accountId} is`)
  await until(async () => alarms.some(isSaid))
  await falsify(-1)
  await node.close()
}
