// Alerts that were given, each once per account, period and threshold whatever node noticed first, unless another limit
// made them untrue meanwhile, and their way to whoever is to hear of them.
import type { Insertable, Selectable } from 'kysely'

import { USUAL_THRESHOLDS } from '../core/alert-rules.ts'
import { newId } from '../core/ids.ts'
import type { AlertDeliveriesTable, AlertsTable } from './admin-tables.ts'
import { limitWithTopUp, viewAccount } from './accounts.ts'
import { shownAddress } from './alert-destinations.ts'
import { percentSpent, reached, readAlertRules } from './alert-rules.ts'
import type { Store } from './open.ts'
import { FRAME_ID, type Tx } from './tables.ts'

export type Alert = BudgetAlert | RefusedAlert | ExpiryAlert

type GivenAlert = {
  readonly id: string
  readonly at: number
  readonly accountId: string
  /** The key's name when it was given; null for the frame. */
  readonly accountName: string | null
}

type Spending = {
  readonly spentNanodollars: bigint
  readonly limitNanodollars: bigint
  readonly resetsAt: number | null
}

export type BudgetAlert = GivenAlert &
  Spending & { readonly kind: 'budget'; readonly threshold: number }

/** Calls are refused, because what is left of the budget does not pay for them. */
export type RefusedAlert = GivenAlert &
  Spending & {
    readonly kind: 'refused'
    /** What the first of them could have cost; null where an earlier version gave the alert. */
    readonly requiredNanodollars: bigint | null
  }

/** A call that an account did not pay for. */
export type RefusedCall = { readonly accountId: string; readonly requiredNanodollars: bigint }

export type ExpiryAlert = GivenAlert & {
  readonly kind: 'expiry'
  readonly daysBefore: number
  readonly expiresAt: number
}

/** Gives what these accounts have reached and nobody has given yet. */
export async function giveAlerts(store: Store, accountIds: readonly string[]): Promise<void> {
  for (const { thresholds, percent, alert } of await readSpending(store, accountIds)) {
    const passed = reached(thresholds, percent)
    await store.db.transaction().execute((tx) => giveOne(store, tx, { thresholds: passed, alert }))
  }
}

/** Below every threshold, so that it takes the place of none among what is given once. */
const REFUSED = 0

/** Tells that accounts refuse calls, unless they were told to be spent, or are meant to refuse or to be silent. */
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

/** Under another limit: what is no longer reached is told once more when it is again, and so are refusals. */
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
  /** What every alert about it says. */
  readonly alert: Omit<NewAlert, 'threshold'>
}

