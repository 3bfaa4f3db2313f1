// Who serves from these books. (Heartbeats and fencing follow.)
import { hostname } from 'node:os'

import type { Store } from '../store/open.ts'

/** Becomes a node under a number that was never used before, which names its holds. */
export async function joinNodes(store: Store): Promise<number> {
  const { id } = await store.db
    .insertInto('nodes')
    .columns(['id', 'status', 'host', 'pid', 'joined_at'])
    .expression((eb) =>
      eb
        .selectFrom('nodes')
        .select((select) => [
          select(select.fn.coalesce(select.fn.max('id'), select.lit(0)), '+', select.lit(1)).as(
            'id',
          ),
          select.val('live').as('status'),
          select.val(hostname()).as('host'),
          select.val(process.pid).as('pid'),
          select.val(store.clock.now()).as('joined_at'),
        ]),
    )
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}
