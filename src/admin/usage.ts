// The handlers of /usage: sums by key, model, day or hour, as JSON and for spreadsheets.
import { csvText } from '../core/csv.ts'
import { sentence } from '../core/sentences.ts'
import { usageReport, type UsageGroup } from '../ledger/usage-report.ts'
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
      const { rows } = await report(parts, { ...query, limit: undefined })
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

/** Without a limit: all rows, or a refusal when they are too many. */
type Question = Omit<UsageQuery, 'limit'> & { readonly limit: number | undefined }

async function report({ store, clock }: AdminParts, query: Question): Promise<UsageAnswer> {
  const now = clock.now()
  const until = query.until === undefined ? now : readMoment(query.until)
  const since = query.since === undefined ? until - DEFAULT_DAYS * DAY_MS : readMoment(query.since)
  if (since >= until) throw invalidValue('since', sentence('since_before_until'))
  const by = query.by.split(',') as UsageGroup[]
  if (by.includes('hour') && until - since > HOURS_MS_MAX) {
    throw invalidValue('by', sentence('report_hours', { days: HOURS_MS_MAX / DAY_MS }))
  }
  const { key: keyId, limit } = query
  const { rows, total, leftOut } = await usageReport(store, { keyId, since, until, by, limit })
  const ids = rows.flatMap((row) => row.keyId ?? [])
  const names = await keyNames(store, ids)
  return {
    since: iso(since),
    until: iso(until),
    rows: rows.map((row): UsageRow => ({
      key: row.keyId,
      key_name: row.keyId === null ? null : (names.get(row.keyId) ?? null),
      model: row.model,
      day: row.day === null ? null : dayOf(row.day),
      hour: iso(row.hour),
      ...sumsJson(row),
    })),
    total: sumsJson(total),
    left_out: leftOut,
  }
}
