// Options: the settings of a key, readers of values, which throw a sentence on what to write instead, and everything that
// is wrong with the options of a call at once. `none` stays a word here, because the option parser treats null as an
// option without a value.
import { InvalidArgumentError, Option, type Command } from 'commander'
import type { AmountForPeriod } from '../../admin/contract/values.ts'
import { ENDPOINTS } from '../../core/endpoints.ts'
import { WHEN_TIGHT } from '../../core/limits.ts'
import { BUDGET_MAX, formatUsd, parseBudget, type Nanodollars } from '../../core/money.ts'
import { PERIODS, type Period, WEEK_STARTS } from '../../core/periods.ts'
import { iso, momentOf, parseDuration } from '../../core/units.ts'
import type { BudgetAmount, Cap } from '../../store/accounts/budget-changes.ts'
import type { AccountSettings, KeySettings } from '../../store/accounts/settings.ts'
import { argument, UsageError } from '../terminal/failure.ts'

/** A command that has commands. */
export function group(program: Command, name: string, description: string): Command {
  return program.command(name).description(description).usage('COMMAND [options]')
}

/** For `addHelpText`. */
export function examples(...commands: readonly string[]): ['after', string] {
  const title = commands.length === 1 ? 'Example' : 'Examples'
  return ['after', `\n${title}:\n${commands.map((each) => `  $ ${each}`).join('\n')}`]
}

export function reasonOption(): Option {
  return new Option('--reason <text>', 'why, for the record')
}

export type LeavingOptions = { readonly keys?: KeysChoice; readonly to?: string }
type KeysChoice = 'give' | 'pause' | 'revoke' | 'take'

/** What becomes of the keys of somebody who leaves; needed where they have some. */
export function leavingOptions(command: Command, further: readonly KeysChoice[] = []): Command {
  const keys = new Option('--keys <what>', 'what becomes of the keys that they own')
  return command
    .addOption(keys.choices(['give', 'pause', 'revoke', ...further]))
    .option('--to <PERSON>', 'who is given them, with --keys give: e-mail address or id')
}

export function secretOnly(): Option {
  return new Option('--secret-only', 'print only the secret, for NAME=$(…)').conflicts('json')
}

/** `a,b,c`, with or without spaces; a repeated option adds to the list. */
export function readList(text: string, before: readonly string[] = []): readonly string[] {
  const names = text.split(',').map((each) => each.trim())
  return [...before, ...names.filter((each) => each !== '')]
}

export type OrNone<Value> = Value | 'none'

export function fromNone<Value>(value: OrNone<Value> | undefined): Value | null | undefined {
  return value === 'none' ? null : value
}

/** The range of a budget, for the help texts of options. */
export const BUDGET_RANGE = `from 0 to ${formatUsd(BUDGET_MAX)}`

/** An amount of USD, or none. */
export function readBudget(text: string): OrNone<Nanodollars> {
  return text === 'none' ? text : parseBudget(text)
}

/** An amount and the period it is for, such as 5/day, or none. */
export function readAmount(text: string): OrNone<BudgetAmount> {
  if (text === 'none') return text
  const [amount = '', period = '', ...more] = text.split('/')
  if (more.length > 0 || !isPeriod(period)) {
    throw new RangeError(`Use an amount and a period, such as 5/${PERIODS[0]}, or none.`)
  }
  return { limitNanodollars: parseBudget(amount), period }
}

function isPeriod(text: string): text is Period {
  return PERIODS.some((period) => period === text)
}

/** `gpt-5=20/month`, or `gpt-5=none`; a repeated option adds to the list. */
function readModelBudget(text: string, before: readonly Cap[] = []): readonly Cap[] {
  const at = text.lastIndexOf('=')
  if (at < 1) throw new RangeError('Use a model, an amount and a period, such as gpt-5=20/month.')
  const amount = fromNone(readAmount(text.slice(at + 1))) ?? null
  return [...before, [text.slice(0, at).trim(), amount]]
}

/** A whole number from 1 up, or none. */
export function readCount(text: string): OrNone<number> {
  if (text === 'none') return text
  const count = Number(text)
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(count) || count < 1) {
    throw new RangeError('Use a whole number of at least 1, or none.')
  }
  return count
}

