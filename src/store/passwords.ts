// Keeps the hash of a person's password in the identity that better-auth looks up at sign-in.
import { newId } from '../core/ids.ts'
import { normalEmail, PASSWORD_PROVIDER } from './people.ts'
import { deleteOpenLinks } from './person-links.ts'
import type { Store } from './store.ts'
import type { Queries } from './tables.ts'

type Password = { readonly personId: string; readonly hash: string }

/** Sets or replaces the hash. Unused links of the person stop working, and so do sign-ins that wait for a code. */
export async function setPassword(
  { clock }: Pick<Store, 'clock'>,
  db: Queries,
  { personId, hash }: Password,
): Promise<void> {
  const at = new Date(clock.now()).toISOString()
  await db
    .insertInto('person_accounts')
    .values({
      id: newId('entry', clock),
      user_id: personId,
      account_id: personId,
      provider_id: PASSWORD_PROVIDER,
      password: hash,
      created_at: at,
      updated_at: at,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['provider_id', 'account_id'])
        .doUpdateSet({ password: hash, updated_at: at }),
    )
    .execute()
  await deleteOpenLinks(db, personId)
  await db.deleteFrom('verifications').where('value', '=', personId).execute()
}

export async function findPassword(db: Queries, email: string): Promise<Password | undefined> {
  const row = await db
    .selectFrom('people')
    .innerJoin('person_accounts', 'person_accounts.user_id', 'people.id')
    .select(['people.id', 'person_accounts.password'])
    .where('people.email', '=', normalEmail(email))
    .where('person_accounts.provider_id', '=', PASSWORD_PROVIDER)
    .executeTakeFirst()
  return row && { personId: row.id, hash: row.password ?? '' }
}

/** Whether this is still the password. Changes nothing, but as a write it waits for a change in progress. */
export async function isStillPassword(db: Queries, { personId, hash }: Password): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('person_accounts')
    .set({ password: hash })
    .where('provider_id', '=', PASSWORD_PROVIDER)
    .where('account_id', '=', personId)
    .where('password', '=', hash)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}
