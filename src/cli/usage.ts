// `tollgate usage`: usage and its cost, by any dimension; `tollgate statement`: a month of a group, to hand on; `tollgate
// explain`: why one request cost what it cost, recomputed from the books.
import { Option, type Command } from 'commander'
import { costOfLines, type CostLine } from '../catalog/prices.ts'
import { DIMENSIONS, REPORT_ROWS, type Dimension } from '../core/limits.ts'
import { formatUsd } from '../core/money.ts'
import { DAY_MS } from '../core/units.ts'
import {
  explain,
  explanationJson,
  isSkipped,
  priceOf,
  type Explanation,
} from '../ledger/reports/explain.ts'
import { describeLines, linesCsv, sumsJson, type LineJson } from '../ledger/reports/lines.ts'
import {
  reportUsage,
  type UsageFilter,
  type UsageQuestion,
  type UsageReport,
  type UsageSums,
} from '../ledger/reports/report.ts'
import { statementPage } from '../ledger/reports/statement-page.ts'
import { makeStatement, statementCsv, statementJson } from '../ledger/reports/statement.ts'
import { targetOf } from '../ledger/reports/usage.ts'
import { legsOf } from '../ledger/rules/legs.ts'
import { WINDOW } from '../store/accounts/budgets.ts'
import type { Store } from '../store/database/store.ts'
import { findGroup } from '../store/groups/groups.ts'
import { findKey, keyNames } from '../store/keys/keys.ts'
import { common, lookAtStore, readDatabaseConfig, type CommonOptions } from './command/context.ts'
import { demand, examples, readPast } from './command/options.ts'
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
const DEFAULT_BY: readonly Dimension[] = ['key', 'model', 'day']

type UsageOptions = CommonOptions &
  Readonly<Partial<Record<keyof UsageFilter, string>>> & {
    readonly since?: (now: number) => number
    readonly until?: (now: number) => number
    readonly by?: Dimension
    readonly csv?: true
  }

export function addUsage(program: Command): void {
  common(program.command('usage'))
    .description('Show requests, tokens and cost, in whole hours.')
    .option('--key <KEY>', 'one key only, by id or name')
    .option('--group <GROUP>', 'what was used in one group, by id or name, or none for outside')
    .option('--owner <owner>', 'only keys of this owner, or none for those without')
    .option('--environment <name>', 'only keys of this environment, or none')
    .option('--tag <tag>', 'only keys with this tag, or none for those without')
    .option('--model <model>', 'one model only, by its public name')
    .option('--provider <name>', 'only what this provider served, or none')
    .option('--endpoint <name>', 'one endpoint only, such as chat')
    .option(
      '--since <when>',
      'a date, or how long ago, such as 24h (default: 30d)',
      argument(readPast),
    )
    .option('--until <when>', 'a date, or how long ago (default: now)', argument(readPast))
    .addOption(
      new Option('--by <what>', 'one row for each (default: each key, model and day)').choices(
        DIMENSIONS,
      ),
    )
    .addOption(new Option('--csv', 'print comma-separated values').conflicts('json'))
    .addHelpText(
      ...examples(
        'tollgate usage --by group --since 2026-11-01',
        'tollgate usage --key shop-production --by day --since 7d --csv > usage.csv',
        'tollgate usage --tag web --by owner',
      ),
    )
    .action(usage)
}

async function usage(options: UsageOptions): Promise<void> {
  await lookAtStore(readDatabaseConfig(options), async (store) => {
    const isTable = !options.json && !options.csv
    const asked = await questionOf(store, options)
    // A table is for reading; files have everything.
    const question = { ...asked, limit: isTable ? REPORT_ROWS : undefined }
    const report = await reportUsage(store, question)
    const lines = await describeLines(store, question, report.rows)
    if (options.json) printJson({ rows: lines, total: sumsJson(report.total) })
    else if (options.csv) printText(linesCsv(lines))
    else printText(usageText({ question, report, lines }))
  })
}

/** Without an owner, a tag, a provider. */
const NONE = 'none'

async function questionOf(store: Store, options: UsageOptions): Promise<UsageQuestion> {
  const now = store.clock.now()
  const since = options.since?.(now) ?? Math.max(0, now - DEFAULT_DAYS * DAY_MS)
  const until = options.until?.(now) ?? now
  if (since >= until) throw new UsageError('--since must be before --until')
  const { by, key, group, owner, environment, tag, model, provider, endpoint } = options
  const orNone = (text: string | undefined): string | undefined => (text === NONE ? '' : text)
  return {
    since,
    until,
    by: by === undefined ? DEFAULT_BY : [by],
    key: key === undefined ? undefined : (await findKey(store, key)).id,
    group:
      group === undefined || group === NONE ? orNone(group) : (await findGroup(store, group)).id,
    ...{ owner: orNone(owner), environment: orNone(environment), tag: orNone(tag) },
    ...{ model, provider: orNone(provider), endpoint },
  }
}

