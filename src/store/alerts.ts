// Reads alerts: what was given, and about which account. give-alerts.ts gives them, alert-deliveries.ts delivers them.
import type { Selectable } from 'kysely'

import type { AlertsTable } from './admin-tables.ts'
import type { Store } from './store.ts'
import { FRAME_ID } from './tables.ts'

export type Alert = BudgetAlert | RefusedAlert | ExpiryAlert

type GivenAlert = {
  readonly id: string
  readonly at: number
  readonly accountId: string
  /** The key's name when the alert was given; null for the frame. */
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

export type ExpiryAlert = GivenAlert & {
  readonly kind: 'expiry'
  readonly daysBefore: number
  readonly expiresAt: number
}

/** The last alerts of an account, newest first; of several given at once, the one that was delivered comes first. */
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

export function alertOf(row: Selectable<AlertsTable>): Alert {
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
