// Deletes usage rows older than the configured retention. Their cost stays: in the rollups, and as one sum per account
// and period, so that the books still add up. Deletes one page at a time, so that requests do not wait for it.
import { firstIdAt } from '../../core/ids.ts'
import type { Store } from '../../store/database/store.ts'
import { FRAME_ID, type Tables, type Tx } from '../../store/database/tables.ts'
import { overrunOf } from '../rules/rows.ts'

const ROWS_MAX = 500

/** True when there may be more to delete. */
export function purgeUsage(store: Store, olderThan: number): Promise<boolean> {
  return store.db.transaction().execute(async (tx) => {
    const rows = await deleteRows(tx, olderThan)
    if (rows.length > 0) await addSums(tx, sumsOf(rows))
    return rows.length === ROWS_MAX
  })
}

type DeletedRow = Pick<
  Tables['usage'],
  'key_id' | 'key_period' | 'frame_period' | 'cost_nanodollars' | 'held_nanodollars'
>

function deleteRows(tx: Tx, olderThan: number): Promise<readonly DeletedRow[]> {
  return tx
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
}

type PurgedSum = Tables['purged_usage']

/** By account and period, in the same order on every node, so that two cannot deadlock. */
function sumsOf(rows: readonly DeletedRow[]): readonly PurgedSum[] {
  const sums = new Map<string, PurgedSum>()
  for (const row of rows) {
    count(sums, { account_id: row.key_id, period_seq: row.key_period }, row)
    count(sums, { account_id: FRAME_ID, period_seq: row.frame_period }, row)
  }
  return [...sums.values()].toSorted(byAccount)
}

type Place = Pick<PurgedSum, 'account_id' | 'period_seq'>

function count(sums: Map<string, PurgedSum>, place: Place, row: DeletedRow): void {
  const { cost_nanodollars: cost, held_nanodollars: held } = row
  const name = `${place.account_id} ${place.period_seq}`
  const sum = sums.get(name) ?? {
    ...place,
    requests: 0,
    cost_nanodollars: 0n,
    overrun_nanodollars: 0n,
  }
  sum.requests += 1
  sum.cost_nanodollars += cost
  sum.overrun_nanodollars += overrunOf(cost, held)
  sums.set(name, sum)
}

function byAccount(one: Place, other: Place): number {
  if (one.account_id !== other.account_id) return one.account_id < other.account_id ? -1 : 1
  return one.period_seq - other.period_seq
}

async function addSums(tx: Tx, sums: readonly PurgedSum[]): Promise<void> {
  await tx
    .insertInto('purged_usage')
    .values(sums)
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
