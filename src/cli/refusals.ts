// `tollgate refusals`: which calls were turned away, with which code, and what was lacking.
import { Option, type Command } from 'commander'
import { REFUSAL_CODES } from '../core/errors.ts'
import { DAY_MS } from '../core/units.ts'
import { findKey, keyNames } from '../store/keys/keys.ts'
import { listRefusals, NO_KEY, refusalJson, type Refusal } from '../store/refusals.ts'
import { common, lookAtStore, readDatabaseConfig, type CommonOptions } from './command/context.ts'
import { examples, readCount, readPast } from './command/options.ts'
import { argument } from './terminal/failure.ts'
import { exactTime, printJson, printText, table, type Column, usd } from './terminal/output.ts'

const DEFAULT_DAYS = 7
const DEFAULT_ROWS = 100

type RefusalOptions = CommonOptions & {
  readonly key?: string
  readonly code?: string
  readonly since?: (now: number) => number
  readonly limit?: number | 'none'
}

export function addRefusals(program: Command): void {
  common(program.command('refusals'))
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
      `at most so many, or none (default: ${DEFAULT_ROWS})`,
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
  await lookAtStore(readDatabaseConfig(options), async (store) => {
    const now = store.clock.now()
    const since = options.since?.(now) ?? Math.max(0, now - DEFAULT_DAYS * DAY_MS)
    const key = options.key === undefined ? undefined : await findKey(store, options.key)
    const { code, limit = DEFAULT_ROWS } = options
    const most = limit === 'none' ? Number.MAX_SAFE_INTEGER : limit
    const rows = await listRefusals(store, { keyId: key?.id, code, since, limit: most })
    const names = await keyNames(store, [...new Set(rows.map(({ keyId }) => keyId))])
    if (options.json) printJson({ refusals: rows.map((row) => refusalJson(row, names)) })
    else printText(rows.length === 0 ? 'Nothing was refused.' : refusalTable(rows, names))
  })
}

function refusalTable(rows: readonly Refusal[], names: ReadonlyMap<string, string>): string {
  const columns: readonly Column<Refusal>[] = [
    ['TIME', ({ createdAt }) => exactTime(createdAt)],
    ['KEY', (row) => keyWords(row, names)],
    ['CODE', codeWords],
    ['ENDPOINT', ({ endpoint }) => endpoint ?? '-'],
    ['MODEL', ({ modelAsked }) => modelAsked ?? '-'],
    [
      'REQUIRED',
      ({ requiredNanodollars: required }) => (required === null ? '-' : usd(required)),
      'right',
    ],
    ['LEFT', ({ remainingNanodollars: left }) => (left === null ? '-' : usd(left)), 'right'],
    ['CLIENT', ({ address, userAgent }) => [address, userAgent].filter(Boolean).join(' ') || '-'],
  ]
  return table(rows, columns)
}

function keyWords({ keyId, masked }: Refusal, names: ReadonlyMap<string, string>): string {
  if (keyId !== NO_KEY) return names.get(keyId) ?? keyId
  return `unknown: ${masked ?? 'not in our form'}`
}

function codeWords({ code, scope, further }: Refusal): string {
  const whose = scope === null ? '' : ` (${scope})`
  return further === 0
    ? `${code}${whose}`
    : `${code}${whose} and ${further.toLocaleString('en')} more`
}
