// Reads a key's figures outside a batch, as a batch would see them now. Takes no locks and writes nothing.
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

/** A period that is over counts as closed, even before a batch has closed it. */
async function readAccount(
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
