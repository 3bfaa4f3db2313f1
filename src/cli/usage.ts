// The commands that only read what was called: `tollgate usage`: usage and its cost, by any dimension; `tollgate
// statement`: a month of a group, to hand on; `tollgate explain`: why one request cost what it cost, recomputed from the
// books; `tollgate refusals`: which calls were turned away, with which code, and what was lacking.
import { Option, type Command } from 'commander'
import type { RefusalRow } from '../admin/contract/usage.ts'
import { REFUSAL_CODES } from '../core/errors.ts'
import { DIMENSIONS, REPORT_ROWS, type Dimension } from '../core/limits.ts'
import { DAY_MS } from '../core/units.ts'
import type { LineJson, sumsJson } from '../ledger/reports/lines.ts'
import type { UsageFilter } from '../ledger/reports/report.ts'
import { isSkipped } from '../ledger/reports/requests.ts'
import { statementPage } from '../ledger/reports/statement-page.ts'
import { makeStatement, statementCsv, statementJson } from '../ledger/reports/statement.ts'
import { findGroup } from '../store/groups/groups.ts'
import { OUTSIDE_GROUPS } from '../store/keys/keys.ts'
import { common, lookAtStore, readDatabaseConfig, type CommonOptions } from './command/context.ts'
import { demand, examples, readCount, readPast } from './command/options.ts'
import { anywhere, type RemoteOptions } from './gateway/connection.ts'
import { onReports, type Reports, type ShownRequest, type UsageAsked } from './gateway/reports.ts'
import { argument, UsageError } from './terminal/failure.ts'
import {
  block,
  bold,
  exactTime,
  moment,
  percentText,
  printJson,
  printText,
  section,
  table,
  type Column,
} from './terminal/output.ts'

const DEFAULT_DAYS = 30
const DEFAULT_BY: readonly Dimension[] = ['key', 'model', 'day']

type UsageOptions = RemoteOptions &
  Readonly<Partial<Record<keyof UsageFilter, string>>> & {
    readonly since?: (now: number) => number
    readonly until?: (now: number) => number
    readonly by?: Dimension
    readonly csv?: true
  }

export function addUsage(program: Command): void {
  anywhere(program.command('usage'))
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
  await onReports(options, async (reports) => {
    const asked = askedOf(reports.now(), options)
    if (options.csv) return printText(await reports.usageCsv(asked))
    // A table is for reading; files have everything.
    const limit = options.json ? undefined : REPORT_ROWS
    const found = await reports.usage({ ...asked, limit })
    if (options.json) printJson({ rows: found.rows, total: found.total })
    else printText(usageText(asked, found))
  })
}

/** Without an owner, a tag, a provider. */
const NONE = 'none'

function askedOf(now: number, options: UsageOptions): UsageAsked {
  const since = options.since?.(now) ?? Math.max(0, now - DEFAULT_DAYS * DAY_MS)
  const until = options.until?.(now) ?? now
  if (since >= until) throw new UsageError('--since must be before --until')
  const { by, key, group, owner, environment, tag, model, provider, endpoint } = options
  const orNone = (text: string | undefined): string | undefined => (text === NONE ? '' : text)
  return {
    since,
    until,
    by: by === undefined ? DEFAULT_BY : [by],
    ...{ key, group, model, endpoint },
    ...{ owner: orNone(owner), environment: orNone(environment), tag: orNone(tag) },
    provider: orNone(provider),
  }
}

type UsageFound = Awaited<ReturnType<Reports['usage']>>

function usageText(
  asked: UsageAsked,
  { rows, total, left_out: leftOut, rest }: UsageFound,
): string {
  const title = bold(`${exactTime(asked.since)} to ${exactTime(asked.until)}`)
  if (rows.length === 0) return `${title}\nNothing was used.`
  const dimensions = DIMENSIONS.filter((each) => asked.by.includes(each))
  const body = table<TextRow>(
    [
      ...rows.map((line) => ({ name: (each: Dimension) => NAMES[each](line), ...line })),
      ...(leftOut === 0 ? [] : [restRow(leftOut, rest)]),
    ],
    [
      ...dimensions.map((each): Column<TextRow> => [each.toUpperCase(), ({ name }) => name(each)]),
      ...FIGURES,
      ...(rows.some((line) => line.latency_ms_p50 !== null) ? LATENCIES : []),
    ],
  )
  const requests =
    total.requests === 1 ? '1 request' : `${total.requests.toLocaleString('en')} requests`
  const sum = `${requests}, ${total.cost} USD`
  const estimated = total.estimated === 0 ? '' : `, ${total.estimated} of them charged by estimate`
  const tags = asked.by.includes('tag')
    ? '\nA key with several tags counts in each of them: the rows may add up to more than the total.'
    : ''
  return `${title}\n${body}\n\nTotal: ${sum}${estimated}${tags}`
}

