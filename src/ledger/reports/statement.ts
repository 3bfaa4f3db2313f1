// The statement of a group: what each of its keys used in a month and what that cost, by model and price version, with the
// corrections that people made. Added up from usage rows, so that it agrees with the books to the nano-dollar.
import { sql } from 'kysely'
import { firstIdAt } from '../../core/ids.ts'
import type { Nanodollars } from '../../core/money.ts'
import { periodAt } from '../../core/periods.ts'
import { sentence, type Sentence } from '../../core/sentences.ts'
import { csvText } from '../../core/text.ts'
import { DAY_MS, iso, usd } from '../../core/units.ts'
import type { Price } from '../../catalog/prices.ts'
import { MAIN } from '../../store/accounts/budgets.ts'
import { StoreError } from '../../store/database/errors.ts'
import type { Store } from '../../store/database/store.ts'
import type { Group } from '../../store/groups/groups.ts'
import { keyFacts, type KeyFacts } from '../../store/keys/keys.ts'
import { toPrice } from '../rules/validation.ts'

/** Of one key and one model at one price. */
export type StatementLine = StatementSums & {
  readonly keyId: string
  readonly model: string
  /** Null: nothing was priced, as no provider was called. */
  readonly priceVersion: string | null
}

export type StatementSums = Readonly<Record<(typeof COUNTS)[number], number>> & {
  readonly costNanodollars: Nanodollars
}

const COUNTS = [
  ...(['requests', 'failed', 'inputTokens', 'cachedTokens', 'cacheWriteTokens'] as const),
  ...(['outputTokens', 'reasoningTokens', 'estimated'] as const),
]

/** A cost that somebody set by hand; the lines have it as it is now. */
export type Adjustment = {
  readonly at: number
  readonly requestId: string
  readonly keyId: string
  readonly model: string
  readonly priceVersion: string | null
  readonly actor: string
  readonly reason: string
  readonly beforeNanodollars: Nanodollars
  readonly afterNanodollars: Nanodollars
}

export type Statement = {
  readonly group: Pick<Group, 'id' | 'name' | 'timezone'>
  /** `2026-11`, in the time zone of the group. */
  readonly month: string
  readonly startsAt: number
  readonly endsAt: number
  /** When it was made; before the month has ended, it is not complete. */
  readonly madeAt: number
  readonly lines: readonly StatementLine[]
  readonly total: StatementSums
  readonly adjustments: readonly Adjustment[]
  readonly keys: ReadonlyMap<string, KeyFacts>
  readonly prices: ReadonlyMap<string, Price>
}

type Asked = {
  readonly group: Group
  readonly month: string
  /** How long single requests are kept. */
  readonly keepUsageMs: number
}

export async function makeStatement(
  store: Store,
  { group, month, keepUsageMs }: Asked,
): Promise<Statement> {
  const madeAt = store.clock.now()
  const { startsAt, endsAt } = monthIn(group.timezone, month)
  if (startsAt > madeAt) throw refused(sentence('month_to_come', { month }))
  if (startsAt < madeAt - keepUsageMs) {
    const days = Math.floor(keepUsageMs / DAY_MS)
    throw refused(sentence('month_not_kept', { month, days }))
  }
  const of = { groupId: group.id, startsAt, endsAt }
  const lines = await readLines(store, of)
  return {
    ...{ group, month, startsAt, endsAt, madeAt },
    lines,
    total: lines.reduce<StatementSums>(added, NOTHING),
    adjustments: await readAdjustments(store, of),
    keys: await keyFacts(
      store,
      lines.map(({ keyId }) => keyId),
    ),
    prices: await readPrices(store, lines),
  }
}

function monthIn(timezone: string, month: string): { startsAt: number; endsAt: number } {
  const [, year, number] = /^(19[7-9]\d|[2-9]\d{3})-(0[1-9]|1[0-2])$/.exec(month) ?? []
  if (year === undefined || number === undefined) throw refused(sentence('month_shape'))
  const middle = Date.UTC(Number(year), Number(number) - 1, 15)
  const { startsAt, endsAt } = periodAt({ period: 'month', timezone, weekStart: 'mon' }, middle)
  return { startsAt, endsAt: endsAt ?? startsAt }
}

