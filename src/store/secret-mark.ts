// Checks that the secret is the one that this database was served with before: another one opens nothing that was
// sealed. A serving process leaves a mark of the secret in the database, from which the secret cannot be derived.
import { createHmac } from 'node:crypto'

import { StoreError } from './errors.ts'
import type { Store } from './store.ts'

const NAME = 'secret_mark'

/**
 * Resolves to false when an SQLite database had another secret: its one node may change it. Nodes of PostgreSQL must
 * agree, so there it throws.
 */
export async function agreeOnSecret(store: Store, secret: string): Promise<boolean> {
  const mark = createHmac('sha256', secret).update('tollgate secret').digest('hex').slice(0, 16)
  await store.db
    .insertInto('meta')
    .values({ name: NAME, value: mark })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const { value } = await store.db
    .selectFrom('meta')
    .select('value')
    .where('name', '=', NAME)
    .executeTakeFirstOrThrow()
  if (value === mark) return true
  if (store.kind === 'sqlite') {
    await store.db.updateTable('meta').set({ value: mark }).where('name', '=', NAME).execute()
    return false
  }
  const message = `TOLLGATE_SECRET is not the one that this database was served with before: set the same on every node (to change it for good, stop them all and run: DELETE FROM meta WHERE name = '${NAME}')`
  throw new StoreError('wrong_secret', message)
}
