// When alerts are given: at which percentages of its budget for an account, and how many days before it expires for a
// key. The usual ones, or its own: those of a key are among its settings, those of the frame are set here.
import { USUAL_REMINDERS, USUAL_THRESHOLDS } from '../../core/limits.ts'
import { DAY_MS } from '../../core/units.ts'
import { checkThresholds, type KeySettings } from '../accounts/settings.ts'
import { recordChange } from '../audit/record.ts'
import { withChangeLock } from '../database/revision.ts'
import type { Store } from '../database/store.ts'
import { FRAME_ID, type Tx } from '../database/tables.ts'

export type AlertRules = ReadonlyMap<string, readonly number[]>

/** Only accounts that have their own thresholds. */
export async function readAlertRules(store: Store, accountId?: string): Promise<AlertRules> {
  let query = store.db.selectFrom('alert_rules').selectAll()
  if (accountId !== undefined) query = query.where('account_id', '=', accountId)
  const rows = await query.execute()
  return new Map(rows.map((row) => [row.account_id, readThresholds(row.thresholds)]))
}

/** Reads the stored form; an account without its own thresholds has the usual ones. */
export function readThresholds(stored: string | null): readonly number[] {
  return stored === null ? USUAL_THRESHOLDS : (JSON.parse(stored) as readonly number[])
}

export async function setFrameThresholds(
  store: Store,
  thresholds: readonly number[],
): Promise<void> {
  const cleaned = checkThresholds(thresholds)
  // One change at a time, so that the record has the true previous value.
  await withChangeLock(store, async (tx) => {
    const before = await readAlertRules({ ...store, db: tx }, FRAME_ID)
    await writeAlertRule(tx, FRAME_ID, cleaned)
    await recordChange(store, tx, {
      action: 'frame.alerts',
      subject: 'frame',
      subjectId: FRAME_ID,
      subjectName: null,
      before: { alert_thresholds: before.get(FRAME_ID) ?? USUAL_THRESHOLDS },
      after: { alert_thresholds: cleaned },
    })
  })
}

/** The usual thresholds are stored as no rule. */
export async function writeAlertRule(
  tx: Tx,
  accountId: string,
  thresholds: readonly number[],
): Promise<void> {
  await tx.deleteFrom('alert_rules').where('account_id', '=', accountId).execute()
  const stored = JSON.stringify(thresholds)
  if (stored === JSON.stringify(USUAL_THRESHOLDS)) return
  await tx.insertInto('alert_rules').values({ account_id: accountId, thresholds: stored }).execute()
}

/** Rounded to whole percent, because a budget that holds is hardly ever spent to the last nano-dollar. */
export function percentSpent(spent: bigint, limit: bigint): number {
  return limit <= 0n ? 0 : Number(((spent * 200n) / limit + 1n) / 2n)
}

/** The thresholds that this percentage has reached. */
export function reached(thresholds: readonly number[], percent: number): readonly number[] {
  return thresholds.filter((threshold) => threshold <= percent)
}

type Reminded = Pick<KeySettings, 'expiresAt' | 'expiryReminders'>

/** The next reminder after `now`: one that was already past when it was chosen is not given. */
export function nextReminder({ expiresAt, expiryReminders }: Reminded, now: number): number | null {
  if (expiresAt === null) return null
  const moments = expiryReminders
    .map((days) => expiresAt - days * DAY_MS)
    .filter((moment) => moment > now)
  return moments.length === 0 ? null : Math.min(...moments)
}

/** Reads the stored form; a key without its own reminders has the usual ones. */
export function readReminders(stored: string | null): readonly number[] {
  return stored === null ? USUAL_REMINDERS : (JSON.parse(stored) as readonly number[])
}

/** Null for the usual ones. */
export function storedReminders(days: readonly number[]): string | null {
  const stored = JSON.stringify(days)
  return stored === JSON.stringify(USUAL_REMINDERS) ? null : stored
}
