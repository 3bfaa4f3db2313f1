// Real processes over a real database, killed and stopped at random under load; then the books are compared with what
// the provider saw. `ROUNDS=500 node --test test/simulate/kill-loop.test.ts` runs more.
import assert from 'node:assert/strict'
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { systemClock } from '../../src/core/clock.ts'
import { openLedger } from '../../src/ledger/nodes/open.ts'
import { verifyLedger } from '../../src/ledger/reports/verify.ts'
import { LEDGER_THREAD_MODULE } from '../../src/ledger/sqlite/runner.ts'
import type { Store } from '../../src/store/database/store.ts'
import { FRAME_ID } from '../../src/store/database/tables.ts'
import { seedFrame } from '../../src/store/frame.ts'
import { createGroup } from '../../src/store/groups/lifecycle.ts'
import { createKey, updateKey } from '../../src/store/keys/lifecycle.ts'
import { openStore } from '../../src/store/open.ts'
import { SAMPLE_FRAME } from '../samples/frame.ts'
import { SAMPLE_PACE } from '../samples/ledger-pace.ts'
import { freshDatabase } from '../support/postgres/postgres.ts'

const ROUNDS = Number(process.env['ROUNDS'] ?? 10)
const NODE = fileURLToPath(new URL('./kill-node.ts', import.meta.url))

for (const [who, nodes] of [
  ['one node, which keeps a journal', 1],
  ['two nodes', 2],
] as const) {
  test(`SQLite: ${ROUNDS} rounds of kill -9 on ${who} lose nothing`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-kill-'))
    await killLoop(`sqlite:${join(folder, 'test.db')}`, nodes)
    rmSync(folder, { recursive: true })
  })
}

test(`PostgreSQL: ${ROUNDS} rounds of kill -9 on three nodes lose nothing`, async () => {
  const database = await freshDatabase()
  await killLoop(database.url, 3)
  await database.drop()
})

async function killLoop(url: string, count: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-kill-'))
  const options = { clock: systemClock, threadModules: [LEDGER_THREAD_MODULE] }
  const store = await openStore(url, options)
  await seedFrame(store, { ...SAMPLE_FRAME, limitNanodollars: 40_000n })
  const rule = { period: 'never', timezone: 'UTC', weekStart: 'mon' } as const
  const groups: string[] = []
  for (const limitNanodollars of [8000n, null]) {
    const name = `group ${groups.length}`
    groups.push((await createGroup(store, { ...rule, name, limitNanodollars })).id)
  }
  const [one = '', other = ''] = groups
  const window = { limitNanodollars: 3000n, period: 'day' } as const
  const modelBudgets = new Map([['m', { limitNanodollars: 6000n, period: 'week' }]] as const)
  const keys: string[] = []
  for (const [limitNanodollars, legs] of [
    [5000n, {}],
    [20_000n, { groupId: one, window, modelBudgets }],
    [null, { groupId: one, requestCostMaxNanodollars: 900n }],
    [null, { groupId: other, window }],
  ] as const) {
    const name = `key ${keys.length}`
    const settings = { name, models: ['m'], limitNanodollars, period: 'never', legs } as const
    keys.push((await createKey(store, settings)).key.id)
  }
  const crew = new Crew([url, join(folder, 'truth'), join(folder, 'spool'), ...keys])
  try {
    for (let index = 0; index < count; index++) await crew.hire()
    for (let round = 0; round < ROUNDS; round++) {
      await sleep(50 + Math.random() * 250)
      await disturb(crew, store)
      await raise(store, [...keys, ...groups, FRAME_ID])
      await rearrange(store, keys.slice(1), groups)
    }
    await crew.dismiss()
    await compare(store, join(folder, 'truth'), join(folder, 'spool'))
  } finally {
    crew.end()
    await store.close()
    rmSync(folder, { recursive: true })
  }
}

/** Budgets are small so that requests reach them, and raised so that there is always something left to compete for. */
async function raise(store: Store, accounts: readonly string[]): Promise<void> {
  for (const id of accounts) {
    await sql`UPDATE accounts SET limit_nanodollars = limit_nanodollars + 20000 WHERE id = ${id}`.execute(
      store.db,
    )
  }
}

