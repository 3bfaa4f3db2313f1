// Helpers for the cases of the ledger's contract: a set of books with its nodes, asks and settlements.
import assert from 'node:assert/strict'
import { systemClock } from '../../src/core/clock.ts'
import { NO_USAGE } from '../../src/core/events.ts'
import { newId } from '../../src/core/ids.ts'
import type { Ask, Ledger, Refused, Reserved, Settlement } from '../../src/ledger/ledger.ts'
import { openLedger, type LedgerOptions } from '../../src/ledger/nodes/open.ts'
import { lockAccount } from '../../src/store/accounts/accounts.ts'
import { legColumns, type LegsChange } from '../../src/store/accounts/budget-changes.ts'
import { packBudgets, unpackBudgets } from '../../src/store/accounts/budgets.ts'
import type { Store } from '../../src/store/database/store.ts'
import type { Row } from '../../src/store/database/tables.ts'
import { seedFrame } from '../../src/store/frame.ts'
import { createGroup } from '../../src/store/groups/lifecycle.ts'
import { createKey } from '../../src/store/keys/lifecycle.ts'
import { findKey } from '../../src/store/keys/keys.ts'
import { SAMPLE_FRAME } from '../samples/frame.ts'
import { SAMPLE_PACE } from '../samples/ledger-pace.ts'

/** One token costs one nanodollar, so that amounts equal token counts. */
const PICO = 1000n
export const USD = 1_000_000_000n

export type Database = { readonly store: Store; drop(): Promise<void> }

type FixtureOptions = Partial<LedgerOptions> & { readonly nodes?: number }

export type It = (what: string, run: (fixture: LedgerFixture) => Promise<void>) => void

/** One set of books with its nodes, three unless told otherwise, and helpers for the cases. */
export class LedgerFixture {
  readonly store: Store
  readonly ready: Promise<void>
  readonly nodes: Ledger[] = []
  #keys = 0
  #groups = 0

  constructor(store: Store, { nodes = 3, ...options }: FixtureOptions = {}) {
    this.store = store
    this.ready = this.#prepare(nodes, options)
  }

  async #prepare(nodes: number, options: Partial<LedgerOptions>): Promise<void> {
    await seedFrame(this.store, { ...SAMPLE_FRAME, limitNanodollars: 1_000_000n * USD })
    for (let count = 0; count < nodes; count++) {
      this.nodes.push(await openLedger({ ...SAMPLE_PACE, ...options, store: this.store }))
    }
  }

  get ledger(): Ledger {
    return this.node(0)
  }

  /** In turn. */
  node(turn: number): Ledger {
    const node = this.nodes[turn % this.nodes.length]
    assert.ok(node)
    return node
  }

  async key(
    limitNanodollars: bigint | null,
    more: Partial<Parameters<typeof createKey>[1]> = {},
  ): Promise<string> {
    const name = `key ${++this.#keys}`
    const { key } = await createKey(this.store, { name, models: ['m'], limitNanodollars, ...more })
    return key.id
  }

  /** A group of keys without rates; `columns` are set as they are. */
  async group(
    limitNanodollars: bigint | null,
    columns: Partial<Row<'accounts'>> = {},
    legs: LegsChange = {},
  ): Promise<string> {
    const name = `group ${++this.#groups}`
    const { id } = await createGroup(this.store, { name, limitNanodollars })
    await this.changeGroup(id, columns, legs)
    return id
  }

  /** As a change of a group does: its version goes up. */
  async changeGroup(
    id: string,
    columns: Partial<Row<'accounts'>>,
    legs: LegsChange = {},
  ): Promise<void> {
    await this.store.db.transaction().execute(async (tx) => {
      const from = await lockAccount(tx, id)
      const changed = { ...columns, ...(await legColumns(this.store, tx, { from, to: legs })) }
      if (Object.keys(changed).length === 0) return
      await tx.updateTable('accounts').set(changed).where('id', '=', id).execute()
    })
  }

  /** An ask of a key as a request would make it now, with the versions that are true. */
  async ask(keyId: string, outputTokens: number, more: Partial<Ask> = {}): Promise<Ask> {
    const { allowVersion, groupId, groupVersion } = await findKey(this.store, keyId)
    return ask(keyId, outputTokens, { allowVersion, groupId, groupVersion, ...more })
  }

  /** What the budgets of an account have spent and hold, by their names. */
  async budgets(id: string): Promise<Readonly<Record<string, readonly [bigint, bigint]>>> {
    const row = await this.account(id)
    const further = unpackBudgets(row.budgets)
    return Object.fromEntries([
      ['', [row.spent_nanodollars, row.held_nanodollars]],
      ...further.map(({ name, spent, held }) => [name, [spent, held]]),
    ])
  }

  /** Simulates the end of a further budget's period. */
  async endBudget(id: string, name: string): Promise<void> {
    const { budgets } = await this.account(id)
    const ended = unpackBudgets(budgets).map((budget) =>
      budget.name === name ? { ...budget, periodEndsAt: budget.periodStartsAt } : budget,
    )
    await this.store.db
      .updateTable('accounts')
      .set({ budgets: packBudgets(ended) })
      .where('id', '=', id)
      .execute()
  }

  async account(id: string) {
    return this.store.db
      .selectFrom('accounts')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
  }

  /** Simulates the end of the period: the next batch finds it over. */
  async endPeriod(id: string): Promise<void> {
    const { period_starts_at } = await this.account(id)
    await this.store.db
      .updateTable('accounts')
      // Not later: it may have begun in this millisecond.
      .set({ period_ends_at: period_starts_at })
      .where('id', '=', id)
      .execute()
  }

  async usage(keyId: string) {
    return this.store.db.selectFrom('usage').selectAll().where('key_id', '=', keyId).execute()
  }

  async close(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.close()))
    await this.store.close()
  }
}

