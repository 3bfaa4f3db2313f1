// Reminders before a key expires, on the days that its settings name. Each key stores when its next reminder is due, so
// that the search for due ones reads no other key.
import type { Selectable } from 'kysely'

import { DAY_MS } from '../core/units.ts'
import { nextReminder, readReminders } from './alert-rules.ts'
import { giveAlert } from './give-alerts.ts'
import type { Store } from './store.ts'
import type { KeysTable } from './tables.ts'

const GIVEN_AT_ONCE = 100

/** Gives the reminders that are due, each once, whichever node comes first. */
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

type DueRow = Pick<Selectable<KeysTable>, 'id' | 'name' | 'expiry_reminders' | 'remind_at'> & {
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
      at: now,
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
