// Gives alerts about budgets, refused calls and keys that will expire: each once per account, period and threshold,
// whichever node notices first; about budgets once more after a new limit made it untrue. Those about anything else are
// given in events.ts.
import { sql, type Insertable } from 'kysely'
import { isGroupId, newId } from '../../core/ids.ts'
import { KEY_ID_SHAPE, USUAL_THRESHOLDS } from '../../core/limits.ts'
import type { Period } from '../../core/periods.ts'
import { DAY_MS } from '../../core/units.ts'
import { limitWithTopUp, viewAccount } from '../accounts/accounts.ts'
import type { Store } from '../database/store.ts'
import type { Row, Tables, Tx } from '../database/tables.ts'
import { addDeliveries } from './alerts.ts'
import type { Concerned } from './destinations.ts'
import { nextReminder, percentSpent, reached, readReminders, readThresholds } from './rules.ts'

/** A call that an account could not pay for. */
export type RefusedCall = { readonly accountId: string; readonly shortage: RefusedBudget }

/** The budget that had no room, which may be the account's second one. */
type RefusedBudget = {
  readonly period: Period | null
  readonly requiredNanodollars: bigint
  readonly spentNanodollars: bigint
  readonly limitNanodollars: bigint
  readonly resetsAt: number | null
}

/** Gives alerts for thresholds that these accounts have reached, unless they were given before. */
export async function giveAlerts(store: Store, accountIds: readonly string[]): Promise<void> {
  for (const { thresholds, percent, alert } of await readSpending(store, accountIds)) {
    const passed = { thresholds: reached(thresholds, percent), alert }
    await store.db.transaction().execute((tx) => giveHighest(store, tx, passed))
  }
}

/** Below every threshold, so that it takes the place of none in the unique index. */
const REFUSED = 0

/**
 * Gives alerts for accounts that refuse calls, once in a period of the budget that has no room, except where one at 100
 * percent says so already, a limit of 0 means to refuse, or an empty list of thresholds asks for silence.
 */
export async function giveRefused(store: Store, calls: readonly RefusedCall[]): Promise<void> {
  const accountIds = [...new Set(calls.map(({ accountId }) => accountId))]
  const accounts = new Map(
    (await readSpending(store, accountIds)).map((account) => [account.alert.account_id, account]),
  )
  for (const { accountId, shortage } of calls) {
    const account = accounts.get(accountId)
    if (account === undefined) continue
    const { thresholds, percent, period, alert } = account
    const isMain = shortage.period === period
    const isTold = isMain && reached(thresholds, percent).some((threshold) => threshold >= 100)
    if (isTold || thresholds.length === 0 || shortage.limitNanodollars === 0n) continue
    const refused = {
      ...alert,
      ...(isMain ? {} : { period_seq: shortage.resetsAt ?? 0 }),
      kind: 'refused',
      threshold: REFUSED,
      required_nanodollars: shortage.requiredNanodollars,
      spent_nanodollars: shortage.spentNanodollars,
      limit_nanodollars: shortage.limitNanodollars,
      resets_at: shortage.resetsAt,
    } as const
    await store.db.transaction().execute((tx) => giveAlert(store, tx, refused))
  }
}

/** Refusals of one key with one code, of which there were many within an hour of this day. */
type ManyRefusals = {
  readonly keyId: string
  readonly code: string
  readonly count: number
  readonly day: number
}

/** No threshold of a budget, nor days before an expiry. */
const MANY_REFUSALS = -1

/**
 * Gives an alert that many calls of a key, or with unknown keys, are refused: once a day. Not for a used-up budget, which
 * has alerts of its own, nor where an empty list of thresholds asks for silence.
 */
export async function giveRefusals(store: Store, tx: Tx, refusals: ManyRefusals): Promise<void> {
  const { keyId, code, count, day } = refusals
  if (code.endsWith('_budget_exceeded')) return
  const key = await tx
    .selectFrom('keys')
    .leftJoin('alert_rules', 'alert_rules.account_id', 'keys.id')
    .select(['keys.name', 'alert_rules.thresholds'])
    .where('keys.id', '=', keyId)
    .executeTakeFirst()
  if (key !== undefined && readThresholds(key.thresholds).length === 0) return
  await giveAlert(store, tx, {
    created_at: store.clock.now(),
    account_id: keyId,
    account_name: key?.name ?? null,
    kind: 'refusals',
    period_seq: day,
    threshold: MANY_REFUSALS,
    spent_nanodollars: 0n,
    limit_nanodollars: 0n,
    code,
    count,
  })
}