/** An ask for this many output tokens, and nothing else that costs. */
export function ask(keyId: string, outputTokens: number, more: Partial<Ask> = {}): Ask {
  return {
    requestId: newId('req', systemClock),
    keyId,
    groupId: null,
    groupVersion: 0,
    allowVersion: 1,
    endpoint: 'chat',
    modelAsked: 'm',
    candidates: [
      {
        fixedPicodollars: 0n,
        outputTokenPicodollars: PICO,
        outputTokens,
        outputTokensFrom: 'client',
        outputTokensMinimum: 256,
      },
    ],
    whenTight: 'refuse',
    estimatedTokens: 10,
    recounted: true,
    ...more,
  }
}

export function settlement(
  asked: Ask,
  reserved: Reserved,
  more: Partial<Settlement> = {},
): Settlement {
  return {
    holdId: reserved.holdId,
    requestId: asked.requestId,
    keyId: asked.keyId,
    groupId: reserved.groupId,
    endpoint: asked.endpoint,
    modelAsked: asked.modelAsked,
    modelServed: 'm-2026',
    provider: 'sandbox',
    status: 200,
    errorCode: null,
    tokens: { ...NO_USAGE, inputTokens: 4, outputTokens: 6 },
    costNanodollars: reserved.amountNanodollars,
    price: null,
    estimated: false,
    latencyMs: 12.5,
    firstTokenMs: 3.25,
    traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
    endUser: null,
    tags: {},
    attempts: [],
    ...more,
  }
}

export function granted(answer: Reserved | Refused): Reserved {
  assert.ok(
    answer.reserved,
    `refused: ${JSON.stringify(answer, (_, value) => (typeof value === 'bigint' ? `${value}` : value))}`,
  )
  return answer
}

export function refusal(answer: Reserved | Refused): Refused {
  assert.ok(!answer.reserved, 'granted')
  return answer
}

export async function spend(
  ledger: Ledger,
  asked: Ask,
  more: Partial<Settlement> = {},
): Promise<Reserved> {
  const reserved = granted(await ledger.reserve(asked))
  await ledger.settle(settlement(asked, reserved, more))
  return reserved
}