type Figures = ReturnType<typeof sumsJson>
type TextRow = Figures &
  Partial<Pick<LineJson, `${'latency' | 'first_token'}_ms_${'p50' | 'p95'}`>> & {
    readonly name: (dimension: Dimension) => string
  }

function restRow(count: number, rest: Figures): TextRow {
  return { name: () => `(${count.toLocaleString('en')} more)`, ...rest }
}

const orNobody = (name: string | null): string => name || '(none)'

const NAMES: Readonly<Record<Dimension, (line: LineJson) => string>> = {
  day: ({ day }) => day ?? '',
  hour: ({ hour }) => hour ?? '',
  group: ({ group, group_name: name }) =>
    name ?? (group === OUTSIDE_GROUPS ? '(none)' : (group ?? '')),
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
  anywhere(program.command('explain'))
    .description(
      'Show how a request was charged: tokens times price, what was held and settled, ' +
        'which targets were tried and why. The cost is recomputed, to the nano-dollar.',
    )
    .argument('<REQUEST_ID>', 'the x-request-id of the answer, also in the log')
    .action((requestId: string, options: RemoteOptions) =>
      onReports(options, async (reports) => {
        const request = await reports.explain(requestId)
        if (options.json) printJson(requestOutput(request))
        else printText(requestText(request, reports.now()))
      }),
    )
}

/** As programs read it. */
function requestOutput(request: ShownRequest) {
  return Object.fromEntries(REQUEST_FIELDS.map((field) => [field, request[field]]))
}

const REQUEST_FIELDS = [
  ...(['request_id', 'hold', 'key', 'group', 'endpoint', 'model', 'target', 'state'] as const),
  ...(['status', 'error', 'reserved_at', 'settled_at', 'held', 'cost', 'recomputed'] as const),
  ...(['agrees', 'estimated', 'why', 'reasons', 'legs', 'price_version', 'lines'] as const),
  ...(['attempts', 'changes', 'trace_id'] as const),
]

function requestText(request: ShownRequest, now: number): string {
  const { lines, attempts, changes, error, key, key_name: name } = request
  const when = (at: string): string => moment(Date.parse(at), now)
  const computed =
    request.recomputed === null
      ? 'there is no price to compute it from'
      : `${request.recomputed} USD, ${request.agrees ? 'the same' : 'not the same'}`
  return [
    bold(request.request_id),
    block([
      ['key', name === null ? key : `${name}, ${key}`],
      ['model', servedBy(request)],
      ['endpoint', request.endpoint],
      ['outcome', error === null ? String(request.status) : `${request.status} ${error}`],
      ...(request.trace_id === null ? [] : [['trace', request.trace_id] as const]),
      ['reserved', when(request.reserved_at)],
      ['settled', when(request.settled_at)],
      ['held', `${request.held} USD, as hold ${request.hold}`],
      ['cost', `${request.cost} USD`],
      ['charged to', legsText(request)],
      ['recomputed', computed],
      ['why', request.why],
    ]),
    ...section(
      bold(`Tokens at price ${request.price_version}, in USD per million`),
      lines.length === 0 ? [] : [lineTable(lines)],
    ),
    ...section(
      bold('Attempts'),
      attempts.map(({ target, outcome, duration_ms: durationMs, why }) =>
        isSkipped(outcome)
          ? `  ${target}: ${outcome}`
          : `  ${target}: ${outcome} after ${durationMs} ms (${why})`,
      ),
    ),
    ...section(
      bold('Changed by hand'),
      changes.map(
        ({ at, actor, reason, before, after }) =>
          `  ${when(at)} by ${actor}: ${amountText(before)} to ${amountText(after)}: ${reason}`,
      ),
    ),
  ].join('\n')
}

function amountText(amount: string | null): string {
  return amount === null ? 'none' : `${amount} USD`
}

