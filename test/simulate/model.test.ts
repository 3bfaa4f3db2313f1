// The ledger on real databases against a model that is nothing but sums: whatever is done, in whatever order, both must
// agree.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { systemClock } from '../../src/core/clock.ts'
import type { Ask, Reserved } from '../../src/ledger/ledger.ts'
import { adjustHold, resetSpent, topUp } from '../../src/ledger/nodes/adjustments.ts'
import { verifyLedger } from '../../src/ledger/reports/verify.ts'
import { LEDGER_THREAD_MODULE } from '../../src/ledger/sqlite/runner.ts'
import type { LegsChange } from '../../src/store/accounts/budget-changes.ts'
import { updateKey } from '../../src/store/keys/lifecycle.ts'
import { openStore } from '../../src/store/open.ts'
import { LedgerFixture, settlement } from '../contract/ledger-fixture.ts'
import { freshDatabase } from '../support/postgres/postgres.ts'

const LIMIT = 1000

/** One budget as plain sums; `period` counts up, also when it is set anew. */
type Budget = { isOn: boolean; limit: number; topUp: number; period: number; spent: number }

const LEGS = ['key', 'window', 'cap', 'group'] as const
type Leg = (typeof LEGS)[number]

/** One key's books. A hold remembers the period of each leg that it was granted in; 0 = it had no such leg. */
type Model = {
  readonly legs: Readonly<Record<Leg, Budget>>
  holds: {
    readonly id: number
    readonly periods: Readonly<Record<Leg, number>>
    amount: number
    cost: number | undefined
    isVoided: boolean
    isSettled: boolean
  }[]
}

type Real = {
  readonly fixture: LedgerFixture
  readonly keyId: string
  readonly groupId: string
  readonly holds: { readonly asked: Ask; readonly reserved: Reserved }[]
}

type Command = fc.AsyncCommand<Model, Real>

const held = (model: Model, leg: Leg): number =>
  sum(
    model.holds
      .filter((hold) => isOpen(hold) && hold.periods[leg] === model.legs[leg].period)
      .map((hold) => hold.amount),
  )
const isOpen = (hold: Model['holds'][number]): boolean => hold.cost === undefined
const sum = (amounts: readonly number[]): number =>
  amounts.reduce((total, amount) => total + amount, 0)
const someone = { reason: 'model' }

const legsOn = ({ legs }: Model): readonly Leg[] => LEGS.filter((leg) => legs[leg].isOn)

/** Whether all legs have room: now, or once nothing is held, or not. */
function room(model: Model, amount: number): 'granted' | 'held' | 'budget' {
  const isRoom = (taken: (leg: Leg) => number): boolean =>
    legsOn(model).every((leg) => {
      const { limit, topUp, spent } = model.legs[leg]
      return spent + taken(leg) + amount <= limit + topUp
    })
  if (amount === 0 || isRoom((leg) => held(model, leg))) return 'granted'
  return isRoom(() => 0) ? 'held' : 'budget'
}

function addHold(model: Model, amount: number): void {
  const numbers = LEGS.map((leg) => [leg, model.legs[leg].isOn ? model.legs[leg].period : 0])
  model.holds.push({
    id: model.holds.length,
    periods: Object.fromEntries(numbers) as Record<Leg, number>,
    amount,
    cost: undefined,
    isVoided: false,
    isSettled: false,
  })
}

/** Each command does one thing to both and compares the results; `pick` chooses one of the existing holds. */
function reserve(tokens: number): Command {
  return {
    check: () => true,
    toString: () => `reserve ${tokens}`,
    async run(model, real) {
      const asked = await real.fixture.ask(real.keyId, tokens)
      // A dry run first, because it does not wait for holds that this test will not free meanwhile.
      const verdict = await real.fixture.ledger.dryRun(asked)
      assert.equal(verdict.reserved ? 'granted' : verdict.reason, room(model, tokens))
      if (!verdict.reserved) return
      const reserved = await real.fixture.ledger.reserve(asked)
      assert.ok(reserved.reserved)
      real.holds.push({ asked, reserved })
      addHold(model, tokens)
    },
  }
}

