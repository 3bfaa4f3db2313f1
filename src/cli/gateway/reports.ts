// What the commands that only read ask: usage, refusals, and why a request cost what it cost. Of the database of this
// machine, or of a gateway elsewhere by its admin API, in the words of that API.
import type { RefusalRow, RequestAnswer, UsageAnswer } from '../../admin/contract/usage.ts'
import { systemClock } from '../../core/clock.ts'
import type { REFUSAL_CODES } from '../../core/errors.ts'
import type { Dimension } from '../../core/limits.ts'
import { iso } from '../../core/units.ts'
import { describeLines, linesCsv, sumsJson } from '../../ledger/reports/lines.ts'
import { reportUsage, type UsageFilter } from '../../ledger/reports/report.ts'
import { explain, explanationJson } from '../../ledger/reports/requests.ts'
import type { Store } from '../../store/database/store.ts'
import { findGroup } from '../../store/groups/groups.ts'
import { findKey, keyNames, OUTSIDE_GROUPS } from '../../store/keys/keys.ts'
import { listRefusals, refusalJson } from '../../store/refusals.ts'
import { lookAtStore, readDatabaseConfig } from '../command/context.ts'
import { FailureError } from '../terminal/failure.ts'
import { connectionOf, type AdminCall, type RemoteOptions } from './connection.ts'
import { remoteGateway } from './remote.ts'

export type Reports = {
  now(): number
  usage(asked: UsageAsked): Promise<UsageFound>
  usageCsv(asked: UsageAsked): Promise<string>
  refusals(asked: RefusalsAsked): Promise<readonly RefusalRow[]>
  explain(requestId: string): Promise<ShownRequest>
}

/** Key and group by id or name; `none` = outside groups, and an empty text what has none. */
export type UsageAsked = UsageFilter & {
  readonly since: number
  readonly until: number
  readonly by: readonly Dimension[]
  /** Without it, a report with too many rows is refused. */
  readonly limit?: number | undefined
}

type UsageFound = Pick<UsageAnswer, 'rows' | 'total' | 'left_out' | 'rest'>

type RefusalsAsked = {
  readonly key: string | undefined
  readonly code: (typeof REFUSAL_CODES)[number] | undefined
  readonly since: number
  readonly limit: number
}

type Explained = ReturnType<typeof explanationJson>
/** What is in both answers, under the names of the command line. */
export type ShownRequest = Pick<RequestAnswer, Extract<keyof Explained, keyof RequestAnswer>> &
  Omit<Explained, keyof RequestAnswer> & { readonly key_name: string | null }

export function onReports(
  options: RemoteOptions,
  work: (reports: Reports) => Promise<void>,
): Promise<void> {
  const call = connectionOf(options)
  if (call !== undefined) return work(remoteReports(call))
  return lookAtStore(readDatabaseConfig(options), (store) => work(localReports(store)))
}

function localReports(store: Store): Reports {
  const usage = async ({ key, group, ...same }: UsageAsked): Promise<UsageFound> => {
    const question = {
      ...same,
      key: key === undefined ? undefined : (await findKey(store, key)).id,
      group: group === OUTSIDE_GROUPS ? '' : group && (await findGroup(store, group)).id,
    }
    const { rows, total, leftOut, rest } = await reportUsage(store, question)
    return {
      rows: await describeLines(store, question, rows),
      total: sumsJson(total),
      left_out: leftOut,
      rest: sumsJson(rest),
    }
  }
  return {
    now: () => store.clock.now(),
    usage,
    usageCsv: async (asked) => linesCsv((await usage(asked)).rows),
    refusals: async ({ key, ...same }) => {
      const keyId = key === undefined ? undefined : (await findKey(store, key)).id
      const rows = await listRefusals(store, { ...same, keyId })
      const names = await keyNames(store, new Set(rows.map((row) => row.keyId)))
      return rows.map((row) => refusalJson(row, names))
    },
    explain: async (requestId) => {
      const explained = explanationJson(await explain(store, requestId))
      const { key } = explained
      return { ...explained, key_name: (await keyNames(store, [key])).get(key) ?? null }
    },
  }
}

const ROWS_AT_ONCE = 200
/** What the admin API gives as JSON. */
const REPORT_ROWS_MAX = 10_000

function remoteReports(call: AdminCall): Reports {
  const gateway = remoteGateway(call)
  const queryOf = async ({ key, group, since, until, by, ...same }: UsageAsked) => ({
    ...same,
    key: key === undefined ? undefined : (await gateway.findKey(key)).id,
    group: group === OUTSIDE_GROUPS ? group : group && (await gateway.findGroup(group)).id,
    since: iso(since),
    until: iso(until),
    by: by.join(','),
  })
  return {
    now: () => systemClock.now(),
    usage: async (asked) => {
      const { limit = REPORT_ROWS_MAX } = asked
      const found = await call('readUsage', { query: { ...(await queryOf(asked)), limit } })
      if (asked.limit === undefined && found.left_out > 0) {
        throw new FailureError(
          `there are more than ${REPORT_ROWS_MAX} rows: ask for a shorter time, or for --csv`,
        )
      }
      return found
    },
    usageCsv: async (asked) => {
      const { limit: _limit, ...query } = await queryOf(asked)
      return call('exportUsage', { query })
    },
    refusals: async ({ key, code, since, limit }) => {
      const keyId = key === undefined ? undefined : (await gateway.findKey(key)).id
      const rows: RefusalRow[] = []
      let before: string | undefined
      do {
        const most = Math.min(ROWS_AT_ONCE, limit - rows.length)
        const query = { key: keyId, code, since: iso(since), before, limit: most }
        const { refusals, next } = await call('listRefusals', { query })
        rows.push(...refusals)
        before = next ?? undefined
      } while (before !== undefined && rows.length < limit)
      return rows
    },
    explain: async (requestId) => {
      const found = await call('readRequest', { params: { id: requestId } })
      const { id: request_id, code: error, created_at: reserved_at, ...same } = found
      return { ...same, request_id, error, reserved_at }
    },
  }
}