type UsageText = {
  readonly question: UsageQuestion
  readonly report: UsageReport
  readonly lines: readonly LineJson[]
}

function usageText({ question, report, lines }: UsageText): string {
  const title = bold(`${exactTime(question.since)} to ${exactTime(question.until)}`)
  if (lines.length === 0) return `${title}\nNothing was used.`
  const { total, leftOut, rest } = report
  const dimensions = DIMENSIONS.filter((each) => question.by.includes(each))
  const body = table<TextRow>(
    [
      ...lines.map((line) => ({ name: (each: Dimension) => NAMES[each](line), ...line })),
      ...(leftOut === 0 ? [] : [restRow(leftOut, rest)]),
    ],
    [
      ...dimensions.map((each): Column<TextRow> => [each.toUpperCase(), ({ name }) => name(each)]),
      ...FIGURES,
      ...(lines.some((line) => line.latency_ms_p50 !== null) ? LATENCIES : []),
    ],
  )
  const requests =
    total.requests === 1 ? '1 request' : `${total.requests.toLocaleString('en')} requests`
  const sum = `${requests}, ${formatUsd(total.costNanodollars)} USD`
  const estimated = total.estimated === 0 ? '' : `, ${total.estimated} of them charged by estimate`
  const tags = question.by.includes('tag')
    ? '\nA key with several tags counts in each of them: the rows may add up to more than the total.'
    : ''
  return `${title}\n${body}\n\nTotal: ${sum}${estimated}${tags}`
}

type Figures = ReturnType<typeof sumsJson>
type TextRow = Figures &
  Partial<Pick<LineJson, `${'latency' | 'first_token'}_ms_${'p50' | 'p95'}`>> & {
    readonly name: (dimension: Dimension) => string
  }

function restRow(count: number, rest: UsageSums): TextRow {
  return { name: () => `(${count.toLocaleString('en')} more)`, ...sumsJson(rest) }
}

const orNobody = (name: string | null): string => name || '(none)'

const NAMES: Readonly<Record<Dimension, (line: LineJson) => string>> = {
  day: ({ day }) => day ?? '',
  hour: ({ hour }) => hour ?? '',
  group: ({ group, group_name: name }) => name ?? (group === NONE ? '(none)' : (group ?? '')),
  key: ({ key, key_name: name }) => name ?? key ?? '',
  owner: ({ owner }) => orNobody(owner),
  environment: ({ environment }) => orNobody(environment),
  tag: ({ tag }) => orNobody(tag),
  model: ({ model }) => orNobody(model),
  provider: ({ provider }) => orNobody(provider),
  endpoint: ({ endpoint }) => orNobody(endpoint),
}

const FIGURES: readonly Column<TextRow>[] = [
  counted('REQUESTS', (row) => row.requests),
  counted('FAILED', (row) => row.failed),
  counted('REFUSED', (row) => row.refused),
  counted('INPUT', (row) => row.input_tokens),
  counted('CACHED', (row) => row.cached_tokens),
  counted('OUTPUT', (row) => row.output_tokens),
  ['USD', ({ cost }) => cost, 'right'],
]

/** Half of the answers, and 95 % of them, were complete within, and had their first token within. */
const LATENCIES: readonly Column<TextRow>[] = [
  counted('P50 MS', (row) => row.latency_ms_p50),
  counted('P95 MS', (row) => row.latency_ms_p95),
  counted('FIRST P50', (row) => row.first_token_ms_p50),
  counted('FIRST P95', (row) => row.first_token_ms_p95),
]

function counted(title: string, of: (row: TextRow) => number | null | undefined): Column<TextRow> {
  return [title, (row) => of(row)?.toLocaleString('en') ?? '-', 'right']
}

type StatementOptions = CommonOptions & {
  readonly group: string
  readonly month: string
  readonly csv?: true
}

export function addStatement(program: Command): void {
  demand(common(program.command('statement')), [
    new Option('--group <GROUP>', 'which group, by id or name'),
    new Option('--month <month>', 'such as 2026-11, in the time zone of the group'),
  ])
    .description(
      'Print what a group used in a month and what it cost: by key, model and price, with adjustments. ' +
        'One page of HTML, for a screen or for paper.',
    )
    .addOption(new Option('--csv', 'print comma-separated values instead').conflicts('json'))
    .addHelpText(
      ...examples('tollgate statement --group search --month 2026-11 > search-2026-11.html'),
    )
    .action(async (options: StatementOptions) => {
      const config = readDatabaseConfig(options)
      await lookAtStore(config, async (store) => {
        const group = await findGroup(store, options.group)
        const { keepUsageMs } = config.ledger
        const statement = await makeStatement(store, { group, month: options.month, keepUsageMs })
        if (options.json) printJson(statementJson(statement))
        else printText(options.csv ? statementCsv(statement) : statementPage(statement))
      })
    })
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