/** A date, a date and time with an offset, or none. */
export function readMoment(text: string): OrNone<number> {
  if (text === 'none') return text
  const shape = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/
  const moment = shape.test(text) && isDay(text.slice(0, 10)) ? momentOf(text) : undefined
  if (moment === undefined) {
    throw new RangeError(
      'Use a date such as 2027-01-31 (midnight UTC) or 2027-01-31T09:00:00+01:00, from 1970 to 9999.',
    )
  }
  return moment
}

export function readDuration(text: string): number {
  const ms = parseDuration(text)
  if (ms === undefined) throw new RangeError('Use a duration such as 30m, 24h or 7d.')
  return ms
}

/** A date, or a duration before now. */
export function readPast(text: string): (now: number) => number {
  const ago = parseDuration(text)
  // Not before 1970: there was no usage then, and such dates could not be written.
  if (ago !== undefined) return (now) => Math.max(0, now - ago)
  try {
    const moment = readMoment(text)
    if (moment !== 'none') return () => moment
  } catch {
    // The error below names both forms.
  }
  throw new RangeError(
    'Use a date such as 2027-01-31, from 1970 on, or how long ago, such as 24h or 7d.',
  )
}

/** For options that may be repeated. */
function collect(text: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), text]
}

/** The 30th of February would otherwise count as a day in March. */
function isDay(day: string): boolean {
  const moment = Date.parse(day)
  return !Number.isNaN(moment) && new Date(moment).toISOString().startsWith(day)
}

/** The options of everything that has a budget: of keys, of groups, and some of the frame. */
export type AccountOptions = Partial<Pick<AccountSettings, 'period' | 'timezone' | 'weekStart'>> & {
  readonly budget?: OrNone<bigint>
  readonly window?: OrNone<BudgetAmount>
  readonly requestCostMax?: OrNone<bigint>
  readonly rpm?: OrNone<number>
  readonly tpm?: OrNone<number>
  readonly concurrency?: OrNone<number>
}

/** The options of `keys create` and `keys update`. */
export type SettingsOptions = AccountOptions &
  Partial<
    Pick<KeySettings, 'name' | 'models' | 'permissions'> &
      Pick<KeySettings, 'environment' | 'owner' | 'description' | 'whenTight'>
  > & {
    readonly group?: string
    readonly ownerPerson?: string
    readonly modelBudget?: readonly Cap[]
    readonly tag?: readonly string[]
    readonly expires?: OrNone<number>
  }

/** All but name, models and budget, which only `create` requires. A changed key has no defaults. */
export function settingsOptions(command: Command, key: 'new' | 'changed'): Command {
  const unless = (value: string): string => (key === 'new' ? ` (default: ${value})` : '')
  const permissions = `the endpoints it may call${unless('all')}: ${ENDPOINTS.join(', ')}`
  const expires = 'when it stops working, such as 2027-01-31, or none'
  const tight = `near the end of the budget, cap the output or refuse the call${unless('cap')}`
  const cap =
    'what it may spend on one model, such as gpt-5=20/month, or gpt-5=none; may be repeated'
  return accountOptions(command, key)
    .option('--group <group>', 'the group it is in, by id or name, or none')
    .option('--model-budget <model=usd/period>', cap, argument(readModelBudget))
    .option('--permissions <a,b>', permissions, readList)
    .option('--environment <label>', 'such as production or test')
    .option('--owner <text>', 'who is responsible for it')
    .option('--owner-person <person>', 'the same, as one of `tollgate users list`, or none')
    .option('--description <text>', 'what it is for')
    .option('--tag <tag>', 'a label; may be repeated', collect)
    .option('--expires <date>', expires, argument(readMoment))
    .addOption(new Option('--when-tight <policy>', tight).choices(WHEN_TIGHT))
}

/** The budgets and limits of keys and groups, but for the main budget itself. */
export function accountOptions(command: Command, account: 'new' | 'changed'): Command {
  const unless = (value: string): string => (account === 'new' ? ` (default: ${value})` : '')
  const window = 'a second budget for another period, such as 5/day, or none'
  return command
    .addOption(periodOption(`when the budget resets${unless('month')}`))
    .option('--timezone <zone>', `the time zone in which periods begin${unless("the frame's")}`)
    .addOption(weekStartOption())
    .option('--window <usd/period>', window, argument(readAmount))
    .option(
      '--request-cost-max <usd>',
      'the most one request may cost, or none',
      argument(readBudget),
    )
    .option('--rpm <n>', 'requests per minute, or none', argument(readCount))
    .option('--tpm <n>', 'tokens per minute, or none', argument(readCount))
    .option('--concurrency <n>', 'concurrent requests, or none', argument(readCount))
}

