// Turns usage rows into what a chart draws and a table lists. Pure; money is summed exactly, floats only decide
// heights.
import type { UsageRow } from '../../../../src/admin/contract/usage.ts'
import { DAY_MS, HOUR_MS } from '../../../../src/core/units.ts'
import type { Metric, Span } from '../../base/address.ts'
import { sumOf } from '../../base/amounts.ts'

/** One bar: the value of each series. `isKnown` is false if nothing was recorded, which is not the same as zero. */
export type Bucket = {
  readonly at: string
  readonly isKnown: boolean
  readonly values: readonly number[]
}

export type Course = { readonly series: readonly string[]; readonly buckets: readonly Bucket[] }

const seriesMax = 6
const stepsMs = { day: DAY_MS, hour: HOUR_MS } as const

/** Every day or hour of the span; the largest groups get their own series, the rest share the last one. */
export function courseOf(
  rows: readonly UsageRow[],
  span: Span,
  { metric, rest }: { readonly metric: Metric; readonly rest: string },
): Course {
  const series = largestGroups(rows, metric, rest)
  const buckets = momentsOf(span).map((at) => {
    const own = rows.filter((row) => momentOf(row, span.step) === at)
    const values = series.map((group) =>
      own
        .filter((row) => (series.includes(groupOf(row)) ? groupOf(row) : rest) === group)
        .reduce((sum, row) => sum + Number(row[metric]), 0),
    )
    return { at, isKnown: own.length > 0, values }
  })
  return { series, buckets }
}

/** `id`: the model, the key's id, or the day these totals are for. */
export type Totals = Pick<UsageRow, Metric> & { readonly id: string }

/** The sums of all rows that share a model, a key, or a day. */
export function totalsBy(
  rows: readonly UsageRow[],
  of: (row: UsageRow) => string,
): readonly Totals[] {
  return [...Map.groupBy(rows, of)].map(([id, members]) => ({
    id,
    cost: sumOf(members.map(({ cost }) => cost)),
    requests: count(members, 'requests'),
    failed: count(members, 'failed'),
    refused: count(members, 'refused'),
    input_tokens: count(members, 'input_tokens'),
    output_tokens: count(members, 'output_tokens'),
    cached_tokens: count(members, 'cached_tokens'),
    cache_write_tokens: count(members, 'cache_write_tokens'),
  }))
}

/**
 * The group of a row, besides its time. For keys that is the id: a revoked key's name may be used again. A row of a key
 * also has the group and the owner of it.
 */
export function groupOf(row: UsageRow): string {
  const { model, provider, endpoint, tag, key, group, owner, environment } = row
  return model ?? provider ?? endpoint ?? tag ?? key ?? group ?? owner ?? environment ?? ''
}

const idEndLength = 6

/** The display name of each key: its name, plus the end of its id if several share the name. */
export function keyNamesOf(rows: readonly UsageRow[]): ReadonlyMap<string, string> {
  const names = new Map(rows.map(({ key, key_name: name }) => [key ?? '', name ?? key ?? '']))
  const owners = Map.groupBy(names, ([, name]) => name)
  return new Map(
    [...names].map(([id, name]) => {
      const isShared = (owners.get(name) ?? []).length > 1
      return [id, isShared ? `${name} (…${id.slice(-idEndLength)})` : name]
    }),
  )
}

function count(rows: readonly UsageRow[], metric: Exclude<Metric, 'cost'>): number {
  return rows.reduce((sum, row) => sum + row[metric], 0)
}

function largestGroups(rows: readonly UsageRow[], metric: Metric, rest: string): readonly string[] {
  const groups = totalsBy(rows, groupOf)
    .toSorted((one, other) => Number(other[metric]) - Number(one[metric]))
    .map(({ id }) => id)
  return groups.length <= seriesMax ? groups : [...groups.slice(0, seriesMax - 1), rest]
}

function momentOf(row: UsageRow, step: Span['step']): string | null {
  return step === 'day' ? row.day : row.hour && new Date(row.hour).toISOString()
}

/** The days (`2026-11-15`) or hours of a span, in UTC, as the gateway groups them. */
function momentsOf({ since, until, step }: Span): readonly string[] {
  const stepMs = stepsMs[step]
  const first = Math.floor(Date.parse(since) / stepMs)
  const last = Math.floor((Date.parse(until) - 1) / stepMs)
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => {
    const moment = new Date((first + index) * stepMs).toISOString()
    return step === 'day' ? moment.slice(0, 10) : moment
  })
}

const stepsMax = 4
const roundSteps = [1, 2, 2.5, 5, 10] as const

/** The axis marks of a chart, few and round, from 0 to at least `most`; only whole numbers for counts. */
export function marksOf(most: number, isWhole: boolean): readonly number[] {
  const step = most <= 0 ? 1 : roundStep(most / stepsMax, isWhole)
  const count = Math.max(1, Math.ceil(most / step))
  // Multiply instead of adding, so that float rounding does not accumulate.
  return Array.from({ length: count + 1 }, (_, index) => index * step)
}

/** The smallest round step that is at least `least`. */
function roundStep(least: number, isWhole: boolean): number {
  const size = 10 ** Math.floor(Math.log10(least))
  const step = roundSteps
    .map((each) => each * size)
    .find((each) => each >= least && (!isWhole || Number.isInteger(each)))
  return step ?? 1
}
