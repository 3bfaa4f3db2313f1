// What /metrics answers: the figures of all serving processes, and of the books. Books that cannot be read in time are
// left out, because the processes need watching most while the database is away.
import type { Nanodollars } from '../core/money.ts'
import { usd } from '../core/units.ts'
import { type UsageSums, usedSoFar } from '../ledger/reports/rollups.ts'
import { limitWithTopUp } from '../store/accounts/accounts.ts'
import { answerWithin, isOutage } from '../store/database/outage.ts'
import type { Store } from '../store/database/store.ts'
import { readFrame } from '../store/frame.ts'
import { countKeysByStatus } from '../store/keys/counts.ts'
import { figureOf, METRICS, type Figure } from '../telemetry/metrics.ts'
import type { AdminParts } from './parts.ts'

export type Metrics = () => Promise<{ readonly type: string; readonly text: string }>

const BOOKS_MS_MAX = 1_000

export function makeMetrics({ store, figures }: Pick<AdminParts, 'store' | 'figures'>): Metrics {
  return async () => {
    const { addUp, CONTENT_TYPE, textOf } = await import('../telemetry/exposition.ts')
    const [all, books] = await Promise.all([figures(), readInTime(store)])
    const readable = figureOf(METRICS.readable, [[[], books === undefined ? 0 : 1]])
    const text = await textOf([...(await addUp(all)), readable, ...(books ?? [])])
    return { type: CONTENT_TYPE, text }
  }
}

/** Undefined: the database does not answer. */
async function readInTime(store: Store): Promise<readonly Figure[] | undefined> {
  try {
    return await answerWithin(BOOKS_MS_MAX, readBooks(store))
  } catch (thrown) {
    if (isOutage(thrown)) return undefined
    throw thrown
  }
}

/** Reads the ledger's running sums, so that it does not slow down with the number of keys and requests. */
async function readBooks(store: Store): Promise<readonly Figure[]> {
  const [frame, keys, models] = await Promise.all([
    readFrame(store),
    countKeysByStatus(store),
    usedSoFar(store),
  ])
  // A name under which nothing was ever used may be one that a client made up.
  const used = models.filter(
    (row) => row.inputTokens + row.outputTokens > 0 || row.costNanodollars > 0n,
  )
  const { spentNanodollars, heldNanodollars, remainingNanodollars } = frame
  return [
    figureOf(METRICS.limit, [[[], numberOf(limitWithTopUp(frame))]]),
    figureOf(METRICS.spent, [[[], numberOf(spentNanodollars)]]),
    figureOf(METRICS.held, [[[], numberOf(heldNanodollars)]]),
    figureOf(METRICS.remaining, [[[], numberOf(remainingNanodollars)]]),
    figureOf(
      METRICS.keys,
      Object.entries(keys).map(([status, count]) => [[status], count]),
    ),
    figureOf(METRICS.tokens, used.flatMap(tokensOf)),
    figureOf(
      METRICS.cost,
      used.map(({ model, costNanodollars }) => [[model ?? ''], numberOf(costNanodollars)]),
    ),
  ]
}

function tokensOf({ model, ...sums }: UsageSums) {
  const counts = {
    input: sums.inputTokens,
    cached: sums.cachedTokens,
    cache_write: sums.cacheWriteTokens,
    output: sums.outputTokens,
    reasoning: sums.reasoningTokens,
  }
  return Object.entries(counts).map(([kind, count]) => [[model ?? '', kind], count] as const)
}

/** Prometheus has only floating point; the books themselves stay exact. */
function numberOf(amount: Nanodollars): number {
  return Number(usd(amount))
}
