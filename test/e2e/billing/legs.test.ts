// Every kind of budget holds when it is the tight one: keys in groups, all with second windows and caps by model, under
// calls made at once, on three nodes over one PostgreSQL and on SQLite. `CALLS=500` is the full form.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { systemClock } from '../../../src/core/clock.ts'
import { formatUsd, parseUsd, type Nanodollars } from '../../../src/core/money.ts'
import { createGroup } from '../../../src/store/groups/lifecycle.ts'
import { createKey } from '../../../src/store/keys/lifecycle.ts'
import { LEDGER_THREAD_MODULE } from '../../../src/ledger/sqlite/runner.ts'
import { openStore } from '../../../src/store/open.ts'
import { startGateway, type TestGateway } from '../../support/gateway.ts'
import { freshDatabase } from '../../support/postgres/postgres.ts'
import { freshSqlite, newKey } from '../../support/store.ts'

const CALLS = Number(process.env['CALLS'] ?? 60)
const GROUPS = 5
const KEYS = 10
/** How many calls the tight budget pays for. */
const PAID = 10
const MODEL = 'sandbox-chat'
const AMPLE = 1_000_000n * 1_000_000_000n

/** It uses its worst case to the last token, so that a budget can be used up exactly. */
const BODY = JSON.stringify({
  model: MODEL,
  max_tokens: 1000,
  messages: [{ role: 'user', content: '[[sandbox tokens=1000]] Tell me a story.' }],
})

type Budget = { readonly spent: string; readonly remaining: string | null }
type Account = Budget & { readonly window: Budget; readonly model_budgets?: readonly Budget[] }
type Refusal = { readonly code: string; readonly scope: string; readonly period: string }
type Outcome = { readonly status: number; readonly error?: Refusal }

/** A budget that is made tight: the words that set it, where it then stands, and how its refusals name it. */
type Leg = {
  readonly name: string
  readonly callers: 'key' | 'group' | 'all'
  readonly set: (amount: string) => readonly string[]
  readonly of: (account: Account) => Budget
  readonly refusal: Refusal
}

const KEY = ['keys', 'update', 'team 0/app 0']
const GROUP = ['groups', 'update', 'team 0']
const FRAME = ['frame', 'set']
const cap = (account: Account) => account.model_budgets?.[0] ?? account
const LEGS: readonly Leg[] = [
  {
    name: 'the cap of a key for a model',
    callers: 'key',
    set: (amount) => [...KEY, '--model-budget', `${MODEL}=${amount}/week`],
    of: cap,
    refusal: { code: 'model_budget_exceeded', scope: 'model', period: 'week' },
  },
  {
    name: 'the window of a key',
    callers: 'key',
    set: (amount) => [...KEY, '--window', `${amount}/day`],
    of: ({ window }) => window,
    refusal: { code: 'key_budget_exceeded', scope: 'key', period: 'day' },
  },
  {
    name: 'the budget of a key',
    callers: 'key',
    set: (amount) => [...KEY, '--budget', amount],
    of: (account) => account,
    refusal: { code: 'key_budget_exceeded', scope: 'key', period: 'month' },
  },
  {
    name: 'the window of a group',
    callers: 'group',
    set: (amount) => [...GROUP, '--window', `${amount}/day`],
    of: ({ window }) => window,
    refusal: { code: 'group_budget_exceeded', scope: 'group', period: 'day' },
  },
  {
    name: 'the budget of a group',
    callers: 'group',
    set: (amount) => [...GROUP, '--budget', amount],
    of: (account) => account,
    refusal: { code: 'group_budget_exceeded', scope: 'group', period: 'month' },
  },
  {
    name: 'the window of the frame',
    callers: 'all',
    set: (amount) => [...FRAME, '--window', `${amount}/day`],
    of: ({ window }) => window,
    refusal: { code: 'frame_budget_exceeded', scope: 'frame', period: 'day' },
  },
  {
    name: 'the budget of the frame',
    callers: 'all',
    set: (amount) => [...FRAME, '--budget', amount],
    of: (account) => account,
    refusal: { code: 'frame_budget_exceeded', scope: 'frame', period: 'month' },
  },
]