/** An ask for this many tokens at the first of several targets, each at its own price per token. */
function choose(tokens: number, prices: readonly number[], isLastTry: boolean): Command {
  return {
    check: () => true,
    toString: () => `reserve ${tokens} at ${prices.join(' or ')}${isLastTry ? ', last try' : ''}`,
    async run(model, real) {
      const asked = await real.fixture.ask(real.keyId, tokens)
      const [worst] = asked.candidates
      assert.ok(worst)
      const candidates = prices.map((price) => ({
        ...worst,
        outputTokenPicodollars: worst.outputTokenPicodollars * BigInt(price),
      }))
      const verdict = await real.fixture.ledger.dryRun({ ...asked, candidates, isLastTry })
      const grants = prices.map((price) => {
        const found = room(model, tokens * price)
        return found === 'granted' ? { outputTokens: tokens, capped: false } : found
      })
      const first = grants.find((grant) =>
        isLastTry ? typeof grant !== 'string' : grant !== 'budget',
      )
      const isHeldUp = first === 'held' || (first === undefined && grants.includes('held'))
      if (first === undefined || isHeldUp) {
        assert.ok(!verdict.reserved && 'shortage' in verdict)
        assert.equal(verdict.reason, isHeldUp ? 'held' : 'budget')
        const cheapest = Math.min(...prices) * tokens
        if (!isHeldUp) assert.equal(verdict.shortage.requiredNanodollars, BigInt(cheapest))
        return
      }
      const reserved = await real.fixture.ledger.reserve({ ...asked, candidates, isLastTry })
      assert.ok(reserved.reserved)
      const kept = prices.filter((_, index) => typeof grants[index] !== 'string')
      const amount = Math.max(...kept) * tokens
      assert.deepEqual([reserved.grants, reserved.amountNanodollars], [grants, BigInt(amount)])
      real.holds.push({ asked, reserved })
      addHold(model, amount)
    },
  }
}

function settle(pick: number, percent: number): Command {
  return onHold(`settle ${percent} %`, pick, async (model, real, { hold, asked, reserved }) => {
    const cost = Math.floor((hold.amount * percent) / 100)
    const costNanodollars = BigInt(cost)
    const answer = await real.fixture.ledger.settle(
      settlement(asked, reserved, { costNanodollars }),
    )
    // A voided hold that cost something after all is charged; a second settlement returns the result of the first.
    const isFirst = !hold.isSettled
    hold.isSettled = true
    if (!isFirst || (!isOpen(hold) && (!hold.isVoided || cost === 0))) return
    assert.equal(answer.costNanodollars, costNanodollars)
    charge(model, hold, cost)
  })
}

function release(pick: number): Command {
  return onHold('void', pick, async (model, real, { hold, reserved }) => {
    await real.fixture.ledger.void(reserved.holdId, 'model')
    if (!isOpen(hold)) return
    charge(model, hold, 0)
    hold.isVoided = true
  })
}

function trim(pick: number, percent: number): Command {
  return onHold(`trim to ${percent} %`, pick, async (_, real, { hold, reserved }) => {
    const amount = Math.floor((hold.amount * percent) / 100)
    await real.fixture.ledger.trim(reserved.holdId, BigInt(amount))
    if (isOpen(hold)) hold.amount = amount
  })
}

function extend(pick: number, extra: number): Command {
  return onHold(`extend by ${extra}`, pick, async (model, real, { hold, reserved }) => {
    const fits = LEGS.filter((leg) => hold.periods[leg] !== 0).every((leg) => {
      const { isOn, limit, topUp, period, spent } = model.legs[leg]
      const isRunning = hold.periods[leg] === period && (isOn || leg === 'group')
      return isRunning && spent + held(model, leg) + extra <= limit + topUp
    })
    const expected = isOpen(hold) && fits
    assert.equal(await real.fixture.ledger.extend(reserved.holdId, BigInt(extra)), expected)
    if (expected) hold.amount += extra
  })
}

function adjust(pick: number, cost: number): Command {
  return onHold(`adjust to ${cost}`, pick, async (model, real, { hold, reserved }) => {
    const change = { ...someone, holdId: reserved.holdId, costNanodollars: BigInt(cost) }
    if (hold.cost === undefined) return assert.rejects(adjustHold(real.fixture.store, change))
    await adjustHold(real.fixture.store, change)
    charge(model, hold, cost)
  })
}

const NAMES = { key: '', group: '', window: 'window', cap: 'model:m' } as const

function administer(what: 'top up' | 'reset' | 'end of period', leg: Leg): Command {
  return {
    check: ({ legs }) => legs[leg].isOn,
    toString: () => `${what} of ${leg}`,
    async run(model, { fixture, keyId, groupId }) {
      const accountId = leg === 'group' ? groupId : keyId
      const budget = NAMES[leg]
      if (what === 'top up') {
        await topUp(fixture.store, { ...someone, accountId, budget, amountNanodollars: 300n })
        model.legs[leg].topUp += 300
        return
      }
      // Without a first use there is no period of an account to end.
      const { period } = model.legs[leg]
      const isUsed = period > 1 || model.holds.some(({ periods }) => periods[leg] === period)
      if (budget === '' && !isUsed) return
      if (what === 'reset') await resetSpent(fixture.store, { ...someone, accountId, budget })
      else if (budget === '') await fixture.endPeriod(accountId)
      else await fixture.endBudget(accountId, budget)
      Object.assign(model.legs[leg], { period: period + 1, spent: 0, topUp: 0 })
    },
  }
}

