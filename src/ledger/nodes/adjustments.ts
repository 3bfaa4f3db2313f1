// Changes that people make to the books: top up, reset, adjust a charge. Each is an ordinary batch with an entry that
// says who made it and why. None grants a hold, so they need no node and work beside running servers.
import { newId } from '../../core/ids.ts'
import { BUDGET_MAX, formatUsd, type Nanodollars } from '../../core/money.ts'
import { sentence } from '../../core/sentences.ts'
import { MAIN, type Budget, type BudgetName } from '../../store/accounts/budgets.ts'
import { checkReason } from '../../store/accounts/settings.ts'
import { lapseAlerts } from '../../store/alerts/give.ts'
import { StoreError } from '../../store/database/errors.ts'
import type { Store } from '../../store/database/store.ts'
import type { HoldId } from '../ledger.ts'
import type { Item, Note } from '../rules/batch.ts'
import { budgetOf } from '../rules/account.ts'
import { ACCOUNT } from '../rules/rows.ts'
import { runOnce } from './open.ts'

/** Why, in the author's own words; kept for good, with the name under which the store was opened. */
type Reasoned = { readonly reason: string }

/** A budget of a key, of a group or of the frame; the main one unless another is named. */
type OnBudget = Reasoned & { readonly accountId: string; readonly budget?: BudgetName | undefined }

/** Adds to what may be spent, until the period of the budget ends. */
export async function topUp(
  store: Store,
  change: OnBudget & { readonly amountNanodollars: Nanodollars },
): Promise<void> {
  const { accountId: keyId, budget = MAIN, amountNanodollars: amount } = change
  if (amount <= 0n) {
    throw new StoreError('invalid_value', sentence('amount_above_zero'), { field: 'amount' })
  }
  const { limit } = await readOpen(store, keyId, budget)
  if (limit === null) throw new StoreError('wrong_state', sentence('key_without_limit'))
  await apply(store, { kind: 'top-up', keyId, budget, amount, note: noteOf(store, change) })
  await lapseAlerts(store, keyId)
}

/** Starts a new period of a budget now. It ends when the old one would have ended. */
export async function resetSpent(store: Store, change: OnBudget): Promise<void> {
  const { accountId: keyId, budget = MAIN } = change
  await readOpen(store, keyId, budget)
  await apply(store, { kind: 'reset', keyId, budget, note: noteOf(store, change) })
}

type Adjusted = { readonly before: Nanodollars; readonly after: Nanodollars }

/** Sets what a closed hold is charged, as when the provider's bill replaces the guess made for an orphan. */
export async function adjustHold(
  store: Store,
  change: Reasoned & { readonly holdId: HoldId; readonly costNanodollars: Nanodollars },
): Promise<Adjusted> {
  const { holdId, costNanodollars: cost } = change
  // No budget pays for more than this, and sums of larger costs would not fit into the database.
  if (cost < 0n || cost > BUDGET_MAX) {
    const range = sentence('cost_range', { most: formatUsd(BUDGET_MAX) })
    throw new StoreError('invalid_value', range, { field: 'cost' })
  }
  const row = await store.db
    .selectFrom('usage')
    .select(['key_id', 'group_id', 'cost_nanodollars'])
    .where('id', '=', holdId)
    .executeTakeFirst()
  if (row === undefined) {
    throw new StoreError('unknown_hold', sentence('no_such_hold', { id: holdId }))
  }
  await apply(store, {
    kind: 'adjust',
    keyId: row.key_id,
    groupId: row.group_id,
    holdId,
    cost,
    note: noteOf(store, change),
  })
  return { before: row.cost_nanodollars, after: cost }
}

export type Orphan = {
  readonly holdId: HoldId
  readonly requestId: string
  readonly keyId: string
  readonly model: string
  readonly reservedAt: number
  readonly chargedNanodollars: Nanodollars
}

const ORPHANS_LISTED_MAX = 1000

/** Holds whose node died, newest first: charged in full until a settlement or an adjustment corrects them. */
export async function listOrphans(store: Store): Promise<readonly Orphan[]> {
  return store.db
    .selectFrom('usage')
    .select(['id as holdId', 'request_id as requestId', 'key_id as keyId', 'model_asked as model'])
    .select(['reserved_at as reservedAt', 'cost_nanodollars as chargedNanodollars'])
    .where('state', '=', 'orphaned')
    .orderBy('id', 'desc')
    .limit(ORPHANS_LISTED_MAX)
    .execute()
}

/** The budget. A revoked key is history: nothing about it changes any more. */
async function readOpen(
  store: Store,
  accountId: string,
  name: BudgetName,
): Promise<Pick<Budget, 'limit'>> {
  const row = await store.db
    .selectFrom('accounts')
    .selectAll()
    .where('id', '=', accountId)
    .executeTakeFirst()
  if (row === undefined) throw new StoreError('unknown_key', sentence('no_such_account'))
  if (row.status === 'revoked') {
    throw new StoreError('wrong_state', sentence('key_revoked_for_good'))
  }
  const budget = budgetOf(ACCOUNT.read(row, 0), name)
  if (budget !== undefined) return budget
  throw new StoreError('wrong_state', sentence('no_such_window'))
}

async function apply(store: Store, item: Item): Promise<void> {
  const batch = { nodeId: null, items: [item], prices: [], isRetry: false }
  const result = await runOnce(store, batch)
  const outcome = result.live ? result.outcomes[0] : undefined
  if (outcome?.kind !== 'changed' || !outcome.done) {
    throw new StoreError('unknown_key', sentence('no_such_account'))
  }
}

function noteOf(store: Store, { reason }: Reasoned): Note {
  const { actor, ...origin } = store.author
  return {
    entryId: newId('entry', store.clock),
    actor,
    reason: checkReason(reason),
    origin: JSON.stringify(origin),
  }
}