export function periodOption(description: string): Option {
  return new Option('--period <period>', description).choices(PERIODS)
}

export function weekStartOption(): Option {
  return new Option('--week-start <day>', 'the first day of a week').choices(WEEK_STARTS)
}

/** In the words of the admin API. The caps of a new key are all it has, those of a changed one are added and removed. */
export function settingsOf(options: SettingsOptions) {
  const { name, models, permissions, environment, owner, description } = options
  return {
    ...accountSettingsOf(options),
    ...{ name, environment, owner, description },
    models: models && [...models],
    permissions: permissions && [...permissions],
    tags: options.tag && [...options.tag],
    when_tight: options.whenTight,
    owner_person: fromNone(options.ownerPerson),
    expires_at: momentText(fromNone(options.expires)),
  }
}

export function accountSettingsOf(options: AccountOptions) {
  const { period, timezone } = options
  return {
    ...{ period, timezone },
    week_start: options.weekStart,
    budget: amountText(fromNone(options.budget)),
    window: amountForPeriod(fromNone(options.window)),
    request_cost_max: amountText(fromNone(options.requestCostMax)),
    rpm: fromNone(options.rpm),
    tpm: fromNone(options.tpm),
    concurrency: fromNone(options.concurrency),
  }
}

/** Those that are given, and the models whose caps are to go. */
export function capsOf({ modelBudget = [] }: SettingsOptions) {
  return {
    given: modelBudget.flatMap(([model, amount]) =>
      amount === null ? [] : [{ model, ...amountForPeriod<never>(amount) }],
    ),
    removed: modelBudget.flatMap(([model, amount]) => (amount === null ? [model] : [])),
  }
}

type None = null | undefined

export function amountForPeriod<Nothing extends None>(
  amount: BudgetAmount | Nothing,
): AmountForPeriod | Nothing {
  if (amount === null || amount === undefined) return amount
  return { budget: formatUsd(amount.limitNanodollars), period: amount.period }
}

function amountText<Nothing extends None>(amount: Nanodollars | Nothing): string | Nothing {
  return typeof amount === 'bigint' ? formatUsd(amount) : amount
}

function momentText<Nothing extends None>(moment: number | Nothing): string | Nothing {
  return typeof moment === 'number' ? iso(moment) : moment
}

// What is wrong with the options of a call: values that cannot be read, and options that are missing.

const demanded = new WeakMap<Command, readonly Option[]>()

/** Options without which the command cannot be called. */
export function demand(command: Command, options: readonly Option[]): Command {
  for (const option of options) {
    option.description += ' (required)'
    command.addOption(option)
  }
  demanded.set(command, options)
  return command
}

/**
 * Commander would stop at the first value that cannot be read, and would name only the first missing option, before a
 * mistyped one that may be it. Call this when the program has all of its commands.
 */
export function refuseTogether(program: Command): void {
  const unreadable: string[] = []
  for (const option of optionsOf(program)) noteUnreadable(option, unreadable)
  program.hook('preAction', (_, called) => {
    const missing = missingOf(called).map(({ flags }) => flags)
    const mistakes = [
      ...unreadable,
      ...(missing.length > 0 ? [`missing: ${missing.join(', ')}`] : []),
    ]
    if (mistakes.length > 0) throw new UsageError(mistakes.join('\n'))
  })
}

function optionsOf(command: Command): readonly Option[] {
  return [...command.options, ...command.commands.flatMap(optionsOf)]
}

/** The text of a mistake is Commander's own. */
function noteUnreadable(option: Option, unreadable: string[]): void {
  const { parseArg: read } = option
  if (read === undefined) return
  option.parseArg = (text, before) => {
    try {
      return read(text, before)
    } catch (error) {
      if (!(error instanceof InvalidArgumentError)) throw error
      const what = `option '${option.flags}' argument '${text}' is invalid. ${error.message}`
      unreadable.push(what.replaceAll('\n', ' '))
      return before
    }
  }
}

/** One whose value cannot be read is not missing. */
function missingOf(command: Command): readonly Option[] {
  const options = demanded.get(command) ?? []
  return options.filter((option) => command.getOptionValue(option.attributeName()) === undefined)
}
