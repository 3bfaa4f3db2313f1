// Sets what an account has beside its main budget: the second window, caps for models, what one request may cost, and the
// group of a key. Each change is a part of the transaction that has locked the account (`lockAccount`).
import { isGroupId, newId } from '../../core/ids.ts'
import { MODEL_BUDGETS_MAX } from '../../core/limits.ts'
import { BUDGET_MAX, formatUsd, type Nanodollars } from '../../core/money.ts'
import type { Period, PeriodRule } from '../../core/periods.ts'
import { sentence, type Sentence } from '../../core/sentences.ts'
import { StoreError } from '../database/errors.ts'
import { databaseNow, type Store } from '../database/store.ts'
import type { Row, Tx } from '../database/tables.ts'
import {
  capOf,
  closedBudget,
  endedAt,
  packBudgets,
  setBudgets,
  unpackBudgets,
  WINDOW,
  type BudgetSetting,
  type FurtherBudget,
} from './budgets.ts'

/** What is undefined stays as it is, and null removes. */
export type LegsChange = {
  /** Of another period than the main budget, in the same time zone and with the same start of the week. */
  readonly window?: BudgetAmount | null | undefined
  /** By the public names of models. */
  readonly modelBudgets?: ReadonlyMap<string, BudgetAmount | null> | undefined
  readonly requestCostMaxNanodollars?: Nanodollars | null | undefined
  readonly groupId?: string | null | undefined
}

export type BudgetAmount = { readonly limitNanodollars: Nanodollars; readonly period: Period }

type AccountRow = Row<'accounts'>

/** The columns of the account that change, for the same transaction; budgets that are removed are closed here. */
export async function legColumns(
  store: Store,
  tx: Tx,
  { from, to }: { readonly from: AccountRow; readonly to: LegsChange & Partial<PeriodRule> },
): Promise<Partial<Pick<AccountRow, 'budgets' | 'request_cost_max_nanodollars' | 'group_id'>>> {
  const { requestCostMaxNanodollars: most, groupId } = to
  if (most !== undefined) checkRequestCost(most)
  if (groupId !== undefined && groupId !== null) await requireActive(tx, groupId)
  const budgets = await budgetsAfter(store, tx, { from, to })
  return {
    ...(budgets !== from.budgets && { budgets }),
    ...(most !== undefined && { request_cost_max_nanodollars: most }),
    ...(groupId !== undefined && { group_id: groupId }),
  }
}

async function budgetsAfter(
  store: Store,
  tx: Tx,
  { from, to }: { readonly from: AccountRow; readonly to: LegsChange & Partial<PeriodRule> },
): Promise<string> {
  const known = unpackBudgets(from.budgets)
  const wanted = wantedBudgets(known, to)
  checkWanted(wanted, to.period ?? from.period)
  if (known.length === 0 && wanted.length === 0) return from.budgets
  const formerRule = { timezone: from.timezone, weekStart: from.week_start }
  const { timezone = from.timezone, weekStart = from.week_start } = to
  const now = await databaseNow(store, tx)
  const lastSeqs = await lastSeqsOf(tx, from.id)
  const { budgets, removed } = setBudgets(known, {
    wanted,
    rule: { timezone, weekStart },
    formerRule,
    now,
    firstSeq: (name) => (lastSeqs.get(name) ?? 0) + 1,
  })
  for (const budget of removed) await close(tx, { accountId: from.id, budget, now })
  return packBudgets(budgets)
}

/** Of each budget: an order is kept, so that nothing changes where nothing was asked to. */
function wantedBudgets(
  known: readonly FurtherBudget[],
  { window, modelBudgets = new Map() }: LegsChange,
): readonly BudgetSetting[] {
  const wanted = new Map<FurtherBudget['name'], BudgetSetting>()
  for (const { name, period, limit } of known)
    wanted.set(name, { name, period, limit: limit ?? 0n })
  const set = (name: FurtherBudget['name'], amount: BudgetAmount | null): void => {
    if (amount === null) wanted.delete(name)
    else wanted.set(name, { name, period: amount.period, limit: amount.limitNanodollars })
  }
  if (window !== undefined) set(WINDOW, window)
  for (const [model, amount] of modelBudgets) set(capOf(model), amount)
  return [...wanted.values()]
}

