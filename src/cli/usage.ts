// `tollgate usage`: usage and its cost, by key, model, provider, endpoint and day; `tollgate explain`: why one request
// cost what it cost, recomputed from the books.
import { Option, type Command } from 'commander'
import { costOfLines, type CostLine } from '../catalog/prices.ts'
import { formatUsd } from '../core/money.ts'
import { csvText } from '../core/text.ts'
import { DAY_MS } from '../core/units.ts'
import {
  explain,
  explanationJson,
  isSkipped,
  priceOf,
  type Explanation,
} from '../ledger/reports/explain.ts'
import {
  dayOf,
  reportUsage,
  sumsJson,
  targetOf,
  type ScanSums,
  type UsageScan,
} from '../ledger/reports/usage.ts'
import { legsOf } from '../ledger/rules/legs.ts'
import { WINDOW } from '../store/accounts/budgets.ts'
import type { Store } from '../store/database/store.ts'
import { findKey, keyNames } from '../store/keys/keys.ts'
import { common, lookAtStore, readDatabaseConfig, type CommonOptions } from './command/context.ts'
import { examples, readPast } from './command/options.ts'
import { argument, UsageError } from './terminal/failure.ts'
import {
  block,
  bold,
  exactTime,
  moment,
  printJson,
  printText,
  section,
  table,
  type Column,
  usd,
} from './terminal/output.ts'

const DEFAULT_DAYS = 30

const GROUPS = ['key', 'model', 'provider', 'endpoint', 'day'] as const

type UsageOptions = CommonOptions & {
  readonly key?: string
  readonly since?: (now: number) => number
  readonly until?: (now: number) => number
  readonly by?: (typeof GROUPS)[number]
  readonly csv?: true
}

export function addUsage(program: Command): void {
  common(program.command('usage'))
    .description('Show requests, tokens and cost, in whole hours.')
    .option('--key <KEY>', 'one key only, by id or name')
    .option(
      '--since <when>',
      'a date, or how long ago, such as 24h (default: 30d)',
      argument(readPast),
    )
    .option('--until <when>', 'a date, or how long ago (default: now)', argument(readPast))
    .addOption(
      new Option('--by <what>', 'one row for each (default: each key, model and day)').choices(
        GROUPS,
      ),
    )
    .addOption(new Option('--csv', 'print comma-separated values').conflicts('json'))
    .addHelpText(
      ...examples(
        'tollgate usage --by key --since 2026-11-01',
        'tollgate usage --key shop-production --by day --since 7d --csv > usage.csv',
      ),
    )
    .action(usage)
}

async function usage(options: UsageOptions): Promise<void> {
  await lookAtStore(readDatabaseConfig(options), async (store) => {
    const question = await questionOf(store, options)
    const { rows, total } = await reportUsage(store, question)
    const ids = rows.flatMap(({ keyId }) => keyId ?? [])
    const names = await keyNames(store, ids)
    const rowsJson = rows.map((row) => rowJson(row, names))
    if (options.json) printJson({ rows: rowsJson, total: sumsJson(total) })
    else if (options.csv) {
      // A report without rows still has its columns.
      const columns = Object.keys(rowJson(total, names))
      const cells = rowsJson.map((row) => Object.values(row))
      printText(csvText(columns, cells))
    } else printText(usageText({ rows, total, question, names }))
  })
}

async function questionOf(store: Store, options: UsageOptions): Promise<UsageScan> {
  const now = store.clock.now()
  const since = options.since?.(now) ?? Math.max(0, now - DEFAULT_DAYS * DAY_MS)
  const until = options.until?.(now) ?? now
  if (since >= until) throw new UsageError('--since must be before --until')
  const key = options.key === undefined ? undefined : await findKey(store, options.key)
  return {
    since,
    until,
    keyId: key?.id,
    by: options.by === undefined ? ['key', 'model', 'day'] : [options.by],
  }
}

function rowJson(row: ScanSums, names: ReadonlyMap<string, string>) {
  return {
    key: row.keyId,
    model: row.model,
    day: row.day === null ? null : dayOf(row.day),
    ...sumsJson(row),
    key_name: row.keyId === null ? null : (names.get(row.keyId) ?? null),
    provider: row.provider,
    endpoint: row.endpoint,
  }
}

type UsageText = {
  readonly rows: readonly ScanSums[]
  readonly total: ScanSums
  readonly question: UsageScan
  readonly names: ReadonlyMap<string, string>
}