/** Sets a window, a cap or the group of the key; null removes it. */
function arrange(leg: 'window' | 'cap' | 'group', limit: number | null): Command {
  return {
    check: () => true,
    toString: () => `${leg} of ${limit}`,
    async run(model, { fixture, keyId, groupId }) {
      const budget = model.legs[leg]
      const limitNanodollars = BigInt(limit ?? 0)
      const legs: LegsChange = {
        window: {
          window: limit === null ? null : ({ limitNanodollars, period: 'never' } as const),
        },
        cap: {
          modelBudgets: new Map([
            ['m', limit === null ? null : ({ limitNanodollars, period: 'year' } as const)],
          ]),
        },
        group: { groupId: limit === null ? null : groupId },
      }[leg]
      await updateKey(fixture.store, keyId, { legs })
      const isNew = !budget.isOn && limit !== null && leg !== 'group'
      if (isNew) Object.assign(budget, { period: budget.period + 1, spent: 0, topUp: 0 })
      if (limit !== null && leg !== 'group') budget.limit = limit
      budget.isOn = limit !== null
    },
  }
}

type Chosen = Real['holds'][number] & { readonly hold: Model['holds'][number] }

function onHold(
  name: string,
  pick: number,
  act: (model: Model, real: Real, chosen: Chosen) => Promise<void>,
): Command {
  return {
    check: (model) => model.holds.length > 0,
    toString: () => `${name} of #${pick}`,
    async run(model, real) {
      const hold = model.holds[pick % model.holds.length]
      const known = hold && real.holds[hold.id]
      assert.ok(hold && known)
      await act(model, real, { ...known, hold })
      const balances = await real.fixture.ledger.balances(real.keyId)
      const found = {
        key: balances?.key,
        window: balances?.keyWindow,
        cap: balances?.models[0],
        group: balances?.group,
      }
      for (const leg of legsOn(model)) {
        assert.equal(found[leg]?.spentNanodollars, BigInt(model.legs[leg].spent), `spent of ${leg}`)
        assert.equal(found[leg]?.heldNanodollars, BigInt(held(model, leg)), `held of ${leg}`)
      }
    },
  }
}

function charge(model: Model, hold: Model['holds'][number], cost: number): void {
  for (const leg of LEGS) {
    const budget = model.legs[leg]
    if (hold.periods[leg] === budget.period) budget.spent += cost - (hold.cost ?? 0)
  }
  hold.cost = cost
  hold.isVoided = false
}

const pick = fc.nat(20)
const percent = fc.constantFrom(0, 50, 100, 130)
const commands = fc.commands(
  [
    fc.integer({ min: 0, max: 12 }).map((hundreds) => reserve(hundreds * 100)),
    fc
      .tuple(
        fc.integer({ min: 0, max: 6 }),
        fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 2, maxLength: 4 }),
        fc.boolean(),
      )
      .map(([hundreds, prices, isLastTry]) => choose(hundreds * 100, prices, isLastTry)),
    fc.tuple(pick, percent).map(([of, to]) => settle(of, to)),
    pick.map(release),
    fc.tuple(pick, fc.constantFrom(0, 50)).map(([of, to]) => trim(of, to)),
    fc.tuple(pick, fc.constantFrom(1, 100, 500)).map(([of, by]) => extend(of, by)),
    fc.tuple(pick, fc.constantFrom(0, 100, 900)).map(([of, to]) => adjust(of, to)),
    fc
      .tuple(fc.constantFrom('top up', 'reset', 'end of period'), fc.constantFrom(...LEGS))
      .map(([what, leg]) => administer(what, leg)),
    fc
      .tuple(fc.constantFrom('window', 'cap', 'group'), fc.constantFrom(null, 300, 700, 5000))
      .map(([leg, limit]) => arrange(leg, limit)),
  ],
  { maxCommands: 40 },
)

async function agree(url: string, numRuns: number): Promise<void> {
  const store = await openStore(url, {
    clock: systemClock,
    threadModules: [LEDGER_THREAD_MODULE],
  })
  const fixture = new LedgerFixture(store)
  await fixture.ready
  try {
    await compare(fixture, numRuns)
  } finally {
    await fixture.close()
  }
}

async function compare(fixture: LedgerFixture, numRuns: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(commands, async (todo) => {
      const keyId = await fixture.key(BigInt(LIMIT))
      const groupId = await fixture.group(BigInt(LIMIT))
      const budget = (isOn: boolean): Budget => {
        return { isOn, limit: LIMIT, topUp: 0, period: 1, spent: 0 }
      }
      const model: Model = {
        legs: {
          key: budget(true),
          window: budget(false),
          cap: budget(false),
          group: budget(false),
        },
        holds: [],
      }
      const real: Real = { fixture, keyId, groupId, holds: [] }
      await fc.asyncModelRun(() => ({ model, real }), todo)
    }),
    { numRuns },
  )
  assert.deepEqual(await verifyLedger(fixture.store), [])
}

test('SQLite agrees with the model', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-model-'))
  await agree(`sqlite:${join(folder, 'test.db')}`, 500)
  rmSync(folder, { recursive: true })
})

test('PostgreSQL agrees with the model', async () => {
  const database = await freshDatabase()
  await agree(database.url, 100)
  await database.drop()
})
