// Forgets usage rows that are older than anyone asked to keep. What they cost stays: in the rollups, and as one sum per
// account and period, so that the books still add up. Deletes a page at a time, so that nobody waits for it.
import { firstIdAt } from '../core/ids.ts'
import type { Nanodollars } from '../core/money.ts'
import type { Store } from '../store/open.ts'
import { FRAME_ID } from '../store/tables.ts'
import { overrunOf } from './usage-row.ts'

const ROWS_MAX = 500

/** True when there may be more to delete. */
export async function purgeUsage(store: Store, olderThan: number): Promise<boolean> {
  const deleted = await store.db.transaction().execute(async (tx) => {
    const rows = await tx
      .deleteFrom('usage')
      .where('id', 'in', (query) =>
        query
          .selectFrom('usage')
          .select('id')
          .where('request_id', '<', firstIdAt('req', olderThan))
          .orderBy('request_id')
          .limit(ROWS_MAX),
      )
      .returning(['key_id', 'key_period', 'frame_period', 'cost_nanodollars', 'held_nanodollars'])
      .execute()
    const sums = new Map<string, PurgedSum>()
    for (const row of rows) {
      const cost = row.cost_nanodollars
      const overrun = overrunOf(cost, row.held_nanodollars)
      count(sums, { accountId: row.key_id, periodSeq: row.key_period }, { cost, overrun })
      count(sums, { accountId: FRAME_ID, periodSeq: row.frame_period }, { cost, overrun })
    }
    if (sums.size > 0) {
      await tx
        .insertInto('purged_usage')
        .values(
          [...sums.values()].toSorted(byAccount).map((sum) => ({
            account_id: sum.accountId,
            period_seq: sum.periodSeq,
            requests: sum.requests,
            cost_nanodollars: sum.cost,
            overrun_nanodollars: sum.overrun,
          })),
        )
        .onConflict((conflict) =>
          conflict.columns(['account_id', 'period_seq']).doUpdateSet((column) => ({
            requests: column('purged_usage.requests', '+', column.ref('excluded.requests')),
            cost_nanodollars: column(
              'purged_usage.cost_nanodollars',
              '+',
              column.ref('excluded.cost_nanodollars'),
            ),
            overrun_nanodollars: column(
              'purged_usage.overrun_nanodollars',
              '+',
              column.ref('excluded.overrun_nanodollars'),
            ),
          })),
        )
        .execute()
    }
    return rows.length
  })
  return deleted === ROWS_MAX
}

type PurgedPlace = { readonly accountId: string; readonly periodSeq: number }
type PurgedSum = PurgedPlace & { requests: number; cost: Nanodollars; overrun: Nanodollars }

/** One order for every node that does this. */
function byAccount(a: PurgedPlace, b: PurgedPlace): number {
  if (a.accountId !== b.accountId) return a.accountId < b.accountId ? -1 : 1
  return a.periodSeq - b.periodSeq
}

function count(
  sums: Map<string, PurgedSum>,
  place: PurgedPlace,
  charge: { readonly cost: Nanodollars; readonly overrun: Nanodollars },
): void {
  const name = `${place.accountId} ${place.periodSeq}`
  const sum = sums.get(name) ?? { ...place, requests: 0, cost: 0n, overrun: 0n }
  sum.requests += 1
  sum.cost += charge.cost
  sum.overrun += charge.overrun
  sums.set(name, sum)
}
