// Reads the figures of a key outside a batch, as they would stand if one came now: nothing is locked, nothing written.
import type { Kysely } from 'kysely'

import { FRAME_ID, type Tables } from '../store/tables.ts'
import { balancesOf, openPeriod } from './account.ts'
import type { Account } from './books.ts'
import type { Balances } from './ledger.ts'
import { toAccount } from './rows.ts'

/** Undefined when there is no such key. */
export async function readBalances(
  db: Kysely<Tables>,
  keyId: string,
  now: number,
): Promise<Balances | undefined> {
  const key = await readAccount(db, keyId, now)
  const frame = await readAccount(db, FRAME_ID, now)
  return key && frame && balancesOf(key, frame, now)
}

/** With a period that is over by now already counted as new. */
export async function readAccount(
  db: Kysely<Tables>,
  id: string,
  now: number,
): Promise<Account | undefined> {
  const row = await db.selectFrom('accounts').selectAll().where('id', '=', id).executeTakeFirst()
  if (row === undefined) return undefined
  const account = toAccount(row, now)
  openPeriod(account, now)
  return account
}
