// `tollgate refusals`: which calls were turned away, with which code, and what was lacking.
import { Option, type Command } from 'commander'
import type { RefusalRow } from '../admin/contract/usage.ts'
import { REFUSAL_CODES } from '../core/errors.ts'
import { DAY_MS } from '../core/units.ts'
import { examples, readCount, readPast } from './command/options.ts'
import { anywhere, type RemoteOptions } from './gateway/connection.ts'
import { onReports } from './gateway/reports.ts'
import { argument } from './terminal/failure.ts'
import { exactTime, printJson, printText, table } from './terminal/output.ts'

const DEFAULT_DAYS = 7
const DEFAULT_ROWS = 100

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
  await onReports(options, async (reports) => {
    const now = reports.now()
    const since = options.since?.(now) ?? Math.max(0, now - DEFAULT_DAYS * DAY_MS)
    const { key, code, limit: given = DEFAULT_ROWS } = options
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