/** Moves keys between groups, and removes and sets windows and caps, while calls are held on them. */
async function rearrange(
  store: Store,
  keys: readonly string[],
  groups: readonly string[],
): Promise<void> {
  const pick = <Thing>(things: readonly Thing[]): Thing | undefined =>
    things[Math.floor(Math.random() * things.length)]
  const amount = {
    limitNanodollars: BigInt(Math.floor(Math.random() * 9000)),
    period: 'week',
  } as const
  await updateKey(store, pick(keys) ?? '', {
    legs: {
      groupId: pick([...groups, null]) ?? null,
      window: pick([amount, null]) ?? null,
      modelBudgets: new Map([['m', pick([amount, null]) ?? null]]),
    },
  })
}

/** Mostly kills a node; sometimes freezes it until others take it for dead, or cuts the connections of all. */
async function disturb(crew: Crew, store: Store): Promise<void> {
  const chance = Math.random()
  if (chance < 0.6) return crew.kill()
  if (chance < 0.8 || store.kind === 'sqlite') return crew.freeze(1500)
  await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name = 'tollgate ledger' AND datname = current_database()`.execute(store.db)
}

/** The processes at work. */
class Crew {
  readonly #settings: readonly string[]
  readonly #members: ChildProcess[] = []

  constructor(settings: readonly string[]) {
    this.#settings = settings
  }

  async hire(): Promise<void> {
    const child = fork(NODE, this.#settings, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    this.#members.push(child)
    await once(child, 'message')
  }

  async kill(): Promise<void> {
    const [victim] = this.#members.splice(Math.floor(Math.random() * this.#members.length), 1)
    victim?.kill('SIGKILL')
    await this.hire()
  }

  async freeze(ms: number): Promise<void> {
    const victim = this.#members[Math.floor(Math.random() * this.#members.length)]
    victim?.kill('SIGSTOP')
    await sleep(ms)
    victim?.kill('SIGCONT')
  }

  /** Whatever happened, no process stays behind. */
  end(): void {
    for (const member of this.#members) member.kill('SIGKILL')
  }

  async dismiss(): Promise<void> {
    await Promise.all(
      this.#members.map(async (member) => {
        const left = once(member, 'exit')
        member.send('stop')
        const [code] = await left
        assert.equal(code, 0)
      }),
    )
  }
}

async function compare(store: Store, truthFile: string, spoolFolder: string): Promise<void> {
  // The next start takes over whatever dead nodes left behind.
  const ledger = await openLedger({ store, spoolFolder, ...SAMPLE_PACE })
  await ledger.close()
  assert.deepEqual(await verifyLedger(store, { quiescent: true }), [])

  const truth = { dispatched: new Map<number, bigint>(), cost: new Map(), settled: new Map() }
  for (const line of readFileSync(truthFile, 'utf8').trim().split('\n')) {
    const [what, holdId, amount] = line.split(' ')
    truth[what as keyof typeof truth].set(Number(holdId), BigInt(amount ?? ''))
  }
  const rows = await store.db
    .selectFrom('usage')
    .select(['id', 'state', 'cost_nanodollars', 'held_nanodollars'])
    .execute()
  const byId = new Map(rows.map((row) => [row.id, row]))
  for (const holdId of truth.dispatched.keys()) {
    assert.ok(byId.has(holdId), `hold ${holdId} was dispatched and is not in the books`)
  }
  for (const [holdId, cost] of truth.settled) {
    assert.equal(
      byId.get(holdId)?.cost_nanodollars,
      cost,
      `what was acknowledged for hold ${holdId}`,
    )
  }
  for (const row of rows) {
    if (row.state === 'settled') assert.equal(row.cost_nanodollars, truth.cost.get(row.id))
    if (row.state === 'orphaned') assert.equal(row.cost_nanodollars, row.held_nanodollars)
    if (row.state === 'voided') assert.ok(!truth.dispatched.has(row.id))
  }
  assert.ok(truth.settled.size > ROUNDS, 'something was at work')
}
