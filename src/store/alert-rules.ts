// At which parts of its budget an account gives alerts: the usual ones, or its own.
import { recordChange } from './audit.ts'
import type { Store } from './open.ts'
import { FRAME_ID } from './tables.ts'

/** Percent of the limit. */
export const USUAL_THRESHOLDS: readonly number[] = [50, 80, 100]

export type AlertRules = ReadonlyMap<string, readonly number[]>

/** Only accounts that have their own. */
export async function readAlertRules(store: Store, accountId?: string): Promise<AlertRules> {
  let query = store.db.selectFrom('alert_rules').selectAll()
  if (accountId !== undefined) query = query.where('account_id', '=', accountId)
  const rows = await query.execute()
  return new Map(
    rows.map((row) => [row.account_id, JSON.parse(row.thresholds) as readonly number[]]),
  )
}

/** Null: the usual ones again. */
export async function setAlertRule(
  store: Store,
  account: { readonly id: string; readonly name: string | null },
  thresholds: readonly number[] | null,
): Promise<void> {
  const cleaned = thresholds && [...new Set(thresholds)].toSorted((a, b) => a - b)
  await store.db.transaction().execute(async (tx) => {
    const before = await readAlertRules({ ...store, db: tx }, account.id)
    await tx.deleteFrom('alert_rules').where('account_id', '=', account.id).execute()
    if (cleaned !== null) {
      const row = { account_id: account.id, thresholds: JSON.stringify(cleaned) }
      await tx.insertInto('alert_rules').values(row).execute()
    }
    const subject = account.id === FRAME_ID ? 'frame' : 'key'
    await recordChange(store, tx, {
      action: `${subject}.alerts`,
      subject,
      subjectId: account.id,
      subjectName: account.name,
      before: { thresholds: before.get(account.id) ?? USUAL_THRESHOLDS },
      after: { thresholds: cleaned ?? USUAL_THRESHOLDS },
    })
  })
}

/** Rounded to whole percent, because a budget that holds is hardly ever spent to the last nano-dollar. */
export function percentSpent(spent: bigint, limit: bigint): number {
  return limit <= 0n ? 0 : Number(((spent * 200n) / limit + 1n) / 2n)
}

/** The thresholds that this much has reached. */
export function reached(thresholds: readonly number[], percent: number): readonly number[] {
  return thresholds.filter((threshold) => threshold <= percent)
}
