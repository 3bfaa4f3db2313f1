// How long answers take, by model: counted by each node in memory, written every few seconds, and read as percentiles.
// Lossy by design: no request waits for it, and a node that dies loses the counts of its last seconds.
import { HOUR_MS } from '../../core/units.ts'
import type { Store } from '../../store/database/store.ts'
import type { Row } from '../../store/database/tables.ts'
import type { Charge } from '../rules/rows.ts'

type Count = Row<'latencies'>

/** Buckets double every eight, so a percentile is at most 9 % above the truth. */
const BUCKETS_PER_DOUBLING = 8
/** More than there are: milliseconds have 53 bits. */
const BUCKETS_MAX = 512

export class LatencyCounts {
  /** By model, then by hour and bucket as one number: on the path of every request, so no names are joined. */
  #counts = new Map<string, Map<number, Count>>()

  /** Failures and requests that no provider was called for say nothing about how fast it answers. */
  add(charge: Charge, now: number): void {
    const { modelAsked, provider, status, latencyMs, firstTokenMs } = charge
    if (provider === null || status >= 400) return
    this.#count(modelAsked, latencyMs, now).latency_count += 1
    if (firstTokenMs !== null) this.#count(modelAsked, firstTokenMs, now).first_token_count += 1
  }

  /** What was counted since the last call, in the same order on every node, so that two cannot deadlock. */
  take(): readonly Count[] {
    const models = [...this.#counts].toSorted(([one], [other]) => (one < other ? -1 : 1))
    this.#counts = new Map()
    return models.flatMap(([, counts]) =>
      [...counts].toSorted(([one], [other]) => one - other).map(([, count]) => count),
    )
  }

  #count(model: string, ms: number, now: number): Count {
    const hour = Math.floor(now / HOUR_MS)
    const bucket = ms <= 1 ? 0 : Math.ceil(Math.log2(ms) * BUCKETS_PER_DOUBLING)
    const slot = hour * BUCKETS_MAX + bucket
    let counts = this.#counts.get(model)
    if (counts === undefined) this.#counts.set(model, (counts = new Map<number, Count>()))
    let count = counts.get(slot)
    if (count === undefined) {
      const starts_at = hour * HOUR_MS
      count = { starts_at, model, bucket, latency_count: 0, first_token_count: 0 }
      counts.set(slot, count)
    }
    return count
  }
}

export async function writeLatencies(store: Store, counts: readonly Count[]): Promise<void> {
  if (counts.length === 0) return
  await store.db
    .insertInto('latencies')
    .values(counts)
    .onConflict((conflict) =>
      conflict.columns(['starts_at', 'model', 'bucket']).doUpdateSet((column) => ({
        latency_count: column('latencies.latency_count', '+', column.ref('excluded.latency_count')),
        first_token_count: column(
          'latencies.first_token_count',
          '+',
          column.ref('excluded.first_token_count'),
        ),
      })),
    )
    .execute()
}

type Latency = {
  readonly requests: number
  /** Milliseconds; null where nothing was counted. */
  readonly p50: number | null
  readonly p95: number | null
}

/** Until answers were complete, and until their first token. */
export type Latencies = { readonly whole: Latency; readonly firstToken: Latency }

/** Of answers within these hours, by model. */
export async function readLatencies(
  store: Store,
  { since, until }: { readonly since: number; readonly until: number },
): Promise<ReadonlyMap<string, Latencies>> {
  const rows = await store.db
    .selectFrom('latencies')
    .select(({ fn }) => [
      'model',
      'bucket',
      fn.sum<number>('latency_count').as('latency_count'),
      fn.sum<number>('first_token_count').as('first_token_count'),
    ])
    .where('starts_at', '>=', Math.floor(since / HOUR_MS) * HOUR_MS)
    .where('starts_at', '<', until)
    .groupBy(['model', 'bucket'])
    .orderBy('bucket')
    .execute()
  const byModel = Map.groupBy(rows, ({ model }) => model)
  return new Map(
    [...byModel].map(([model, found]) => [
      model,
      {
        whole: latencyOf(found.map((row) => [row.bucket, Number(row.latency_count)])),
        firstToken: latencyOf(found.map((row) => [row.bucket, Number(row.first_token_count)])),
      },
    ]),
  )
}

function latencyOf(buckets: readonly (readonly [bucket: number, count: number])[]): Latency {
  const requests = buckets.reduce((sum, [, count]) => sum + count, 0)
  const percentile = (share: number): number | null => {
    let left = Math.ceil(requests * share)
    if (left === 0) return null
    for (const [bucket, count] of buckets) {
      left -= count
      if (left <= 0) return Math.round(2 ** (bucket / BUCKETS_PER_DOUBLING))
    }
    return null
  }
  return { requests, p50: percentile(0.5), p95: percentile(0.95) }
}