/** Of those that have a limit. */
async function readSpending(
  store: Store,
  accountIds: readonly string[],
): Promise<readonly AccountSpending[]> {
  if (accountIds.length === 0) return []
  const rules = await readAlertRules(store)
  const rows = await store.db
    .selectFrom('accounts')
    .leftJoin('keys', 'keys.id', 'accounts.id')
    .selectAll('accounts')
    .select('keys.name')
    .where('accounts.id', 'in', accountIds)
    .execute()
  return rows.flatMap((row) => {
    const account = viewAccount(store, row)
    const { spentNanodollars: spent, resetsAt } = account
    const limit = limitWithTopUp(account)
    if (limit === null) return []
    return {
      thresholds: rules.get(row.id) ?? USUAL_THRESHOLDS,
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

type Reached = {
  readonly thresholds: readonly number[]
  readonly alert: Omit<NewAlert, 'threshold'>
}

/** Of several thresholds that were passed at once only the highest is told; the others count as given. */
async function giveOne(store: Store, tx: Tx, { thresholds, alert }: Reached): Promise<void> {
  let highest: string | undefined
  for (const threshold of thresholds) {
    highest = (await insertAlert(store, tx, { ...alert, threshold })) ?? highest
  }
  if (highest !== undefined) await addDeliveries(store, tx, highest)
}

type NewAlert = Omit<Insertable<AlertsTable>, 'id'>

/** Unless it was given before. */
export async function giveAlert(store: Store, tx: Tx, alert: NewAlert): Promise<void> {
  const id = await insertAlert(store, tx, alert)
  if (id !== undefined) await addDeliveries(store, tx, id)
}

/** Its id; undefined when it was given before. */
async function insertAlert(store: Store, tx: Tx, alert: NewAlert): Promise<string | undefined> {
  const given = await tx
    .insertInto('alerts')
    .values({ ...alert, id: newId('alert', store.clock) })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst()
  return given?.id
}

async function addDeliveries(store: Store, tx: Tx, alertId: string): Promise<void> {
  const destinations = await tx
    .selectFrom('alert_destinations')
    .select(['id', 'kind', 'address'])
    .where('enabled', '=', 1)
    .execute()
  for (const destination of destinations) {
    await tx
      .insertInto('alert_deliveries')
      .values({
        id: newId('dlv', store.clock),
        alert_id: alertId,
        destination_id: destination.id,
        address: shownAddress(destination),
        state: 'waiting',
        attempts: 0,
        next_attempt_at: store.clock.now(),
      })
      .execute()
  }
}

/** The last ones of an account, newest first; of several that were given at once first the one that was told. */
export async function lastAlerts(store: Store, accountId: string): Promise<readonly Alert[]> {
  const rows = await store.db
    .selectFrom('alerts')
    .selectAll()
    .where('account_id', '=', accountId)
    .orderBy('at', 'desc')
    .orderBy('threshold', 'desc')
    .orderBy('id', 'desc')
    .limit(10)
    .execute()
  return rows.map(alertOf)
}

export type Delivery = {
  readonly id: string
  readonly alert: Alert
  readonly destinationId: string
  /** As people see it. */
  readonly address: string
  readonly state: AlertDeliveriesTable['state']
  readonly attempts: number
  readonly lastAttemptAt: number | null
  readonly nextAttemptAt: number | null
  readonly result: string | null
}

/** Newest first. */
export async function listDeliveries(
  store: Store,
  page: { readonly before?: string | undefined; readonly limit: number },
): Promise<readonly Delivery[]> {
  let query = selectDeliveries(store)
  if (page.before !== undefined) query = query.where('alert_deliveries.id', '<', page.before)
  const rows = await query.orderBy('alert_deliveries.id', 'desc').limit(page.limit).execute()
  return rows.map(deliveryOf)
}

const DUE_MAX = 50
const DUE_OF_DESTINATION_MAX = 5

/** What is due now, few for each destination: one that takes nothing has many. Whoever sends one claims it first. */
export async function dueDeliveries(store: Store): Promise<readonly Delivery[]> {
  const due = store.db
    .selectFrom('alert_deliveries')
    .select(({ fn }) => [
      'id',
      fn
        .agg<number>('row_number')
        .over((over) => over.partitionBy('destination_id').orderBy('next_attempt_at'))
        .as('turn'),
    ])
    .where('state', '=', 'waiting')
    .where('next_attempt_at', '<=', store.clock.now())
  const rows = await selectDeliveries(store)
    .innerJoin(due.as('due'), 'due.id', 'alert_deliveries.id')
    .where('due.turn', '<=', DUE_OF_DESTINATION_MAX)
    .orderBy('alert_deliveries.next_attempt_at')
    .limit(DUE_MAX)
    .execute()
  return rows.map(deliveryOf)
}

/** True for one node alone: it makes this attempt, and another is made at `nextAttemptAt` unless it says otherwise. */
export async function claimDelivery(
  store: Store,
  { id, attempts }: Delivery,
  nextAttemptAt: number,
): Promise<boolean> {
  const { numUpdatedRows } = await store.db
    .updateTable('alert_deliveries')
    .set({
      attempts: attempts + 1,
      last_attempt_at: store.clock.now(),
      next_attempt_at: nextAttemptAt,
    })
    .where('id', '=', id)
    .where('state', '=', 'waiting')
    .where('attempts', '=', attempts)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

/** Unless it is finished: its destination may have been removed during the attempt. */
export async function finishDelivery(
  store: Store,
  id: string,
  { state, result }: Pick<AlertDeliveriesTable, 'state' | 'result'>,
): Promise<void> {
  await store.db
    .updateTable('alert_deliveries')
    .set({ state, result, ...(state === 'waiting' ? {} : { next_attempt_at: null }) })
    .where('id', '=', id)
    .where('state', '=', 'waiting')
    .execute()
}

function selectDeliveries(store: Store) {
  return store.db
    .selectFrom('alert_deliveries')
    .innerJoin('alerts', 'alerts.id', 'alert_deliveries.alert_id')
    .selectAll('alerts')
    .selectAll('alert_deliveries')
    .select('alerts.id as given_id')
}

type DeliveryRow = Selectable<AlertsTable> &
  Selectable<AlertDeliveriesTable> & { readonly given_id: string }

function deliveryOf(row: DeliveryRow): Delivery {
  return {
    id: row.id,
    alert: alertOf({ ...row, id: row.given_id }),
    destinationId: row.destination_id,
    address: row.address,
    state: row.state,
    attempts: row.attempts,
    lastAttemptAt: row.last_attempt_at,
    nextAttemptAt: row.next_attempt_at,
    result: row.result,
  }
}

function alertOf(row: Selectable<AlertsTable>): Alert {
  const given = {
    id: row.id,
    at: row.at,
    accountId: row.account_id,
    accountName: row.account_id === FRAME_ID ? null : row.account_name,
  }
  if (row.kind === 'expiry') {
    const { threshold: daysBefore, period_seq: expiresAt } = row
    return { ...given, kind: 'expiry', daysBefore, expiresAt }
  }
  const spending = {
    spentNanodollars: row.spent_nanodollars,
    limitNanodollars: row.limit_nanodollars,
    resetsAt: row.resets_at,
  }
  if (row.kind === 'refused') {
    const { required_nanodollars: requiredNanodollars } = row
    return { ...given, ...spending, kind: 'refused', requiredNanodollars }
  }
  return { ...given, ...spending, kind: 'budget', threshold: row.threshold }
}
