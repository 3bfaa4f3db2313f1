// Whether this node has the secret that the others have: with another one it could not open what they sealed. The first
// node to serve leaves a mark of its secret in the database, from which the secret cannot be told.
import { createHmac } from 'node:crypto'

import { StoreError } from './errors.ts'
import type { Store } from './open.ts'

const NAME = 'secret_mark'

/** Throws when other nodes of this PostgreSQL database have another secret. SQLite has one node, which may change it. */
export async function agreeOnSecret(store: Store, secret: string): Promise<void> {
  if (store.kind === 'sqlite') return
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
  if (value === mark) return
  const message = `TOLLGATE_SECRET is not the one that this database was served with before: set the same on every node (to change it for good, stop them all and run: DELETE FROM meta WHERE name = '${NAME}')`
  throw new StoreError('wrong_secret', message)
}