function refused(message: Sentence): StoreError {
  return new StoreError('invalid_value', message, { field: 'month' })
}

type Span = { readonly groupId: string; readonly startsAt: number; readonly endsAt: number }

/** A request has its id from its node, and its time from the database a little later. */
const APART_MS_MAX = DAY_MS

function within({ groupId, startsAt, endsAt }: Span) {
  return sql`usage.group_id = ${groupId}
    AND usage.request_id < ${firstIdAt('req', endsAt + APART_MS_MAX)}
    AND usage.reserved_at >= ${startsAt} AND usage.reserved_at < ${endsAt}`
}

/** How many rows are added up at once: no other query has to wait for long. */
const SLICE_ROWS = 20_000

async function readLines(store: Store, span: Span): Promise<readonly StatementLine[]> {
  const lines = new Map<string, StatementLine>()
  let after = firstIdAt('req', Math.max(0, span.startsAt - APART_MS_MAX))
  for (;;) {
    const last = await lastOfSlice(store, span, after)
    for (const line of await readSlice(store, span, { after, last })) {
      const known = lines.get(nameOf(line))
      lines.set(nameOf(line), known === undefined ? line : { ...line, ...added(known, line) })
    }
    if (last === undefined) break
    after = last
  }
  return [...lines.values()].toSorted(byCost)
}

function byCost(one: StatementLine, other: StatementLine): number {
  const difference = other.costNanodollars - one.costNanodollars
  if (difference !== 0n) return difference < 0n ? -1 : 1
  return nameOf(one) < nameOf(other) ? -1 : 1
}

function nameOf({
  keyId,
  model,
  priceVersion,
}: Pick<StatementLine, 'keyId' | 'model' | 'priceVersion'>): string {
  return `${keyId} ${model} ${priceVersion ?? ''}`
}

/** Undefined: the rows that are left are fewer than a slice. */
async function lastOfSlice(store: Store, span: Span, after: string): Promise<string | undefined> {
  const { rows } = await sql<{ readonly id: string }>`
    SELECT request_id AS id FROM usage WHERE ${within(span)} AND request_id > ${after}
    ORDER BY request_id LIMIT 1 OFFSET ${SLICE_ROWS - 1}`.execute(store.db)
  return rows[0]?.id
}

async function readSlice(
  store: Store,
  span: Span,
  { after, last }: { readonly after: string; readonly last: string | undefined },
): Promise<readonly StatementLine[]> {
  const upTo = last === undefined ? sql`` : sql`AND request_id <= ${last}`
  const { rows } = await sql<StatementLine>`
    SELECT key_id AS "keyId", model_asked AS model, price_version AS "priceVersion",
      count(*) AS requests, sum(CASE WHEN status >= 400 THEN 1 ELSE 0 END) AS failed,
      sum(input_tokens) AS "inputTokens", sum(cached_tokens) AS "cachedTokens",
      sum(cache_write_tokens) AS "cacheWriteTokens", sum(output_tokens) AS "outputTokens",
      sum(reasoning_tokens) AS "reasoningTokens", sum(estimated) AS estimated,
      sum(cost_nanodollars) AS "costNanodollars"
    FROM usage WHERE ${within(span)} AND request_id > ${after} ${upTo}
    GROUP BY key_id, model_asked, price_version`.execute(store.db)
  return rows
}

async function readAdjustments(store: Store, span: Span): Promise<readonly Adjustment[]> {
  const { rows } = await sql<Adjustment>`
    SELECT entries.created_at AS at, usage.request_id AS "requestId", usage.key_id AS "keyId",
      usage.model_asked AS model, usage.price_version AS "priceVersion", entries.actor, entries.reason,
      entries.before_nanodollars AS "beforeNanodollars", entries.after_nanodollars AS "afterNanodollars"
    FROM ledger_entries AS entries CROSS JOIN usage
    WHERE entries.kind = 'adjust' AND entries.budget = ${MAIN} AND usage.id = entries.hold_id
      AND entries.account_id = usage.key_id AND ${within(span)}
    ORDER BY entries.created_at, entries.id`.execute(store.db)
  return rows
}

