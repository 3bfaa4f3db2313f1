// Alerts that were given (give.ts), and their deliveries: one for each destination, tried again until it is accepted or
// given up.
import { sql } from 'kysely'
import { newId } from '../../core/ids.ts'
import type { NamedSentence, Sentence } from '../../core/sentences.ts'
import { areGroupsWithin, isReached, type Scope } from '../database/store.ts'
import type { Store } from '../database/store.ts'
import { FRAME_ID, type Row, type Tx } from '../database/tables.ts'
import {
  isTaken,
  readResult,
  readTaken,
  shownAddress,
  storedResult,
  type Concerned,
} from './destinations.ts'

export type Alert =
  | BudgetAlert
  | RefusedAlert
  | RefusalsAlert
  | ExpiryAlert
  | WishAlert
  | OutageAlert
  | LedgerAlert
  | InactiveAlert

type GivenAlert = {
  readonly id: string
  readonly at: number
  readonly accountId: string
  /** Of the key or the group when the alert was given; null where it is about neither. */
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
    /** What the first refused call could have cost; null where an earlier version gave the alert. */
    readonly requiredNanodollars: bigint | null
  }

/** Many calls of a key were refused within an hour; no account: calls with unknown keys. */
export type RefusalsAlert = GivenAlert & {
  readonly kind: 'refusals'
  readonly code: string
  readonly count: number
}

export type ExpiryAlert = GivenAlert & {
  readonly kind: 'expiry'
  readonly daysBefore: number
  readonly expiresAt: number
}

/** The owner of a key asks for more than the rules of the group allow. */
export type WishAlert = GivenAlert & {
  readonly kind: 'wish'
  /** An e-mail address. */
  readonly askedBy: string
  readonly wanted: WantedMore
  readonly reason: string
}

/** What is asked for: USD, models, ISO 8601. */
export type WantedMore = {
  readonly budget?: string
  readonly models?: readonly string[]
  readonly expires_at?: string
}

/** A provider has failed calls for a while, or answers them again. */
export type OutageAlert = GivenAlert & {
  readonly kind: 'outage'
  readonly provider: string
  /** The target that failed, and with what. */
  readonly target: string
  readonly reason: string
  readonly since: number
  /** Null: it still fails. */
  readonly endedAt: number | null
}

/** The ledger has raised an alarm. */
type LedgerAlert = GivenAlert & { readonly kind: 'ledger'; readonly message: string }

/** Somebody who owns keys no longer signs in. */
export type InactiveAlert = GivenAlert & {
  readonly kind: 'inactive'
  /** An e-mail address. */
  readonly person: string
  readonly lastSeenAt: number
  /** The names of some keys that they own in the group, and how many there are. */
  readonly keys: readonly string[]
  readonly count: number
}

/** What only these say, as it is kept. */
export type Details<Kind extends 'wish' | 'outage' | 'ledger' | 'inactive'> = Omit<
  Extract<Alert, { readonly kind: Kind }>,
  keyof GivenAlert | 'kind'
>

/** The last alerts of an account, newest first; of several given at once, the one that was delivered comes first. */
export async function lastAlerts(store: Store, accountId: string): Promise<readonly Alert[]> {
  const rows = await store.db
    .selectFrom('alerts')
    .selectAll()
    .where('account_id', '=', accountId)
    .orderBy('created_at', 'desc')
    .orderBy('threshold', 'desc')
    .orderBy('id', 'desc')
    .limit(10)
    .execute()
  return rows.map(alertOf)
}

function alertOf(row: Row<'alerts'>): Alert {
  const given = {
    id: row.id,
    at: row.created_at,
    accountId: row.account_id,
    accountName: row.account_id === FRAME_ID ? null : row.account_name,
  }
  const spending = {
    spentNanodollars: row.spent_nanodollars,
    limitNanodollars: row.limit_nanodollars,
    resetsAt: row.resets_at,
  }
  switch (row.kind) {
    case 'budget':
      return { ...given, ...spending, kind: row.kind, threshold: row.threshold }
    case 'refused': {
      const { required_nanodollars: requiredNanodollars } = row
      return { ...given, ...spending, kind: row.kind, requiredNanodollars }
    }
    case 'refusals':
      return { ...given, kind: row.kind, code: row.code ?? '', count: row.count ?? 0 }
    case 'expiry': {
      const { threshold: daysBefore, period_seq: expiresAt } = row
      return { ...given, kind: row.kind, daysBefore, expiresAt }
    }
    case 'wish':
      return { ...given, kind: row.kind, ...(detailsOf(row) as Details<'wish'>) }
    case 'outage':
      return { ...given, kind: row.kind, ...(detailsOf(row) as Details<'outage'>) }
    case 'ledger':
      return { ...given, kind: row.kind, ...(detailsOf(row) as Details<'ledger'>) }
    case 'inactive':
      return { ...given, kind: row.kind, ...(detailsOf(row) as Details<'inactive'>) }
  }
}

function detailsOf({ details }: Row<'alerts'>): unknown {
  return JSON.parse(details ?? '{}')
}

