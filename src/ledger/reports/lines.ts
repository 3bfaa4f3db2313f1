// How the lines of a report read: with the names of keys and groups, what is known of a key, and for models how long they
// took. The same members and the same CSV columns for the command line and the admin API.
import { csvText } from '../../core/text.ts'
import { iso, usd } from '../../core/units.ts'
import type { Store } from '../../store/database/store.ts'
import { groupNames } from '../../store/groups/groups.ts'
import { keyFacts, OUTSIDE_GROUPS, type KeyFacts } from '../../store/keys/keys.ts'
import { readLatencies, type Latencies } from './latencies.ts'
import { NO_LINE, type UsageLine, type UsageQuestion, type UsageSums } from './report.ts'

export type LineJson = ReturnType<typeof lineJson>

export async function describeLines(
  store: Store,
  question: UsageQuestion,
  rows: readonly UsageLine[],
): Promise<LineJson[]> {
  const keys = await keyFacts(
    store,
    rows.flatMap(({ key }) => key ?? []),
  )
  const hasGroups = rows.some(({ group }) => group !== null && group !== '')
  const groups = hasGroups ? await groupNames(store) : new Map<string, string>()
  // Counted for all keys together.
  const areTold = store.scope === 'everywhere' && areKnown(question)
  const latencies = areTold ? await readLatencies(store, question) : undefined
  return rows.map((row) =>
    lineJson(row, {
      key: keys.get(row.key ?? ''),
      groupName: groups.get(row.group ?? ''),
      latencies: latencies?.get(row.model ?? ''),
    }),
  )
}

/** Latencies are counted by hour and model, and by nothing else. */
function areKnown({
  by,
  since: _since,
  until: _until,
  limit: _limit,
  ...filters
}: UsageQuestion): boolean {
  const { model: _model, ...others } = filters
  const isFiltered = Object.values(others).some((value) => value !== undefined)
  return by.length === 1 && by[0] === 'model' && !isFiltered
}

type About = {
  readonly key?: KeyFacts | undefined
  readonly groupName?: string | undefined
  readonly latencies?: Latencies | undefined
}

/** A member is null where rows are not grouped by it, and empty where there is none. */
function lineJson(row: UsageLine, { key, groupName, latencies }: About) {
  const isOfKey = row.key !== null
  return {
    key: row.key,
    key_name: key?.name ?? null,
    /** As filters take it: `none` outside groups. */
    group: row.group === '' ? OUTSIDE_GROUPS : row.group,
    group_name: groupName ?? null,
    owner: row.owner ?? (isOfKey ? (key?.owner ?? '') : null),
    environment: row.environment ?? (isOfKey ? (key?.environment ?? '') : null),
    /** All that the key has. */
    tags: isOfKey ? (key?.tags ?? []) : null,
    /** The one that the row is about. */
    tag: row.tag,
    model: row.model,
    provider: row.provider,
    endpoint: row.endpoint,
    day: row.day === null ? null : dayOf(row.day),
    hour: iso(row.hour),
    ...sumsJson(row),
    /** Until the answer was complete, and until its first token. */
    latency_ms_p50: latencies?.whole.p50 ?? null,
    latency_ms_p95: latencies?.whole.p95 ?? null,
    first_token_ms_p50: latencies?.firstToken.p50 ?? null,
    first_token_ms_p95: latencies?.firstToken.p95 ?? null,
  }
}

/** A report without lines still has its columns. */
const COLUMNS = Object.keys(lineJson(NO_LINE, {})) as (keyof LineJson)[]

export function linesCsv(lines: readonly LineJson[]): string {
  const cell = (value: LineJson[keyof LineJson]): string | number | null =>
    typeof value === 'object' && value !== null ? value.join(', ') : value
  return csvText(
    COLUMNS,
    lines.map((line) => COLUMNS.map((name) => cell(line[name]))),
  )
}

export function sumsJson(sums: UsageSums) {
  return {
    requests: sums.requests,
    failed: sums.failed,
    refused: sums.refused,
    input_tokens: sums.inputTokens,
    cached_tokens: sums.cachedTokens,
    cache_write_tokens: sums.cacheWriteTokens,
    output_tokens: sums.outputTokens,
    reasoning_tokens: sums.reasoningTokens,
    cost: usd(sums.costNanodollars),
    estimated: sums.estimated,
  }
}

/** `2026-11-15`, from the first moment of that day. */
function dayOf(moment: number): string {
  return new Date(moment).toISOString().slice(0, 10)
}
