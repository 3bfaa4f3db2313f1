// The frame: the one account above all keys. It always exists, always has a limit, and only people change it.
import { formatUsd, type Nanodollars } from '../core/money.ts'
import type { PeriodRule } from '../core/periods.ts'
import { sentence } from '../core/sentences.ts'
import { iso, usd } from '../core/units.ts'
import {
  accountOf,
  hasEnded,
  budgetJson,
  budgetText,
  lockAccount,
  movedPeriodEnd,
  type AccountView,
  viewAccount,
} from './accounts/accounts.ts'
import { checkLegs, legColumns, type LegsChange } from './accounts/budget-changes.ts'
import { checkReason, checkSettings, type Some } from './accounts/settings.ts'
import { lapseAlerts } from './alerts/give.ts'
import { recordChange } from './audit/record.ts'
import { checkAll, requireVersion } from './database/errors.ts'
import { bumpRevision } from './database/revision.ts'
import { inTransaction, type Store } from './database/store.ts'
import { FRAME_ID } from './database/tables.ts'
import type { Key } from './keys/keys.ts'

export type FrameSettings = PeriodRule & { readonly limitNanodollars: Nanodollars }

export type Frame = AccountView & {
  readonly limitNanodollars: Nanodollars
  readonly remainingNanodollars: Nanodollars
  /** The number of the running period; null = the last one is over, and nothing is spent in the next one yet. */
  readonly periodSeq: number | null
  /** Goes up with every change of the frame. */
  readonly version: number
}

/** Gives a new database its frame; one that has a frame keeps it as it is. */
export async function seedFrame(store: Store, given: FrameSettings): Promise<void> {
  const settings = checkSettings(given)
  await store.db
    .insertInto('accounts')
    .values({
      id: FRAME_ID,
      limit_nanodollars: settings.limitNanodollars,
      period: settings.period,
      timezone: settings.timezone,
      week_start: settings.weekStart,
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

export async function readFrame(store: Store): Promise<Frame> {
  const row = await store.db
    .selectFrom('accounts')
    .selectAll()
    .where('id', '=', FRAME_ID)
    .executeTakeFirstOrThrow()
  const account = viewAccount(store, row)
  return {
    ...account,
    limitNanodollars: account.limitNanodollars ?? 0n,
    remainingNanodollars: account.remainingNanodollars ?? 0n,
    periodSeq: hasEnded(row, store.clock.now()) ? null : row.period_seq,
    version: row.allow_version,
  }
}

/** What a key has spent of the frame in the frame's running period, whatever the key's own period is. */
export function partOfFrame(
  { framePeriodSeq, frameSpentNanodollars }: Pick<Key, 'framePeriodSeq' | 'frameSpentNanodollars'>,
  frame: Pick<Frame, 'periodSeq'>,
): Nanodollars {
  return framePeriodSeq === frame.periodSeq ? frameSpentNanodollars : 0n
}

type FrameChange = Some<FrameSettings> & {
  /** A second window beside its budget; null removes it. */
  readonly window?: LegsChange['window']
  /** Only if nobody has changed the frame since this version was read. */
  readonly ifVersion?: number | undefined
  /** Why, for the record. */
  readonly reason?: string | undefined
}

export async function setFrame(
  store: Store,
  { ifVersion, reason: given, window, ...change }: FrameChange,
): Promise<Frame> {
  const [settings, reason] = await checkAll([
    () => checkSettings(change),
    () => (given === undefined ? null : checkReason(given)),
    async () => {
      const from = await accountOf(store, FRAME_ID)
      await checkLegs(store, { from, to: { window, period: change.period ?? from.period } })
    },
  ])
  await inTransaction(store.db, async (tx) => {
    const account = await lockAccount(tx, FRAME_ID)
    const version = account.allow_version
    requireVersion(ifVersion, { version: version - 1, sentence: sentence('frame_changed') })
    const changed = await tx
      .updateTable('accounts')
      .set({
        limit_nanodollars: settings.limitNanodollars ?? account.limit_nanodollars,
        period: settings.period,
        timezone: settings.timezone,
        week_start: settings.weekStart,
        ...(await movedPeriodEnd(store, tx, { from: account, to: settings })),
        ...(await legColumns(store, tx, { from: account, to: { ...settings, window } })),
      })
      .where('id', '=', FRAME_ID)
      .returningAll()
      .executeTakeFirstOrThrow()
    if (changed.limit_nanodollars !== account.limit_nanodollars)
      await lapseAlerts({ ...store, db: tx }, FRAME_ID)
    const subject = { action: 'frame.change', subject: 'frame', subjectId: FRAME_ID } as const
    await recordChange(store, tx, {
      ...subject,
      reason,
      version,
      before: recorded(viewAccount(store, account)),
      after: recorded(viewAccount(store, changed)),
    })
    await bumpRevision(store, tx)
  })
  return readFrame(store)
}

/** The settings, as the audit record keeps them. */
function recorded(account: AccountView) {
  return { ...settingsJson(account), window: account.window && budgetText(account.window) }
}

function settingsJson(settings: PeriodRule & Pick<AccountView, 'limitNanodollars'>) {
  return {
    budget: formatUsd(settings.limitNanodollars ?? 0n),
    period: settings.period,
    timezone: settings.timezone,
    week_start: settings.weekStart,
  }
}

export function frameJson(frame: Frame, allocated: Nanodollars) {
  return {
    ...settingsJson(frame),
    spent: usd(frame.spentNanodollars),
    held: usd(frame.heldNanodollars),
    remaining: usd(frame.remainingNanodollars),
    resets_at: iso(frame.resetsAt),
    window: frame.window && budgetJson(frame.window),
    allocated: usd(allocated),
  }
}
