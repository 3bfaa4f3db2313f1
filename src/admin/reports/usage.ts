// The handlers of /usage, sums by key, model, provider, endpoint, day or hour, as JSON and for spreadsheets, and of
// /requests: single requests, and why each cost what it cost; and of /refusals.
import { sentence } from '../../core/sentences.ts'
import { csvText } from '../../core/text.ts'
import { DAY_MS, HOUR_MS, iso, usd } from '../../core/units.ts'
import { explain, explanationJson } from '../../ledger/reports/explain.ts'
import {
  dayOf,
  reportUsage,
  requestJson,
  searchUsage,
  sumsJson,
  type UsageScan,
  type ScanSums,
} from '../../ledger/reports/usage.ts'
import type { UsageRow as LedgerRow } from '../../ledger/rules/rows.ts'
import { findKey, keyNames } from '../../store/keys/keys.ts'
import { listRefusals, refusalJson } from '../../store/refusals.ts'
import { invalidValue } from '../contract/errors.ts'
import {
  usageRow,
  type Group,
  type RefusalQuery,
  type refusalRoutes,
  type RequestQuery,
  type requestRoutes,
  type RequestRow,
  type UsageAnswer,
  type UsageQuery,
  type usageRoutes,
  type UsageRow,
} from '../contract/usage.ts'
import type { AdminParts, HandlersOf } from '../http/request.ts'

const DEFAULT_DAYS = 30
/** A longer time by hours has more bars than anyone reads. */
const HOURS_MS_MAX = 31 * DAY_MS

export function usageHandlers(parts: AdminParts): HandlersOf<typeof usageRoutes> {
  return {
    readUsage: ({ query }) => report(parts, query),
    exportUsage: async ({ query }) => {
      const { rows } = await report(parts, { ...query, limit: undefined })
      const cells = rows.map((row) => NAMES.map((name) => row[name]))
      return csvText(NAMES, cells)
    },
    readKeyUsage: async ({ params, query }) => {
      const { id: key } = await findKey(parts.store, params.id)
      return report(parts, { ...query, key })
    },
  }
}

/** The CSV columns are the members of a row. */
const NAMES = usageRow.keyof().options

/** Without a limit: all rows, or a refusal when they are too many. */
type ReportQuery = Omit<UsageQuery, 'limit'> & { readonly limit: number | undefined }

async function report(parts: AdminParts, query: ReportQuery): Promise<UsageAnswer> {
  const { until = parts.clock.now() } = query
  const { since = Math.max(0, until - DEFAULT_DAYS * DAY_MS) } = query
  if (since >= until) throw invalidValue('since', sentence('since_before_until'))
  const by = query.by.split(',') as Group[]
  if (by.includes('hour') && until - since > HOURS_MS_MAX) {
    throw invalidValue('by', sentence('report_hours', { days: HOURS_MS_MAX / DAY_MS }))
  }
  const scan = { keyId: query.key, since, until, by, limit: query.limit }
  const { rows, total, leftOut } = await reportUsage(parts.store, scan)
  return {
    since: iso(since),
    until: iso(until),
    rows: await rowsJson(parts, rows),
    total: sumsJson(total),
    left_out: leftOut,
    previous: query.compare === undefined ? null : await previous(parts, scan),
  }
}

/** The time of the same length before, ending at a full hour: hours are counted whole, and none twice. */
async function previous(
  parts: AdminParts,
  { since, until, by, ...rest }: UsageScan,
): Promise<UsageAnswer['previous']> {
  const end = Math.floor(since / HOUR_MS) * HOUR_MS
  const start = Math.max(0, end - (until - since))
  const groups = by.filter((group) => group !== 'day' && group !== 'hour')
  const earlier = { ...rest, since: start, until: end, by: groups }
  const { rows, total } = await reportUsage(parts.store, earlier)
  return {
    since: iso(start),
    until: iso(end),
    rows: groups.length === 0 ? [] : await rowsJson(parts, rows),
    total: sumsJson(total),
  }
}

async function rowsJson({ store }: AdminParts, rows: readonly ScanSums[]): Promise<UsageRow[]> {
  const ids = rows.flatMap(({ keyId }) => keyId ?? [])
  const names = await keyNames(store, ids)
  return rows.map((row) => ({
    key: row.keyId,
    key_name: row.keyId === null ? null : (names.get(row.keyId) ?? null),
    model: row.model,
    provider: row.provider,
    endpoint: row.endpoint,
    day: row.day === null ? null : dayOf(row.day),
    hour: iso(row.hour),
    ...sumsJson(row),
  }))
}

export function requestHandlers(parts: AdminParts): HandlersOf<typeof requestRoutes> {
  const { store } = parts
  return {
    listRequests: ({ query }) => listPage(parts, query),
    readRequest: async ({ params }) => {
      const explanation = await explain(store, params.id)
      const { row } = explanation
      const names = await keyNames(store, [row.keyId])
      // Includes members that only the command line prints; the schema drops them.
      return { ...explanationJson(explanation), ...rowOf(row, names) }
    },
    listKeyRequests: async ({ params, query }) => {
      const { id: key } = await findKey(store, params.id)
      return listPage(parts, { ...query, key })
    },
  }
}

async function listPage({ store }: AdminParts, { key: keyId, ...query }: RequestQuery) {
  const { rows, next } = await searchUsage(store, { ...query, keyId })
  const ids = rows.map((row) => row.keyId)
  const names = await keyNames(store, ids)
  return { requests: rows.map((row) => rowOf(row, names)), next }
}

function rowOf(row: LedgerRow, names: ReadonlyMap<string, string>): RequestRow {
  return {
    id: row.requestId,
    key: row.keyId,
    key_name: names.get(row.keyId) ?? null,
    ...requestJson(row),
    state: row.state,
    held: usd(row.heldNanodollars),
    end_user: row.endUser,
  }
}

export function refusalHandlers(parts: AdminParts): HandlersOf<typeof refusalRoutes> {
  const { store } = parts
  return {
    listRefusals: ({ query }) => refusalPage(parts, query),
    listKeyRefusals: async ({ params, query }) => {
      const { id: key } = await findKey(store, params.id)
      return refusalPage(parts, { ...query, key })
    },
  }
}

async function refusalPage({ store }: AdminParts, { key: keyId, ...query }: RefusalQuery) {
  const found = await listRefusals(store, { ...query, keyId })
  const ids = found.map((refusal) => refusal.keyId)
  const names = await keyNames(store, ids)
  const next = found.length < query.limit ? null : (found.at(-1)?.requestId ?? null)
  return { refusals: found.map((refusal) => refusalJson(refusal, names)), next }
}
