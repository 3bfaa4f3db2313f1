// Gives alerts, each once per account, period and threshold, whichever node notices first; once more only after a new
// limit made it untrue.
import type { Insertable } from 'kysely'

import { newId } from '../core/ids.ts'
import { limitWithTopUp, viewAccount } from './accounts.ts'
import type { AlertsTable } from './admin-tables.ts'
import { addDeliveries } from './alert-deliveries.ts'
import { percentSpent, reached, readThresholds } from './alert-rules.ts'
import type { Store } from './store.ts'
import type { Tx } from './tables.ts'

/** A call that an account could not pay for. */
export type RefusedCall = { readonly accountId: string; readonly requiredNanodollars: bigint }

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
 * Gives alerts for accounts that refuse calls, except where one at 100 percent says so already, a limit of 0 means to
 * refuse, or an empty list of thresholds asks for silence.
 */
export async function giveRefused(store: Store, calls: readonly RefusedCall[]): Promise<void> {
  const required = new Map(calls.map((call) => [call.accountId, call.requiredNanodollars]))
  for (const { thresholds, percent, alert } of await readSpending(store, [...required.keys()])) {
    const isTold = reached(thresholds, percent).some((threshold) => threshold >= 100)
    if (isTold || thresholds.length === 0 || alert.limit_nanodollars === 0n) continue
    const refused = {
      ...alert,
      kind: 'refused',
      threshold: REFUSED,
      required_nanodollars: required.get(alert.account_id) ?? null,
    } as const
    await store.db.transaction().execute((tx) => giveAlert(store, tx, refused))
  }
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
  readonly percent: number
  /** What every alert about the account contains. */
  readonly alert: Omit<NewAlert, 'threshold'>
}

/** Only of accounts that have a limit. */
async function readSpending(
  store: Store,
  accountIds: readonly string[],
): Promise<readonly AccountSpending[]> {
  if (accountIds.length === 0) return []
  const rows = await store.db
    .selectFrom('accounts')
    .leftJoin('keys', 'keys.id', 'accounts.id')
    .leftJoin('alert_rules', 'alert_rules.account_id', 'accounts.id')
    .selectAll('accounts')
    .select(['keys.name', 'alert_rules.thresholds'])
    .where('accounts.id', 'in', accountIds)
    .execute()
  return rows.flatMap((row) => {
    const account = viewAccount(store, row)
    const { spentNanodollars: spent, resetsAt } = account
    const limit = limitWithTopUp(account)
    if (limit === null) return []
    return {
      thresholds: readThresholds(row.thresholds),
      percent: percentSpent(spent, limit),
      alert: {
        at: store.clock.now(),
        account_id: row.id,
        account_name: row.name,
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
  let highest: string | undefined
  for (const threshold of thresholds) {
    highest = (await insertAlert(store, tx, { ...alert, threshold })) ?? highest
  }
  if (highest !== undefined) await addDeliveries(store, tx, highest)
}

type NewAlert = Omit<Insertable<AlertsTable>, 'id'>

/** Does nothing if the alert was given before. */
export async function giveAlert(store: Store, tx: Tx, alert: NewAlert): Promise<void> {
  const id = await insertAlert(store, tx, alert)
  if (id !== undefined) await addDeliveries(store, tx, id)
}

/** The alert's id; undefined when it was given before. */
async function insertAlert(store: Store, tx: Tx, alert: NewAlert): Promise<string | undefined> {
  const given = await tx
    .insertInto('alerts')
    .values({ ...alert, id: newId('alert', store.clock) })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst()
  return given?.id
}
