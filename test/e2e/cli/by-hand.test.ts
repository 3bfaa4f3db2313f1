// Changes to budgets by the command line beside a running gateway: they take effect at once, and the audit log says who
// made them, why, and the value before. On both databases; each change is timed while the gateway is under load, 120 of
// them with `ROUNDS=20 node --test …`.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { systemClock } from '../../../src/core/clock.ts'
import { resetSpent, topUp } from '../../../src/ledger/nodes/adjustments.ts'
import { LEDGER_THREAD_MODULE } from '../../../src/ledger/sqlite/runner.ts'
import { listAudit } from '../../../src/store/audit/record.ts'
import type { Store } from '../../../src/store/database/store.ts'
import { setFrame } from '../../../src/store/frame.ts'
import { findKey } from '../../../src/store/keys/keys.ts'
import { createKey, revokeKey, updateKey } from '../../../src/store/keys/lifecycle.ts'
import { openStore } from '../../../src/store/open.ts'
import { startGateway, type TestGateway } from '../../support/gateway.ts'
import { freshDatabase } from '../../support/postgres/postgres.ts'
import { start } from '../../support/process.ts'
import { callSandbox } from '../../support/sandbox.ts'
import { freshSqlite } from '../../support/store.ts'

const ROUNDS = Number(process.env['ROUNDS'] ?? 10)
const CALL_USD = '0.000203'
const CLIENTS = fileURLToPath(new URL('../../support/programs/busy-clients.ts', import.meta.url))

for (const [name, fresh] of Object.entries({ SQLite: freshSqlite, PostgreSQL: freshDatabase }))
  describe(`changes by hand on ${name}`, () => {
    let database: Awaited<ReturnType<typeof fresh>>
    let gateway: TestGateway
    let store: Store
    before(async () => {
      database = await fresh()
      gateway = await startGateway({ database: database.url })
      const threadModules = [LEDGER_THREAD_MODULE]
      store = await openStore(database.url, { clock: systemClock, threadModules })
    })
    after(async () => {
      await store.close()
      await gateway.stop()
      await database.drop()
    })

    test('top-ups, resets and limits take effect at once, and record who and why', async () => {
      const budget = ['--budget', CALL_USD, '--when-tight', 'refuse']
      const secret = await gateway.key('app', 'sandbox-chat', ...budget)
      const passes = async (): Promise<boolean> => (await callSandbox(gateway.url, secret)) === 200
      assert.deepEqual([await passes(), await passes()], [true, false])

      const words = ['app', '--amount', CALL_USD, '--reason', 'one more']
      const { budget: shown, remaining } = await gateway.tollgate('ledger', 'top-up', ...words)
      assert.deepEqual([shown, remaining], [CALL_USD, CALL_USD])
      assert.deepEqual([await passes(), await passes()], [true, false])

      const after = await gateway.tollgate('ledger', 'reset', 'app', '--reason', 'our own loop')
      assert.deepEqual([after['spent'], after['remaining']], ['0', CALL_USD])
      assert.deepEqual([await passes(), await passes()], [true, false])

      const change = ['--budget', '1', '--reason', 'a new customer']
      await gateway.tollgate('keys', 'update', 'app', ...change)
      assert.equal(await passes(), true)
      const frame = ['--budget', '0.0001', '--reason', 'the end of the quarter']
      await gateway.tollgate('frame', 'set', ...frame)
      assert.equal(await passes(), false)
      await gateway.tollgate('ledger', 'top-up', 'frame', '--amount', '5', '--reason', 'agreed')
      assert.equal(await passes(), true)

      const record = await listAudit(store, { limit: 20 })
      const said = record.toReversed().flatMap(({ action, actor, reason, fields }) => {
        assert.match(actor, /^command line, ./)
        const [field] = fields
        return reason === null ? [] : [[action, reason, field?.before, field?.after]]
      })
      assert.deepEqual(said, [
        ['key.top_up', 'one more', '0', CALL_USD],
        ['key.reset_spend', 'our own loop', '0.000406', '0'],
        ['key.change', 'a new customer', CALL_USD, '1'],
        ['frame.change', 'the end of the quarter', '100', '0.0001'],
        ['frame.top_up', 'agreed', '0', '5'],
      ])
      assert.partialDeepStrictEqual(await gateway.tollgate('ledger', 'verify', '--quiescent'), {
        ok: true,
        violations: [],
      })
    })

    test('a change beside a loaded gateway does not wait long', async (t) => {
      await setFrame(store, { limitNanodollars: 1_000_000_000_000n })
      const secret = await gateway.key('busy', 'sandbox-chat', '--budget', '100')
      const { id } = await findKey(store, 'busy')
      await using clients = start(process.execPath, [CLIENTS, gateway.url, secret, '32'])
      await clients.printed(/\.{100}/)
      const tookMs: number[] = []
      const timed = async (change: () => Promise<unknown>): Promise<void> => {
        const startedMs = performance.now()
        await change()
        tookMs.push(performance.now() - startedMs)
      }
      for (let round = 0; round < ROUNDS; round++) {
        const limitNanodollars = 100_000_000_000n + BigInt(round)
        const settings = { name: `short-lived ${round}`, models: ['m'], limitNanodollars }
        await timed(() => createKey(store, settings))
        await timed(() => updateKey(store, id, { limitNanodollars }))
        await timed(() => setFrame(store, { limitNanodollars: 1_000_000_000_000n }))
        await timed(() => topUp(store, { accountId: id, amountNanodollars: 1n, reason: 'test' }))
        await timed(() => resetSpent(store, { accountId: id, reason: 'test' }))
        await timed(() => revokeKey(store, settings.name, 'test'))
      }
      const answers = (await clients.stop()).stdout.length
      const sorted = tookMs.toSorted((one, other) => one - other)
      const at = (part: number): number =>
        Math.round(sorted[Math.floor(part * (sorted.length - 1))] ?? 0)
      t.diagnostic(
        `${sorted.length} changes beside ${answers} answers: median ${at(0.5)} ms, 95 % ${at(0.95)} ms, at most ${at(1)} ms`,
      )
      // Far above what a change takes, and far below what SQLite's busy wait or a long-held lock would cost.
      assert.ok(at(0.5) < 1_000, `the median is ${at(0.5)} ms`)
      assert.partialDeepStrictEqual(await gateway.tollgate('ledger', 'verify', '--quiescent'), {
        ok: true,
        violations: [],
      })
    })
  })
