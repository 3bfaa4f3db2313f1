// The handlers of /usage, sums by any dimension, as JSON and for spreadsheets; of statements; and of /requests: single requests, and why each cost what it cost; and of /refusals.
import type { Dimension } from '../../core/limits.ts'
import { sentence } from '../../core/sentences.ts'
import { DAY_MS, HOUR_MS, iso, usd } from '../../core/units.ts'
import { describeLines, linesCsv, sumsJson } from '../../ledger/reports/lines.ts'
import { reportUsage, type UsageQuestion } from '../../ledger/reports/report.ts'
import {
  explain,
  explanationJson,
  requestJson,
  searchUsage,
} from '../../ledger/reports/requests.ts'
import { statementPage } from '../../ledger/reports/statement-page.ts'
import { makeStatement, statementCsv, type Statement } from '../../ledger/reports/statement.ts'
import type { UsageRow as LedgerRow } from '../../ledger/rules/rows.ts'
import type { Store } from '../../store/database/store.ts'
import { findGroup } from '../../store/groups/groups.ts'
import { findKey, keyNames, OUTSIDE_GROUPS } from '../../store/keys/keys.ts'
import { listRefusals, refusalJson } from '../../store/refusals.ts'
import { invalidValue } from '../contract/errors.ts'
import type {
  RefusalQuery,
  refusalRoutes,
  RequestQuery,
  requestRoutes,
  RequestRow,
  StatementQuery,
  UsageAnswer,
  UsageQuery,
  usageRoutes,
} from '../contract/usage.ts'
import { partsOf, storeOf, type AdminParts, type HandlersOf } from '../http/request.ts'

const DEFAULT_DAYS = 30
/** A longer time by hours has more bars than anyone reads. */
const HOURS_MS_MAX = 31 * DAY_MS

export function usageHandlers(parts: AdminParts): HandlersOf<typeof usageRoutes> {
  return {
    readUsage: (request) => report(partsOf(parts, request), request.query),
    exportUsage: async (request) => {
      const all = { ...request.query, limit: undefined }
      const { rows } = await report(partsOf(parts, request), all)
      return linesCsv(rows)
    },
    readStatement: async (request) =>
      statementPage(await statementOf(partsOf(parts, request), request.query)),
    exportStatement: async (request) =>
      statementCsv(await statementOf(partsOf(parts, request), request.query)),
    readKeyUsage: async (request) => {
      const within = partsOf(parts, request)
      const { id: key } = await findKey(within.store, request.params.id)
      return report(within, { ...request.query, key })
    },
  }
}

async function statementOf(
  { store, keepUsageMs }: AdminParts,
  { group: id, month }: StatementQuery,
): Promise<Statement> {
  return makeStatement(store, { group: await findGroup(store, id), month, keepUsageMs })
}

/** Without a limit: all rows, or a refusal when they are too many. */
type ReportQuery = Omit<UsageQuery, 'limit'> & { readonly limit: UsageQuery['limit'] | undefined }

async function report(parts: AdminParts, query: ReportQuery): Promise<UsageAnswer> {
  const { until = parts.clock.now() } = query
  const { since = Math.max(0, until - DEFAULT_DAYS * DAY_MS) } = query
  if (since >= until) throw invalidValue('since', sentence('since_before_until'))
  const by = query.by.split(',') as Dimension[]
  if (by.includes('hour') && until - since > HOURS_MS_MAX) {
    throw invalidValue('by', sentence('report_hours', { days: HOURS_MS_MAX / DAY_MS }))
  }
  const { compare, group, ...rest } = query
  const question = { ...rest, group: group === OUTSIDE_GROUPS ? '' : group, since, until, by }
  const { rows, total, leftOut, rest: others } = await reportUsage(parts.store, question)
  return {
    since: iso(since),
    until: iso(until),
    rows: await describeLines(parts.store, question, rows),
    total: sumsJson(total),
    left_out: leftOut,
    rest: sumsJson(others),
    previous: compare === undefined ? null : await previous(parts, question),
  }
}

/** The time of the same length before, ending at a full hour: hours are counted whole, and none twice. */
async function previous(
  { store }: AdminParts,
  { since, until, by, ...rest }: UsageQuestion,
): Promise<UsageAnswer['previous']> {
  const end = Math.floor(since / HOUR_MS) * HOUR_MS
  const start = Math.max(0, end - (until - since))
  const groups = by.filter((group) => group !== 'day' && group !== 'hour')
  const earlier = { ...rest, since: start, until: end, by: groups }
  const { rows, total } = await reportUsage(store, earlier)
  return {
    since: iso(start),
    until: iso(end),
    rows: groups.length === 0 ? [] : await describeLines(store, earlier, rows),
    total: sumsJson(total),
  }
}

export function requestHandlers(parts: AdminParts): HandlersOf<typeof requestRoutes> {
  return {
    listRequests: (request) => listPage(partsOf(parts, request), request.query),
    readRequest: async (request) => {
      const store = storeOf(parts, request)
      const explanation = await explain(store, request.params.id)
      const { row } = explanation
      const names = await keyNames(store, [row.keyId])
      // Includes members that only the command line prints; the schema drops them.
      const told = { ...explanationJson(explanation), ...rowOf(row, names) }
      return { ...told, legs: legsWithin(store, told.legs) }
    },
    listKeyRequests: async (request) => {
      const within = partsOf(parts, request)
      const { id: key } = await findKey(within.store, request.params.id)
      return listPage(within, { ...request.query, key })
    },
  }
}

type Leg = { readonly scope: string }

/** Those who are confined to groups learn nothing of the periods of the frame. */
function legsWithin<Each extends Leg>({ scope }: Store, legs: readonly Each[]): Each[] {
  return legs.filter((leg) => scope === 'everywhere' || leg.scope !== 'frame')
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
  return {
    listRefusals: (request) => refusalPage(partsOf(parts, request), request.query),
    listKeyRefusals: async (request) => {
      const within = partsOf(parts, request)
      const { id: key } = await findKey(within.store, request.params.id)
      return refusalPage(within, { ...request.query, key })
    },
  }
}

async function refusalPage({ store }: AdminParts, { group, key, ...query }: RefusalQuery) {
  const found = await listRefusals(store, { ...query, groupId: group, keyId: key })
  const ids = found.map((refusal) => refusal.keyId)
  const names = await keyNames(store, ids)
  const next = found.length < query.limit ? null : (found.at(-1)?.requestId ?? null)
  return { refusals: found.map((refusal) => refusalJson(refusal, names)), next }
}