function servedBy({ target, model }: ShownRequest): string {
  if (target !== null) return `${model}, served by ${target}`
  return model === '' ? 'none' : `${model}, served by no provider`
}

type Line = ShownRequest['lines'][number]

function lineTable(lines: readonly Line[]): string {
  return table<Line>(lines, [
    ['WHAT', ({ what }) => WORDS[what] ?? what],
    ['COUNT', ({ count }) => count.toLocaleString('en'), 'right'],
    ...(lines.some((line) => line.list_price !== undefined) ? LIST_COLUMNS : []),
    ['PRICE', ({ price }) => price, 'right'],
    ['USD', ({ cost }) => cost, 'right'],
  ])
}

/** Where a discount applies. */
const LIST_COLUMNS: readonly Column<Line>[] = [
  ['LIST PRICE', (line) => line.list_price ?? '-', 'right'],
  ['DISCOUNT', ({ discount }) => (discount === undefined ? '-' : percentText(discount)), 'right'],
]

const WORDS: Readonly<Partial<Record<string, string>>> = {
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
function legsText({ legs }: ShownRequest): string {
  return legs
    .map(({ scope, account, window }) => {
      const name =
        scope === 'group' ? `group ${account}` : scope === 'model' ? 'cap for the model' : scope
      return window ? `window of the ${name}` : name
    })
    .join(', ')
}

// Refusals.

const REFUSED_DAYS = 7
const REFUSED_ROWS = 100

type RefusalOptions = RemoteOptions & {
  readonly key?: string
  readonly code?: (typeof REFUSAL_CODES)[number]
  readonly since?: (now: number) => number
  readonly limit?: number | 'none'
}

export function addRefusals(program: Command): void {
  anywhere(program.command('refusals'))
    .description(
      'List the calls that were refused with 401, 402, 403 or 429, newest first. Of each key and code, the first 100 within an hour are listed, the others counted.',
    )
    .option('--key <KEY>', 'one key only, by id or name')
    .addOption(new Option('--code <code>', 'one code only').choices(REFUSAL_CODES))
    .option(
      '--since <when>',
      'a date, or how long ago, such as 24h (default: 7d)',
      argument(readPast),
    )
    .option(
      '--limit <count>',
      `at most so many, or none (default: ${REFUSED_ROWS})`,
      argument(readCount),
    )
    .addHelpText(
      ...examples(
        'tollgate refusals --key shop-production --since 24h',
        'tollgate refusals --code invalid_api_key',
      ),
    )
    .action(refusals)
}

async function refusals(options: RefusalOptions): Promise<void> {
  await onReports(options, async (reports) => {
    const now = reports.now()
    const since = options.since?.(now) ?? Math.max(0, now - REFUSED_DAYS * DAY_MS)
    const { key, code, limit: given = REFUSED_ROWS } = options
    const limit = given === 'none' ? Number.MAX_SAFE_INTEGER : given
    const rows = await reports.refusals({ key, code, since, limit })
    if (options.json) printJson({ refusals: rows })
    else printText(rows.length === 0 ? 'Nothing was refused.' : refusalTable(rows))
  })
}

function refusalTable(rows: readonly RefusalRow[]): string {
  const usd = (amount: string | null): string => (amount === null ? '-' : `${amount} USD`)
  return table<RefusalRow>(rows, [
    ['TIME', ({ created_at: at }) => exactTime(Date.parse(at))],
    ['KEY', keyWords],
    ['CODE', codeWords],
    ['ENDPOINT', ({ endpoint }) => endpoint ?? '-'],
    ['MODEL', ({ model }) => model ?? '-'],
    ['REQUIRED', ({ required }) => usd(required), 'right'],
    ['LEFT', ({ remaining }) => usd(remaining), 'right'],
    [
      'CLIENT',
      ({ address, user_agent: agent }) => [address, agent].filter(Boolean).join(' ') || '-',
    ],
  ])
}

function keyWords({ key, key_name: name, masked }: RefusalRow): string {
  return key === null ? `unknown: ${masked ?? 'not in our form'}` : (name ?? key)
}

function codeWords({ code, scope, further }: RefusalRow): string {
  const whose = scope === null ? '' : ` (${scope})`
  return further === 0
    ? `${code}${whose}`
    : `${code}${whose} and ${further.toLocaleString('en')} more`
}
