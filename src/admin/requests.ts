// The handlers of /requests: single requests, and why each cost what it cost.
import { usd } from '../core/units.ts'
import { explain, explanationJson } from '../ledger/reports/explain.ts'
import { requestJson, searchUsage } from '../ledger/reports/usage.ts'
import type { UsageRow as LedgerRow } from '../ledger/rules/rows.ts'
import { findKey, keyNames } from '../store/keys/keys.ts'
import type { HandlersOf } from './call.ts'
import type { RequestQuery, requestRoutes, RequestRow } from './contract/requests.ts'
import type { AdminParts } from './parts.ts'

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

async function listPage({ store }: AdminParts, query: RequestQuery) {
  const { key: keyId, model, outcome, before, limit } = query
  const since = query.since === undefined ? undefined : Date.parse(query.since)
  const until = query.until === undefined ? undefined : Date.parse(query.until)
  const page = { keyId, model, outcome, since, until, before, limit }
  const { rows, next } = await searchUsage(store, page)
  const names = await keyNames(
    store,
    rows.map((row) => row.keyId),
  )
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
