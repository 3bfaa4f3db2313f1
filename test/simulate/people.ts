// What people do to the accounts of a simulated run: they open them, and change limits, periods, budgets and groups while
// calls are under way.
import type { Item } from '../../src/ledger/rules/batch.ts'
import { unpackBudgets, type BudgetSetting } from '../../src/store/accounts/budgets.ts'
import { FRAME_ID } from '../../src/store/database/tables.ts'
import type { MemoryDatabase } from './memory-database.ts'
import type { SqliteDatabase } from './memory-journal.ts'
import type { Oracle } from './oracle.ts'
import type { Random } from './random.ts'

export const KEYS = ['key_a', 'key_b', 'key_c', 'key_d']
export const GROUPS = ['grp_x', 'grp_y']
export const MODELS = ['m', 'n']
const NOTE = { entryId: 'entry', actor: 'ann', reason: 'test' }

type Tools = {
  readonly random: Random
  readonly books: MemoryDatabase
  /** The same, if it is one. */
  readonly sqlite: SqliteDatabase | undefined
  readonly oracle: Oracle
  readonly command: (item: Item) => void
}

export class People {
  readonly #random: Random
  readonly #books: MemoryDatabase
  readonly #sqlite: SqliteDatabase | undefined
  readonly #oracle: Oracle
  readonly #command: (item: Item) => void

  constructor({ random, books, sqlite, oracle, command }: Tools) {
    this.#random = random
    this.#books = books
    this.#sqlite = sqlite
    this.#oracle = oracle
    this.#command = command
  }

  openAccounts(): void {
    this.#books.openAccount('key_a', 3000n, { rpm: 5, timezone: 'Asia/Kolkata' })
    this.#books.openAccount('key_b', 8000n, { concurrency: 3, groupId: 'grp_x' })
    this.#books.openAccount('key_c', null, { groupId: 'grp_x' })
    this.#books.openAccount('key_d', null, { groupId: 'grp_y' })
    this.#books.openAccount('grp_x', 9000n, { rpm: 8 })
    this.#books.openAccount('grp_y', null, { concurrency: 4 })
    this.#books.openAccount(FRAME_ID, 12_000n)
    for (const id of this.#books.accounts.keys()) {
      if (this.#random.chance(0.5)) this.#changeBudget(id)
      if (this.#random.chance(0.5)) this.#changeBudget(id)
      if (this.#random.chance(0.2)) this.#changeRequestCost(id)
    }
  }

  /** `latest` = when it is committed: what is decided until then may count in the minutes that begin with it. */
  change(latest = this.#books.now): void {
    const often = this.#sqlite === undefined ? [] : [FRAME_ID, FRAME_ID, FRAME_ID, 'key_a']
    const id = this.#random.pick([...KEYS, ...GROUPS, FRAME_ID, ...often]) ?? ''
    const account = this.#books.account(id)
    const what = this.#random.next()
    if (this.#sqlite !== undefined && this.#random.chance(0.3)) {
      const period = this.#random.pick(['day', 'week', 'never'] as const) ?? 'day'
      return this.#sqlite.setPeriod(id, period)
    }
    if (what < 0.35 && account.limit !== null) {
      const limit = BigInt(this.#random.between(0, id === FRAME_ID ? 200 : 90)) * 100n
      this.#books.change(id, { limit })
    } else if (what < 0.4 && id !== FRAME_ID) {
      const rpm = this.#random.chance(0.5) ? null : this.#random.between(1, 6)
      const concurrency = this.#random.chance(0.5) ? null : this.#random.between(1, 4)
      this.#books.change(id, { rpm, concurrency, rateWindow: '' })
      this.#oracle.forgetMinutes(latest)
    } else if (what < 0.5) {
      const budget = this.#anyBudget(id)
      this.#command({ kind: 'top-up', keyId: id, budget, amount: 500n, note: NOTE })
    } else if (what < 0.6) {
      this.#command({ kind: 'reset', keyId: id, budget: this.#anyBudget(id), note: NOTE })
    } else if (what < 0.8) this.#changeBudget(id)
    else if (what < 0.85) this.#changeRequestCost(id)
    else if (GROUPS.includes(id)) this.#changeGroup(id)
    else if (KEYS.includes(id)) {
      this.#books.change(id, { groupId: this.#random.pick([...GROUPS, null]) ?? null })
    }
  }

  /** Its models, or whether it is archived: its version goes up, and the next request is checked anew. */
  #changeGroup(id: string): void {
    const { status, allowVersion } = this.#books.account(id)
    const isArchived = status === 'active' && this.#random.chance(0.3)
    this.#books.change(id, {
      status: isArchived ? 'archived' : 'active',
      allowVersion: allowVersion + 1,
    })
  }

  /** Adds, changes or removes a second window, or on a key the cap for a model. */
  #changeBudget(id: string): void {
    const isCap = KEYS.includes(id) && this.#random.chance(0.5)
    const name = isCap ? (`model:${this.#random.pick(MODELS)}` as const) : 'window'
    const others = unpackBudgets(this.#books.account(id).budgets).flatMap(
      ({ name: other, period, limit }) =>
        other === name || limit === null ? [] : { name: other, period, limit },
    )
    const limit = BigInt(this.#random.between(0, id === FRAME_ID ? 200 : 90)) * 100n
    const period = this.#random.pick(['week', 'never', 'day'] as const) ?? 'week'
    const wanted: readonly BudgetSetting[] = this.#random.chance(0.3)
      ? others
      : [...others, { name, period, limit }]
    this.#books.setBudgets(id, wanted)
  }

  #changeRequestCost(id: string): void {
    if (id === FRAME_ID) return
    const most = this.#random.between(0, 9)
    this.#books.change(id, { requestCostMax: most === 0 ? null : BigInt(most) * 100n })
  }

  #anyBudget(id: string) {
    const budgets = unpackBudgets(this.#books.account(id).budgets)
    return this.#random.pick(['' as const, ...budgets.map(({ name }) => name)]) ?? ''
  }
}
