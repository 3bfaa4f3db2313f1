// The handlers of /usage: sums by key, model, day or hour, as JSON and for spreadsheets.
import { csvText } from '../core/csv.ts'
import { sentence } from '../core/sentences.ts'
import { usageReport, type UsageGroup } from '../ledger/usage.ts'
import { dayOf, sumsJson } from '../ledger/usage-json.ts'
import { findKey, keyNames } from '../store/keys.ts'
import type { HandlersOf } from './call.ts'
import type { UsageAnswer, UsageQuery, UsageRow, usageRoutes } from './contract/usage.ts'
import { invalidValue } from './error.ts'
import type { AdminParts } from './parts.ts'
import { iso, readMoment } from './values.ts'

const DAY_MS = 86_400_000
const DEFAULT_DAYS = 30
/** Hours of a longer time are more bars than anybody reads. */
const HOURS_MS_MAX = 31 * DAY_MS

export function usageHandlers(parts: AdminParts): HandlersOf<typeof usageRoutes> {
  return {
    readUsage: ({ query }) => report(parts, query),
    exportUsage: async ({ query }) => {
      const { rows } = await report(parts, { ...query, limit: Infinity })
      return csvText(
        NAMES,
        rows.map((row) => NAMES.map((name) => row[name])),
      )
    },
    readKeyUsage: async ({ params, query }) => {
      const { id: key } = await findKey(parts.store, params.id)
      return report(parts, { ...query, key })
    },
  }
}

const NAMES = [
  ...(['key', 'key_name', 'model', 'day', 'hour', 'requests', 'errors', 'input_tokens'] as const),
  ...(['cached_tokens', 'cache_write_tokens', 'output_tokens', 'reasoning_tokens'] as const),
  ...(['cost', 'estimated'] as const),
]

async function report({ store, clock }: AdminParts, query: UsageQuery): Promise<UsageAnswer> {
  const now = clock.now()
  const until = query.until === undefined ? now : readMoment(query.until)
  const since = query.since === undefined ? until - DEFAULT_DAYS * DAY_MS : readMoment(query.since)
  if (since >= until) throw invalidValue('since', sentence('since_before_until'))
  const by = query.by.split(',') as UsageGroup[]
  if (by.includes('hour') && until - since > HOURS_MS_MAX) {
    throw invalidValue('by', sentence('report_hours', { days: HOURS_MS_MAX / DAY_MS }))
  }
  const { rows, total } = await usageReport(store, { keyId: query.key, since, until, by })
  const kept = keepDearest(rows, query.limit)
  const ids = kept.flatMap(({ keyId }) => keyId ?? [])
  const names = await keyNames(store, ids)
  return {
    since: iso(since),
    until: iso(until),
    rows: kept.map((row): UsageRow => ({
      key: row.keyId,
      key_name: row.keyId === null ? null : (names.get(row.keyId) ?? null),
      model: row.model,
      day: row.day === null ? null : dayOf(row.day),
      hour: iso(row.hour),
      ...sumsJson(row),
    })),
    total: sumsJson(total),
    left_out: rows.length - kept.length,
  }
}

/** All of them in their order, or of too many those that cost the most. */
function keepDearest<Row extends { readonly costNanodollars: bigint }>(
  rows: readonly Row[],
  limit: number,
): readonly Row[] {
  if (rows.length <= limit) return rows
  const byCost = (one: Row, other: Row): number =>
    one.costNanodollars > other.costNanodollars ? -1 : 1
  return rows.toSorted(byCost).slice(0, limit)
}