/** After a new limit: thresholds no longer reached can be given once more, and so can refusals. */
export async function lapseAlerts(store: Store, accountId: string): Promise<void> {
  const row = await store.db
    .selectFrom('accounts')
    .selectAll()
    .where('id', '=', accountId)
    .executeTakeFirstOrThrow()
  const account = viewAccount(store, row)
  const percent = percentSpent(account.spentNanodollars, limitWithTopUp(account) ?? 0n)
  await store.db
    .updateTable('alerts')
    .set({ lapsed_at: store.clock.now() })
    .where('account_id', '=', accountId)
    .where('period_seq', '=', row.period_seq)
    .where('lapsed_at', 'is', null)
    .where((eb) => eb.or([eb('threshold', '>', percent), eb('kind', '=', 'refused')]))
    .execute()
}

type AccountSpending = {
  readonly thresholds: readonly number[]
  /** Of its main budget; 0 without one. */
  readonly percent: number
  readonly period: Period
  /** What every alert about the account contains. */
  readonly alert: Omit<NewAlert, 'threshold'>
}

async function readSpending(
  store: Store,
  accountIds: readonly string[],
): Promise<readonly AccountSpending[]> {
  if (accountIds.length === 0) return []
  const rows = await store.db
    .selectFrom('accounts')
    .leftJoin('keys', 'keys.id', 'accounts.id')
    .leftJoin('groups', 'groups.id', 'accounts.id')
    .leftJoin('alert_rules', 'alert_rules.account_id', 'accounts.id')
    .selectAll('accounts')
    .select(['keys.name', 'groups.name as group_name', 'alert_rules.thresholds'])
    .where('accounts.id', 'in', accountIds)
    .execute()
  return rows.map((row) => {
    const account = viewAccount(store, row)
    const { spentNanodollars: spent, resetsAt, period } = account
    const limit = limitWithTopUp(account) ?? 0n
    return {
      thresholds: readThresholds(row.thresholds),
      percent: percentSpent(spent, limit),
      period,
      alert: {
        created_at: store.clock.now(),
        account_id: row.id,
        account_name: row.name ?? row.group_name,
        kind: 'budget',
        period_seq: row.period_seq,
        spent_nanodollars: spent,
        limit_nanodollars: limit,
        resets_at: resetsAt,
      },
    }
  })
}

/** Of several thresholds passed at once, only the highest is delivered; the others count as given. */
async function giveHighest(
  store: Store,
  tx: Tx,
  { thresholds, alert }: Pick<AccountSpending, 'thresholds' | 'alert'>,
): Promise<void> {
  if (thresholds.length === 0) return
  const about = await concerned(tx, alert)
  let id: string | undefined
  for (const threshold of thresholds) {
    const passed = { ...alert, threshold, group_id: about.groupId }
    id = (await insertAlert(store, tx, passed)) ?? id
  }
  if (id !== undefined) await addDeliveries(store, tx, { id, ...about })
}

type AlertRow = Omit<Insertable<Tables['alerts']>, 'id'>
/** Without a group, that of its key or group. */
export type NewAlert = AlertRow

/** Does nothing if the alert was given before. */
export async function giveAlert(store: Store, tx: Tx, alert: NewAlert): Promise<void> {
  const { kind, group_id: groupId } = alert
  const about =
    groupId === undefined
      ? await concerned(tx, alert)
      : { kind, groupId, tags: [], environment: null }
  const id = await insertAlert(store, tx, { ...alert, group_id: about.groupId })
  if (id !== undefined) await addDeliveries(store, tx, { id, ...about })
}

/** A key as it is now, or a group; nothing for what is about the gateway as a whole. */
async function concerned(
  tx: Tx,
  { kind, account_id: id }: Pick<NewAlert, 'kind' | 'account_id'>,
): Promise<Concerned> {
  const groupId = isGroupId(id) ? id : null
  const key = KEY_ID_SHAPE.test(id)
    ? await tx
        .selectFrom('keys')
        .select(['group_id', 'tags', 'environment'])
        .where('id', '=', id)
        .executeTakeFirst()
    : undefined
  if (key === undefined) return { kind, groupId, tags: [], environment: null }
  const { group_id: ofKey, environment } = key
  return { kind, groupId: ofKey, tags: JSON.parse(key.tags) as string[], environment }
}

/** The alert's id; undefined when it was given before. */
async function insertAlert(store: Store, tx: Tx, alert: AlertRow): Promise<string | undefined> {
  const given = await tx
    .insertInto('alerts')
    .values({ ...alert, id: newId('alert', store.clock) })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst()
  return given?.id
}

const GIVEN_AT_ONCE = 100

/** Gives the reminders that are due. Each key stores when its next one is, so this reads no other key. */
export async function giveReminders(store: Store): Promise<void> {
  const rows = await store.db
    .selectFrom('keys')
    .innerJoin('accounts', 'accounts.id', 'keys.id')
    .select(['keys.id', 'name', 'expiry_reminders', 'remind_at', 'expires_at', 'status'])
    .where('remind_at', '<=', store.clock.now())
    .orderBy('remind_at')
    .limit(GIVEN_AT_ONCE)
    .execute()
  for (const row of rows) await giveReminder(store, row)
}

