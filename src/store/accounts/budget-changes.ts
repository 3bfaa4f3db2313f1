// Sets what an account has beside its main budget: the second window, caps for models, what one request may cost, and the
// group of a key. Each change is a part of the transaction that has locked the account (`lockAccount`).
import { sql } from 'kysely'
import { MODEL_BUDGETS_MAX } from '../../core/limits.ts'
import { BUDGET_MAX, formatUsd, type Nanodollars } from '../../core/money.ts'
import type { Period, PeriodRule } from '../../core/periods.ts'
import { sentence } from '../../core/sentences.ts'
import { checkAll, refuseAll } from '../database/errors.ts'
import { databaseNow, isGroupReached, type Store } from '../database/store.ts'
import type { Row, Tx } from '../database/tables.ts'
import {
  capOf,
  closedBudget,
  endedAt,
  packBudgets,
  setBudgets,
  type BudgetSetting,
  type FurtherBudget,
  unpackBudgets,
  WINDOW,
} from './budgets.ts'
import { invalid } from './settings.ts'

/** What is undefined stays as it is, and null removes. */
export type LegsChange = {
  /** Of another period than the main budget, in the same time zone and with the same start of the week. */
  readonly window?: BudgetAmount | null | undefined
  readonly modelBudgets?: Iterable<Cap> | undefined
  readonly requestCostMaxNanodollars?: Nanodollars | null | undefined
  readonly groupId?: string | null | undefined
}

export type BudgetAmount = { readonly limitNanodollars: Nanodollars; readonly period: Period }

/** What a key may spend on a model, by its public name; null removes. */
export type Cap = readonly [model: string, amount: BudgetAmount | null]

type AccountRow = Row<'accounts'>

/** The columns of the account that change, for the same transaction; budgets that are removed are closed here. */
export async function legColumns(
  store: Store,
  tx: Tx,
  { from, to }: { readonly from: AccountRow; readonly to: LegsChange & Partial<PeriodRule> },
): Promise<Partial<Pick<AccountRow, 'budgets' | 'request_cost_max_nanodollars' | 'group_id'>>> {
  const { requestCostMaxNanodollars: most, groupId } = to
  if (groupId !== undefined && groupId !== null) await lockGroup(tx, groupId)
  await checkLegs({ ...store, db: tx }, { from, to })
  const budgets = await budgetsAfter(store, tx, { from, to })
  return {
    ...(budgets !== from.budgets && { budgets }),
    ...(most !== undefined && { request_cost_max_nanodollars: most }),
    ...(groupId !== undefined && { group_id: groupId }),
  }
}

type LegsCheck = {
  /** What the account has now; a new one has no budgets yet, and is in no group. */
  readonly from: Pick<AccountRow, 'budgets' | 'period'> & Partial<Pick<AccountRow, 'group_id'>>
  readonly to: LegsChange & Partial<PeriodRule>
}

/** Refuses what cannot be set, all at once; also before the transaction, together with other checks. */
export async function checkLegs(store: Store, { from, to }: LegsCheck): Promise<void> {
  const wanted = wantedBudgets(unpackBudgets(from.budgets), to)
  await checkAll([
    ...wanted.map((each) => () => checkAmount(each)),
    () => checkPeriods(wanted, to.period ?? from.period),
    () => checkCount(wanted),
    () => checkOnce(to.modelBudgets ?? []),
    () => checkRequestCost(to.requestCostMaxNanodollars ?? null),
    // A key may stay where it is.
    () => {
      if (to.groupId === undefined || to.groupId === from.group_id) return undefined
      return requireGroup(store, to.groupId)
    },
  ])
}

async function budgetsAfter(
  store: Store,
  tx: Tx,
  { from, to }: { readonly from: AccountRow; readonly to: LegsChange & Partial<PeriodRule> },
): Promise<string> {
  const known = unpackBudgets(from.budgets)
  const wanted = wantedBudgets(known, to)
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
  { window, modelBudgets = [] }: LegsChange,
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

function checkAmount({ name, limit }: BudgetSetting): void {
  if (limit >= 0n && limit <= BUDGET_MAX) return
  const field = name === WINDOW ? 'window' : 'model_budgets'
  throw invalid(field, sentence('budget_range', { most: formatUsd(BUDGET_MAX) }))
}

function checkPeriods(wanted: readonly BudgetSetting[], mainPeriod: Period): void {
  if (!wanted.some(({ name, period }) => name === WINDOW && period === mainPeriod)) return
  throw invalid('window', sentence('window_same_period', { period: mainPeriod }))
}

function checkCount(wanted: readonly BudgetSetting[]): void {
  const field = 'model_budgets'
  if (wanted.filter(({ name }) => name !== WINDOW).length <= MODEL_BUDGETS_MAX) return
  throw invalid(field, sentence('too_many', { field, most: MODEL_BUDGETS_MAX }))
}

/** Of two caps for one model, nobody can say which is meant. */
function checkOnce(caps: Iterable<Cap>): void {
  const models = [...caps].map(([model]) => model)
  refuseAll(
    [...new Set(models.filter((model, index) => models.indexOf(model) < index))].map((model) => ({
      field: 'model_budgets',
      sentence: sentence('cap_twice', { model }),
    })),
  )
}

function checkRequestCost(most: Nanodollars | null): void {
  if (most === null || (most > 0n && most <= BUDGET_MAX)) return
  throw invalid('request_cost_max', sentence('request_cost_range', { most: formatUsd(BUDGET_MAX) }))
}

/** An archived group must take no key. Locked after the key's account, in the order of the ledger. */
async function lockGroup(tx: Tx, groupId: string): Promise<void> {
  await tx
    .updateTable('accounts')
    .set((column) => ({ status: column.ref('status') }))
    .where('id', '=', groupId)
    .execute()
}

/** Whoever is confined to groups can put a key into none but those, and not outside. */
async function requireGroup({ db, scope }: Store, groupId: string | null): Promise<void> {
  if (groupId === null) {
    if (scope === 'everywhere') return
    throw invalid('group', sentence('group_needed'))
  }
  const reached = isGroupReached(scope, sql.ref('groups.id'))
  const query = db
    .selectFrom('groups')
    .innerJoin('accounts', 'accounts.id', 'groups.id')
    .select('accounts.status')
    .where('groups.id', '=', groupId)
  const group = await (reached === undefined ? query : query.where(reached)).executeTakeFirst()
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