/** To every destination that is switched on and takes it. */
export async function addDeliveries(
  store: Store,
  tx: Tx,
  { id: alertId, ...about }: Concerned & { readonly id: string },
): Promise<void> {
  const destinations = await tx
    .selectFrom('alert_destinations')
    .selectAll()
    .where('enabled', '=', 1)
    .orderBy('id')
    .execute()
  for (const destination of destinations.filter((row) => isTaken(readTaken(row), about))) {
    await tx
      .insertInto('alert_deliveries')
      .values({
        id: newId('dlv', store.clock),
        alert_id: alertId,
        destination_id: destination.id,
        address: shownAddress(destination),
        state: 'waiting',
        attempt_count: 0,
        next_attempt_at: store.clock.now(),
      })
      .execute()
  }
}

export type Delivery = {
  readonly id: string
  readonly alert: Alert
  readonly destinationId: string
  /** Its name now; null when it is gone, or within the reach of others alone. */
  readonly destinationName: string | null
  /** As it is shown to people. */
  readonly address: string
  readonly state: Row<'alert_deliveries'>['state']
  readonly attempts: number
  readonly lastAttemptAt: number | null
  readonly nextAttemptAt: number | null
  /** In words. */
  readonly result: string | null
  /** Why it failed, where this gateway knows. */
  readonly failure: NamedSentence | null
}

/** Newest first. */
export async function listDeliveries(
  store: Store,
  page: { readonly before?: string | undefined; readonly limit: number },
): Promise<readonly Delivery[]> {
  let query = selectDeliveries(store)
  if (page.before !== undefined) query = query.where('alert_deliveries.id', '<', page.before)
  const reached = isReached(store.scope, OF_ALERT)
  if (reached !== undefined) query = query.where(reached)
  const rows = await query.orderBy('alert_deliveries.id', 'desc').limit(page.limit).execute()
  return rows.map((row) => deliveryOf(row, store.scope))
}

/** A moved key leaves its alerts behind: they were sent to those who are told about the group that it was in. */
const OF_ALERT = { group: sql.ref('alerts.group_id'), key: sql.ref('alerts.account_id') }

/** Those that were given up since a moment. */
export async function countFailedDeliveries({ db }: Store, since: number): Promise<number> {
  const { count } = await db
    .selectFrom('alert_deliveries')
    .select((query) => query.fn.countAll<number>().as('count'))
    .where('state', '=', 'failed')
    .where('last_attempt_at', '>', since)
    .executeTakeFirstOrThrow()
  return Number(count)
}

const DUE_MAX = 50
const DUE_OF_DESTINATION_MAX = 5

/** Deliveries due now, few for each destination: one that accepts nothing has many. A sender claims each one first. */
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
  return rows.map((row) => deliveryOf(row, store.scope))
}

/** True for one node only, which makes this attempt; unless that finishes it, the next is at `nextAttemptAt`. */
export async function claimDelivery(
  store: Store,
  { id, attempts }: Delivery,
  nextAttemptAt: number,
): Promise<boolean> {
  const { numUpdatedRows } = await store.db
    .updateTable('alert_deliveries')
    .set({
      attempt_count: attempts + 1,
      last_attempt_at: store.clock.now(),
      next_attempt_at: nextAttemptAt,
    })
    .where('id', '=', id)
    .where('state', '=', 'waiting')
    .where('attempt_count', '=', attempts)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

/** Leaves a finished delivery as it is: its destination may have been removed during the attempt. */
export async function finishDelivery(
  store: Store,
  id: string,
  { state, result }: { readonly state: Delivery['state']; readonly result: string | Sentence },
): Promise<void> {
  await store.db
    .updateTable('alert_deliveries')
    .set({
      state,
      result: storedResult(result),
      ...(state === 'waiting' ? {} : { next_attempt_at: null }),
    })
    .where('id', '=', id)
    .where('state', '=', 'waiting')
    .execute()
}

function selectDeliveries(store: Store) {
  return store.db
    .selectFrom('alert_deliveries')
    .innerJoin('alerts', 'alerts.id', 'alert_deliveries.alert_id')
    .leftJoin('alert_destinations', 'alert_destinations.id', 'alert_deliveries.destination_id')
    .selectAll('alerts')
    .selectAll('alert_deliveries')
    .select(['alerts.id as given_id', 'alert_destinations.name', 'alert_destinations.group_ids'])
}

type DeliveryRow = Row<'alerts'> &
  Row<'alert_deliveries'> & {
    readonly given_id: string
    readonly name: string | null
    readonly group_ids: string | null
  }

function deliveryOf(row: DeliveryRow, scope: Scope): Delivery {
  const groupIds = row.group_ids === null ? null : (JSON.parse(row.group_ids) as readonly string[])
  return {
    id: row.id,
    alert: alertOf({ ...row, id: row.given_id }),
    destinationId: row.destination_id,
    destinationName: areGroupsWithin(scope, groupIds) ? row.name : null,
    address: row.address,
    state: row.state,
    attempts: row.attempt_count,
    lastAttemptAt: row.last_attempt_at,
    nextAttemptAt: row.next_attempt_at,
    ...readResult(row.result),
  }
}