async function readPrices(
  { db }: Store,
  lines: readonly StatementLine[],
): Promise<ReadonlyMap<string, Price>> {
  const versions = [...new Set(lines.flatMap(({ priceVersion }) => priceVersion ?? []))]
  if (versions.length === 0) return new Map()
  const rows = await db.selectFrom('prices').selectAll().where('version', 'in', versions).execute()
  return new Map(rows.map((row) => [row.version, toPrice(row)]))
}

const NOTHING: StatementSums = {
  ...(Object.fromEntries(COUNTS.map((name) => [name, 0])) as Record<
    (typeof COUNTS)[number],
    number
  >),
  costNanodollars: 0n,
}

function added(sums: StatementSums, line: StatementSums): StatementSums {
  const counts = COUNTS.map((name) => [name, sums[name] + line[name]] as const)
  return {
    ...(Object.fromEntries(counts) as Record<(typeof COUNTS)[number], number>),
    costNanodollars: sums.costNanodollars + line.costNanodollars,
  }
}

/** `15 %`; empty where the list price applies. */
export function discountOf(
  statement: Statement,
  { priceVersion }: Pick<StatementLine, 'priceVersion'>,
): string {
  const discount = statement.prices.get(priceVersion ?? '')?.discount
  return discount === undefined ? '' : `${discount.millionths / 10_000} %`
}

/** By how much people changed the cost of a line, in all. */
export function adjustmentOf(statement: Statement, line: StatementLine): Nanodollars {
  return statement.adjustments
    .filter((each) => nameOf(each) === nameOf(line))
    .reduce((sum, each) => sum + each.afterNanodollars - each.beforeNanodollars, 0n)
}

export function statementJson(statement: Statement) {
  const { group, month, startsAt, endsAt, madeAt, lines, total, adjustments } = statement
  return {
    group: { id: group.id, name: group.name },
    ...{ month, timezone: group.timezone, starts_at: iso(startsAt), ends_at: iso(endsAt) },
    made_at: iso(madeAt),
    lines: lines.map((line) => lineJson(statement, line)),
    total: sumsJson(total),
    adjustments: adjustments.map((each) => ({
      ...{ at: iso(each.at), request: each.requestId, key: each.keyId, model: each.model },
      ...{ before: usd(each.beforeNanodollars), after: usd(each.afterNanodollars) },
      ...{ actor: each.actor, reason: each.reason },
    })),
  }
}

function lineJson(statement: Statement, line: StatementLine) {
  const key = statement.keys.get(line.keyId)
  return {
    group: statement.group.name,
    ...{ month: statement.month, timezone: statement.group.timezone },
    ...{ key: line.keyId, key_name: key?.name ?? null, owner: key?.owner ?? null },
    ...{ environment: key?.environment ?? null, tags: key?.tags.join(', ') ?? '' },
    ...{ model: line.model, price_version: line.priceVersion },
    discount: discountOf(statement, line),
    ...sumsJson(line),
    /** Contained in the cost; below zero, it was lowered. */
    adjusted_by: usd(adjustmentOf(statement, line)),
  }
}

function sumsJson(sums: StatementSums) {
  return {
    requests: sums.requests,
    failed: sums.failed,
    input_tokens: sums.inputTokens,
    cached_tokens: sums.cachedTokens,
    cache_write_tokens: sums.cacheWriteTokens,
    output_tokens: sums.outputTokens,
    reasoning_tokens: sums.reasoningTokens,
    estimated: sums.estimated,
    cost: usd(sums.costNanodollars),
  }
}

/** A line for each key, model and price; a statement without any still has its columns. */
export function statementCsv(statement: Statement): string {
  const columns = Object.keys(
    lineJson(statement, { keyId: '', model: '', priceVersion: null, ...NOTHING }),
  )
  const cells = statement.lines.map((line) => Object.values(lineJson(statement, line)))
  return csvText(columns, cells)
}