type DueRow = Pick<Row<'keys'>, 'id' | 'name' | 'expiry_reminders' | 'remind_at'> & {
  readonly expires_at: number | null
  readonly status: string
}

async function giveReminder(store: Store, row: DueRow): Promise<void> {
  const { id, name, expires_at: expiresAt } = row
  const now = store.clock.now()
  const reminders = readReminders(row.expiry_reminders)
  const next = nextReminder({ expiresAt, expiryReminders: reminders }, now)
  await store.db.transaction().execute(async (tx) => {
    const { numUpdatedRows } = await tx
      .updateTable('keys')
      .set({ remind_at: next })
      .where('id', '=', id)
      .where('remind_at', '=', row.remind_at)
      .executeTakeFirstOrThrow()
    // Another node was first, or the key was changed meanwhile.
    if (numUpdatedRows === 0n) return
    const isOver = expiresAt === null || expiresAt <= now || row.status === 'revoked'
    if (isOver) return
    // After an outage several may be due: the one closest to the expiry stands for all.
    const days = Math.min(...reminders.filter((each) => expiresAt - each * DAY_MS <= now))
    await giveAlert(store, tx, {
      created_at: now,
      kind: 'expiry',
      account_id: id,
      account_name: name,
      period_seq: expiresAt,
      threshold: days,
      spent_nanodollars: 0n,
      limit_nanodollars: 0n,
      resets_at: null,
    })
  })
}

/** Takes the database a few milliseconds; at one step every two seconds, a hundred thousand accounts take 100 s. */
const ACCOUNTS_AT_ONCE = 2_000
const LOWEST_PERCENT = Math.min(...USUAL_THRESHOLDS)

/**
 * Checks all accounts in endless rounds, a part of them at a time, for thresholds that were reached without an alert.
 * Most settlements are noticed when they happen; this finds the rest: what a dead node held, what came late from the
 * spool, a limit that was lowered, a process that ended before it gave the alert.
 */
export class ThresholdScan {
  readonly #store: Store
  readonly #accountsAtOnce: number
  /** The last account that was checked; '' before the first. */
  #last = ''

  constructor(store: Store, accountsAtOnce = ACCOUNTS_AT_ONCE) {
    this.#store = store
    this.#accountsAtOnce = accountsAtOnce
  }

  /** Those of the next accounts that have reached a threshold without an alert. */
  async next(): Promise<readonly string[]> {
    const after = this.#last
    const last = await this.#lastOfPart(after)
    const found = await this.#ungiven(after, last)
    this.#last = last ?? ''
    return found
  }

  /** The last account of the next part; undefined when fewer are left. */
  async #lastOfPart(after: string): Promise<string | undefined> {
    const row = await this.#store.db
      .selectFrom('accounts')
      .select('id')
      .where('id', '>', after)
      .orderBy('id')
      .offset(this.#accountsAtOnce - 1)
      .limit(1)
      .executeTakeFirst()
    return row?.id
  }

  async #ungiven(after: string, last: string | undefined): Promise<readonly string[]> {
    const { db, clock } = this.#store
    const part = db
      .selectFrom('accounts')
      .leftJoin('alert_rules', 'alert_rules.account_id', 'accounts.id')
      .select(['id', 'thresholds', 'spent_nanodollars', 'limit_nanodollars', 'top_up_nanodollars'])
      .select((query) =>
        query
          .selectFrom('alerts')
          .select(({ fn }) => fn.max('threshold').as('highest'))
          .whereRef('alerts.account_id', '=', 'accounts.id')
          .whereRef('alerts.period_seq', '=', 'accounts.period_seq')
          .where('alerts.lapsed_at', 'is', null)
          .as('given'),
      )
      .where('id', '>', after)
      .where('limit_nanodollars', 'is not', null)
      .where('spent_nanodollars', '>', 0n)
      .where(sql<boolean>`(period_ends_at IS NULL OR period_ends_at > ${clock.now()})`)
      .where(MAY_HAVE_REACHED)
      .orderBy('id')
    const rows = await (last === undefined ? part : part.where('id', '<=', last)).execute()
    return rows
      .filter((row) => {
        const limit = limitWithTopUp({
          limitNanodollars: row.limit_nanodollars ?? 0n,
          topUpNanodollars: row.top_up_nanodollars,
        })
        const percent = percentSpent(row.spent_nanodollars, limit)
        return (reached(readThresholds(row.thresholds), percent).at(-1) ?? 0) > (row.given ?? 0)
      })
      .map(({ id }) => id)
  }
}

/** Passes few accounts that have reached no threshold, and misses none that has, even by rounded percent. */
const MAY_HAVE_REACHED = sql<boolean>`(thresholds IS NOT NULL OR spent_nanodollars >=
  (limit_nanodollars + top_up_nanodollars) / 100 * ${sql.lit(LOWEST_PERCENT - 1)})`
