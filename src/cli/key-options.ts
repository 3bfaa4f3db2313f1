// The options of `keys create` and `keys update`, and the store's names for them.
import { Option, type Command } from 'commander'
import { ENDPOINTS, type Endpoint } from '../core/endpoints.ts'
import { WHEN_TIGHT } from '../core/limits.ts'
import { PERIODS, WEEK_STARTS } from '../core/periods.ts'
import type { KeySettings, Some } from '../store/accounts/settings.ts'
import { argument } from './failure.ts'
import { collect, fromNone, readCount, readList, readMoment, type OrNone } from './options.ts'

export type SettingsOptions = {
  readonly name?: string
  readonly models?: readonly string[]
  readonly budget?: OrNone<bigint>
  readonly period?: KeySettings['period']
  readonly timezone?: string
  readonly weekStart?: KeySettings['weekStart']
  readonly rpm?: OrNone<number>
  readonly tpm?: OrNone<number>
  readonly concurrency?: OrNone<number>
  readonly permissions?: readonly string[]
  readonly environment?: string
  readonly owner?: string
  readonly description?: string
  readonly tag?: readonly string[]
  readonly expires?: OrNone<number>
  readonly whenTight?: KeySettings['whenTight']
}

/** All but name, models and budget, which only `create` requires. A changed key has no defaults. */
export function settingsOptions(command: Command, key: 'new' | 'changed'): Command {
  const unless = (value: string): string => (key === 'new' ? ` (default: ${value})` : '')
  const permissions = `the endpoints it may call${unless('all')}: ${ENDPOINTS.join(', ')}`
  return command
    .addOption(periodOption(`when the budget resets${unless('month')}`))
    .option('--timezone <zone>', `the time zone in which periods begin${unless("the frame's")}`)
    .addOption(weekStartOption())
    .option('--rpm <n>', 'requests per minute, or none', argument(readCount))
    .option('--tpm <n>', 'tokens per minute, or none', argument(readCount))
    .option('--concurrency <n>', 'concurrent requests, or none', argument(readCount))
    .option('--permissions <a,b>', permissions, readList)
    .option('--environment <label>', 'such as production or test')
    .option('--owner <text>', 'who is responsible for it')
    .option('--description <text>', 'what it is for')
    .option('--tag <tag>', 'a label; may be repeated', collect)
    .option(
      '--expires <date>',
      'when it stops working, such as 2027-01-31, or none',
      argument(readMoment),
    )
    .addOption(
      new Option(
        '--when-tight <policy>',
        `near the end of the budget, cap the output or refuse the call${unless('cap')}`,
      ).choices(WHEN_TIGHT),
    )
}

export function periodOption(description: string): Option {
  return new Option('--period <period>', description).choices(PERIODS)
}

export function weekStartOption(): Option {
  return new Option('--week-start <day>', 'the first day of a week').choices(WEEK_STARTS)
}

/** Only renames; the store checks the values. */
export function settingsOf(options: SettingsOptions): Some<KeySettings> {
  return {
    name: options.name,
    models: options.models,
    limitNanodollars: fromNone(options.budget),
    period: options.period,
    timezone: options.timezone,
    weekStart: options.weekStart,
    rpm: fromNone(options.rpm),
    tpm: fromNone(options.tpm),
    concurrency: fromNone(options.concurrency),
    permissions: options.permissions as readonly Endpoint[] | undefined,
    environment: options.environment,
    owner: options.owner,
    description: options.description,
    tags: options.tag,
    expiresAt: fromNone(options.expires),
    whenTight: options.whenTight,
  }
}
