// Where the hash of a person's password is kept: in the identity that better-auth looks up when somebody signs in.
import { newId } from '../core/ids.ts'
import { PASSWORD_PROVIDER, type Queries } from './people.ts'
import { deleteOpenLinks } from './person-links.ts'
import type { Store } from './open.ts'

/** Sets or replaces the hash. Links that were to do the same no longer work. */
export async function setPassword(
  { clock }: Pick<Store, 'clock'>,
  db: Queries,
  { personId, hash }: { readonly personId: string; readonly hash: string },
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
}