function checkWanted(wanted: readonly BudgetSetting[], mainPeriod: Period): void {
  for (const { name, period, limit } of wanted) {
    const field = name === WINDOW ? 'window' : 'model_budgets'
    if (limit < 0n || limit > BUDGET_MAX) {
      throw invalid(field, sentence('budget_range', { most: formatUsd(BUDGET_MAX) }))
    }
    if (name === WINDOW && period === mainPeriod) {
      throw invalid(field, sentence('window_same_period', { period }))
    }
  }
  const caps = wanted.filter(({ name }) => name !== WINDOW).length
  if (caps <= MODEL_BUDGETS_MAX) return
  throw invalid(
    'model_budgets',
    sentence('too_many', { field: 'model_budgets', most: MODEL_BUDGETS_MAX }),
  )
}

function checkRequestCost(most: Nanodollars | null): void {
  if (most === null || (most > 0n && most <= BUDGET_MAX)) return
  throw invalid('request_cost_max', sentence('request_cost_range', { most: formatUsd(BUDGET_MAX) }))
}

/** Locked, because an archived group must take no key: after the key's account, in the order of the ledger. */
async function requireActive(tx: Tx, groupId: string): Promise<void> {
  if (!isGroupId(groupId)) throw invalid('group', sentence('no_such_group'))
  const group = await tx
    .updateTable('accounts')
    .set((column) => ({ status: column.ref('status') }))
    .where('id', '=', groupId)
    .returning('status')
    .executeTakeFirst()
  if (group === undefined) throw invalid('group', sentence('no_such_group'))
  if (group.status !== 'active') throw invalid('group', sentence('group_archived'))
}

/** The highest number of a closed period, by budget. */
async function lastSeqsOf(tx: Tx, accountId: string): Promise<ReadonlyMap<string, number>> {
  const rows = await tx
    .selectFrom('account_periods')
    .select(({ fn }) => ['budget', fn.max('seq').as('seq')])
    .where('account_id', '=', accountId)
    .groupBy('budget')
    .execute()
  return new Map(rows.map(({ budget, seq }) => [budget, seq]))
}

type Closing = { readonly accountId: string; readonly budget: FurtherBudget; readonly now: number }

/** Late settlements find what a removed budget holds here. */
async function close(tx: Tx, { accountId, budget, now }: Closing): Promise<void> {
  const closed = closedBudget(budget, endedAt(budget, now))
  await tx
    .insertInto('account_periods')
    .values({
      account_id: accountId,
      budget: budget.name,
      seq: closed.seq,
      starts_at: closed.startsAt,
      ends_at: closed.endsAt,
      limit_nanodollars: closed.limit,
      spent_nanodollars: closed.spent,
      held_nanodollars: closed.held,
      overrun_nanodollars: closed.overrun,
      granted_limit_nanodollars: closed.grantedLimit,
    })
    .execute()
}

type NewGroupAccount = PeriodRule & {
  /** Null: only the frame limits it. */
  readonly limitNanodollars: Nanodollars | null
}

/** The account of a new group of keys, under the id that it returns. */
export async function insertGroupAccount(
  store: Store,
  tx: Tx,
  { limitNanodollars, period, timezone, weekStart }: NewGroupAccount,
): Promise<string> {
  const id = newId('grp', store.clock)
  await tx
    .insertInto('accounts')
    .values({
      id,
      limit_nanodollars: limitNanodollars,
      period,
      timezone,
      week_start: weekStart,
    })
    .execute()
  return id
}

function invalid(field: string, why: Sentence): StoreError {
  return new StoreError('invalid_value', why, { field })
}