function usageText({ rows, total, question, names }: UsageText): string {
  const title = bold(`${exactTime(question.since)} to ${exactTime(question.until)}`)
  if (rows.length === 0) return `${title}\nNothing was used.`
  const has = (what: (typeof GROUPS)[number]) => question.by.includes(what)
  const groups: readonly (Column<ScanSums> | false)[] = [
    has('day') && ['DAY', ({ day }) => (day === null ? '' : dayOf(day))],
    has('key') && ['KEY', ({ keyId }) => (keyId === null ? '' : (names.get(keyId) ?? keyId))],
    has('model') && ['MODEL', ({ model }) => model || '(none)'],
    has('provider') && ['PROVIDER', ({ provider }) => provider || '(none)'],
    has('endpoint') && ['ENDPOINT', ({ endpoint }) => endpoint ?? ''],
  ]
  const count = (title: string, of: (sums: ScanSums) => number): Column<ScanSums> => [
    title,
    (sums) => of(sums).toLocaleString('en'),
    'right',
  ]
  const body = table<ScanSums>(rows, [
    ...groups.filter((column) => column !== false),
    count('REQUESTS', (sums) => sums.requests),
    count('FAILED', (sums) => sums.failed),
    count('REFUSED', (sums) => sums.refused),
    count('INPUT', (sums) => sums.inputTokens),
    count('CACHED', (sums) => sums.cachedTokens),
    count('OUTPUT', (sums) => sums.outputTokens),
    ['USD', (sums) => formatUsd(sums.costNanodollars), 'right'],
  ])
  const requests =
    total.requests === 1 ? '1 request' : `${total.requests.toLocaleString('en')} requests`
  const sum = `${requests}, ${formatUsd(total.costNanodollars)} USD`
  const estimated = total.estimated === 0 ? '' : `, ${total.estimated} of them charged by estimate`
  return `${title}\n${body}\n\nTotal: ${sum}${estimated}`
}

export function addExplain(program: Command): void {
  common(program.command('explain'))
    .description(
      'Show how a request was charged: tokens times price, what was held and settled, ' +
        'which targets were tried and why. The cost is recomputed, to the nano-dollar.',
    )
    .argument('<REQUEST_ID>', 'the x-request-id of the answer, also in the log')
    .action((requestId: string, options: CommonOptions) =>
      lookAtStore(readDatabaseConfig(options), async (store) => {
        const explanation = await explain(store, requestId)
        if (options.json) return printJson(explanationJson(explanation))
        const { keyId } = explanation.row
        const name = (await keyNames(store, [keyId])).get(keyId)
        const key = name === undefined ? keyId : `${name}, ${keyId}`
        printText(explanationText(explanation, { key, now: store.clock.now() }))
      }),
    )
}

function explanationText(
  explanation: Explanation,
  { key, now }: { readonly key: string; readonly now: number },
): string {
  const { row, lines, attempts, entries } = explanation
  const outcome = row.errorCode === null ? String(row.status) : `${row.status} ${row.errorCode}`
  const computed =
    explanation.recomputedNanodollars === null
      ? 'there is no price to compute it from'
      : `${usd(explanation.recomputedNanodollars)}, ${explanation.agrees ? 'the same' : 'not the same'}`
  return [
    bold(row.requestId),
    block([
      ['key', key],
      ['model', servedBy(row)],
      ['endpoint', row.endpoint],
      ['outcome', outcome],
      ['reserved', moment(row.at, now)],
      ['settled', moment(row.settledAt, now)],
      ['held', `${usd(row.heldNanodollars)}, as hold ${row.id}`],
      ['cost', usd(row.costNanodollars)],
      ['charged to', legsText(row)],
      ['recomputed', computed],
      ['why', explanation.why],
    ]),
    ...section(
      bold(`Tokens at price ${row.priceVersion}, in USD per million`),
      lines.length === 0 ? [] : [lineTable(lines)],
    ),
    ...section(
      bold('Attempts'),
      attempts.map(({ target, outcome, durationMs, why }) =>
        isSkipped(outcome)
          ? `  ${target}: ${outcome}`
          : `  ${target}: ${outcome} after ${durationMs} ms (${why})`,
      ),
    ),
    ...section(
      bold('Changed by hand'),
      entries.map(
        ({ at, actor, reason, before, after }) =>
          `  ${moment(at, now)} by ${actor}: ${usd(before)} to ${usd(after)}: ${reason}`,
      ),
    ),
  ].join('\n')
}

function servedBy(row: Explanation['row']): string {
  const target = targetOf(row)
  if (target !== null) return `${row.modelAsked}, served by ${target}`
  return row.modelAsked === '' ? 'none' : `${row.modelAsked}, served by no provider`
}

function lineTable(lines: readonly CostLine[]): string {
  return table<CostLine>(lines, [
    ['WHAT', ({ what }) => WORDS[what]],
    ['COUNT', ({ count }) => count.toLocaleString('en'), 'right'],
    ...(lines.some(({ list }) => list !== undefined) ? LIST_COLUMNS : []),
    ['PRICE', priceOf, 'right'],
    ['USD', (line) => formatUsd(costOfLines([line]).nanodollars), 'right'],
  ])
}

/** Where a discount applies. */
const LIST_COLUMNS: readonly Column<CostLine>[] = [
  ['LIST PRICE', ({ what, list }) => (list ? priceOf({ what, ...list }) : '-'), 'right'],
  ['DISCOUNT', ({ list }) => (list ? `${list.millionths / 10_000} %` : '-'), 'right'],
]

const WORDS: Readonly<Record<CostLine['what'], string>> = {
  input: 'input',
  cached: 'input from a cache',
  cacheWriteShort: 'input to a cache',
  cacheWriteLong: 'input to a cache, long',
  output: 'output',
  request: 'fee for the request, in USD',
  webSearch: 'web searches, in USD',
  audioToken: 'audio input, in addition',
}

/** `key, its window, group grp_…, frame`: every budget that the request was charged to. */
function legsText(row: Explanation['row']): string {
  return legsOf(row)
    .map(({ scope, accountId, budget }) => {
      const name =
        scope === 'group' ? `group ${accountId}` : scope === 'model' ? 'cap for the model' : scope
      return budget === WINDOW ? `window of the ${name}` : name
    })
    .join(', ')
}