for (const { name, nodes: count, fresh } of [
  { name: 'three nodes over one PostgreSQL', nodes: 3, fresh: freshDatabase },
  { name: 'SQLite', nodes: 1, fresh: freshSqlite },
])
  describe(`${CALLS} calls at once on ${name}`, () => {
    let database: Awaited<ReturnType<typeof fresh>>
    let nodes: TestGateway[] = []
    const secrets: string[] = []

    before(async () => {
      database = await fresh()
      // The first one makes the database.
      nodes = [await startGateway({ database: database.url })]
      while (nodes.length < count) nodes.push(await startGateway({ database: database.url }))
      secrets.push(...(await makeAccounts(database.url)))
      const ample = formatUsd(AMPLE)
      await command('frame', 'set', '--budget', ample, '--window', `${ample}/day`)
    })
    after(async () => {
      await Promise.all(nodes.map((node) => node.stop()))
      await database.drop()
    })

    const command = async (...words: readonly string[]): Promise<Account> =>
      (await nodes[0]?.tollgate(...words)) as unknown as Account
    const accountOf = ({ set }: Leg): Promise<Account> => {
      const [kind = '', , id = ''] = set('')
      return command(kind, 'show', ...(kind === 'frame' ? [] : [id]))
    }
    const callers = (leg: Leg): readonly string[] =>
      secrets.slice(0, { key: 1, group: KEYS, all: secrets.length }[leg.callers])
    const callAll = (leg: Leg): Promise<readonly Outcome[]> =>
      Promise.all(
        Array.from({ length: CALLS }, (_, index) => {
          const from = callers(leg)
          return call(nodes[index % count]?.url ?? '', from[index % from.length] ?? '')
        }),
      )

    for (const leg of LEGS)
      test(`${leg.name} pays for ${PAID}`, async () => {
        const cost = await worstCase(nodes[0]?.url ?? '', secrets[0] ?? '')
        const alreadySpent = parseUsd(leg.of(await accountOf(leg)).spent)
        const limit = alreadySpent + BigInt(PAID) * cost
        await command(...leg.set(formatUsd(limit)))
        const outcomes = await callAll(leg)
        const refused = outcomes.filter(({ status }) => status !== 200)
        assert.equal(outcomes.length - refused.length, PAID)
        for (const { status, error } of refused) {
          assert.equal(status, 402)
          assert.partialDeepStrictEqual(error as object, leg.refusal)
        }
        const budget = leg.of(await accountOf(leg))
        assert.deepEqual([budget.spent, budget.remaining], [formatUsd(limit), '0'])
        assert.partialDeepStrictEqual(await command('ledger', 'verify', '--quiescent'), {
          ok: true,
          violations: [],
        })
        await command(...leg.set(formatUsd(AMPLE)))
      })

    test('the cost of one request pays for all or none', async () => {
      const cost = await worstCase(nodes[0]?.url ?? '', secrets[0] ?? '')
      const leg = LEGS.find(({ callers }) => callers === 'group')
      assert.ok(leg)
      await command(...GROUP, '--request-cost-max', formatUsd(cost - 1n))
      for (const { status, error } of await callAll(leg)) {
        assert.deepEqual([status, error?.code], [402, 'request_cost_exceeded'])
      }
      await command(...GROUP, '--request-cost-max', formatUsd(cost))
      const outcomes = await callAll(leg)
      assert.ok(outcomes.every(({ status }) => status === 200))
      assert.partialDeepStrictEqual(await command('ledger', 'verify', '--quiescent'), { ok: true })
    })
  })

/** Keys in groups, with every budget a key and a group can have, all ample; returns the secrets. */
async function makeAccounts(url: string): Promise<readonly string[]> {
  const store = await openStore(url, { clock: systemClock, threadModules: [LEDGER_THREAD_MODULE] })
  const window = { limitNanodollars: AMPLE, period: 'day' } as const
  const secrets: string[] = []
  for (let number = 0; number < GROUPS; number++) {
    const settings = { name: `team ${number}`, limitNanodollars: AMPLE, legs: { window } }
    const { id: groupId } = await createGroup(store, settings)
    for (let key = 0; key < KEYS; key++) {
      const modelBudgets = new Map([[MODEL, { limitNanodollars: AMPLE, period: 'week' } as const]])
      const legs = { groupId, window, modelBudgets }
      const rest = { limitNanodollars: AMPLE, whenTight: 'refuse', legs } as const
      secrets.push((await createKey(store, newKey(`app ${key}`, rest))).secret)
    }
  }
  await store.close()
  return secrets
}

/** Calls until it is answered or refused for good, and comes back when it is told to. */
async function call(url: string, secret: string): Promise<Outcome> {
  for (;;) {
    const headers = { authorization: `Bearer ${secret}` }
    const request = { method: 'POST', headers, body: BODY }
    const response = await fetch(`${url}/v1/chat/completions`, request)
    const { error } = (await response.json()) as { readonly error?: Refusal }
    if (response.status !== 429 && response.status !== 503) {
      return { status: response.status, ...(error && { error }) }
    }
    await pause(200)
  }
}

/** The most that one call may cost, according to the gateway. */
async function worstCase(url: string, secret: string): Promise<Nanodollars> {
  const headers = { authorization: `Bearer ${secret}`, 'x-tollgate-dry-run': '1' }
  const request = { method: 'POST', headers, body: BODY }
  const response = await fetch(`${url}/v1/chat/completions`, request)
  return parseUsd(((await response.json()) as { readonly worst_case: string }).worst_case)
}
