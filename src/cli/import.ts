// `tollgate import litellm`: takes over what another gateway has, or says what it would take over and what differs.
import { basename } from 'node:path'
import type { Command } from 'commander'
import { type Model, perMillion as rateText, type Target, targetName } from '../catalog/models.ts'
import { costOf } from '../catalog/prices.ts'
import { file } from '../config/schema.ts'
import { systemClock } from '../core/clock.ts'
import { formatUsd, type Nanodollars } from '../core/money.ts'
import { iso } from '../core/units.ts'
import { type Conversion, convert } from '../litellm/convert.ts'
import type { Listed, PlannedGroup, PlannedKey, PlannedLimits } from '../litellm/database/plan.ts'
import { readPlan } from '../litellm/database/read-plan.ts'
import type { ImportPlan } from '../litellm/database/read-plan.ts'
import { type KnownModels, type ModelUsage, UNDECIDED } from '../litellm/database/rows.ts'
import { SourceDatabase } from '../litellm/database/source-database.ts'
import { type ImportReport, writePlan } from '../litellm/database/write-plan.ts'
import type { Finding } from '../litellm/findings.ts'
import { perMillion, readPriceData, type TokenPrices } from '../litellm/units.ts'
import { fileText, isForeign, shownText, writeImported } from '../litellm/write.ts'
import type { Store } from '../store/database/store.ts'
import { sqlitePath } from '../store/database/url.ts'
import { readDatabaseConfig, withStoreOrNew } from './command/context.ts'
import { examples, group, readList } from './command/options.ts'
import { argument, UsageError } from './terminal/failure.ts'
import { bold, printHint, printJson, printText, section, table } from './terminal/output.ts'

type ImportOptions = {
  readonly json?: true
  readonly config?: string
  readonly prices?: string
  readonly database?: string
  readonly allModelsAs?: readonly string[]
  readonly out: string
  readonly dryRun?: true
}

export function addImport(program: Command): void {
  group(program, 'import', 'Take over what another gateway has.')
    .command('litellm')
    .description(
      'Take over a LiteLLM configuration, and with --database its keys, teams, people and what keys have spent. What has no counterpart is listed. May be repeated until the day of the switch.',
    )
    .option('--config <file>', "LiteLLM's configuration, such as config.yaml", argument(readName))
    .option('--prices <file>', "LiteLLM's price data, from its Python package", argument(readName))
    .option('--database <url>', "LiteLLM's database, for its keys, teams and people; only read")
    .option(
      '--all-models-as <list>',
      'what a key gets that may call every model: every, or a list',
      readList,
    )
    .option('--out <file>', 'the file to write', 'tollgate.yaml')
    .option('--dry-run', 'only show what would be written, and how prices differ')
    .option('--json', 'print only JSON on standard output')
    .addHelpText(
      ...examples(
        'tollgate import litellm --config config.yaml --dry-run',
        'tollgate import litellm --config config.yaml --dry-run --database postgresql://litellm@db/litellm',
        'tollgate import litellm --config config.yaml --database postgresql://litellm@db/litellm --all-models-as every',
      ),
    )
    .action((options: ImportOptions) => importLiteLlm(options))
}

function readName(text: string): string {
  if (text === '') throw new RangeError('Name a file.')
  return text
}

async function importLiteLlm(options: ImportOptions): Promise<void> {
  const { config, database, dryRun } = options
  if (config === undefined) throw new UsageError('missing: --config <file>')
  const prices = options.prices === undefined ? null : readPriceData(options.prices)
  const conversion = convert(config, { prices, now: systemClock.now() })
  if (database !== undefined) return importAll(conversion, { ...options, database })
  if (!dryRun) writeImported(options.out, fileText(conversion))
  if (options.json) printJson(conversionJson(conversion, options))
  else printConversion(conversion, options)
  if (!options.json && !dryRun) printHint(`\nNext: ${checkOf(options)}`)
}

type WithDatabase = ImportOptions & { readonly database: string }

/** The configuration, and what LiteLLM's database has. */
async function importAll(conversion: Conversion, options: WithDatabase): Promise<void> {
  const { out, dryRun, json } = options
  await using source = await SourceDatabase.open(options.database)
  const known = knownModels(conversion, options.allModelsAs ?? null)
  const now = systemClock.now()
  const plan = await readPlan(source, { known, now })
  const undecided = plan.notes.find(({ note }) => note === UNDECIDED)
  if (!dryRun && undecided !== undefined) {
    throw new UsageError(`${undecided.count} × ${UNDECIDED}`)
  }
  const isKept = !dryRun && isForeign(out)
  const undo = dryRun || isKept ? () => {} : writeImported(out, fileText(conversion))
  const report = dryRun
    ? null
    : await written({ ...options, conversion }, (store) => writePlan(store, plan, now), undo)
  const told = conversionJson(conversion, isKept ? { ...options, dryRun: true } : options)
  if (json) {
    const made = report && { imported: reportJson(report) }
    printJson({ ...told, database: { ...(await planJson({ plan, conversion })), ...made } })
    return
  }
  printConversion(conversion, { ...options, isKept })
  printText(`\n${await planText({ plan, conversion })}`)
  if (report === null) return
  printText(`\n${reportText(report)}`)
  printHint(`\nNext: ${checkOf(options)}, then tollgate ledger verify --config ${basename(out)}`)
}

/** Nothing half done: if the keys cannot be written, the file is as it was. */
async function written(
  { out, database, conversion }: WithDatabase & { readonly conversion: Conversion },
  work: (store: Store) => Promise<ImportReport>,
  undo: () => void,
): Promise<ImportReport> {
  try {
    const target = readDatabaseConfig({ config: out })
    // Keys of providers are often not on the machine of whoever imports: a new database does not need them.
    const frame = target.frame ?? file.shape.frame.parse(conversion.draft.sections['frame'])
    if (isSame(target.database, database)) {
      throw new UsageError(`--database is also Tollgate’s own: name another one in ${out}`)
    }
    return await withStoreOrNew({ ...target, frame }, work)
  } catch (error) {
    undo()
    throw error
  }
}

function isSame(one: string, other: string): boolean {
  const placeOf = (url: string): string | undefined => {
    const address = URL.parse(url)
    return address === null ? undefined : `${address.host}${address.pathname}`
  }
  return sqlitePath(one) === undefined && placeOf(one) === placeOf(other)
}

function checkOf({ out }: ImportOptions): string {
  return `tollgate check --config ${basename(out)}`
}

function knownModels(
  { catalog, accessGroups }: Conversion,
  every: readonly string[] | null,
): KnownModels {
  const names = new Set(catalog.list().map(({ id }) => id))
  const isEvery = every?.length === 1 && every[0] === 'every'
  const unknown = isEvery ? [] : (every ?? []).filter((name) => !names.has(name))
  if (unknown.length > 0) {
    throw new UsageError(`--all-models-as names ${unknown.join(', ')}, which does not come over`)
  }
  return { names, accessGroups, every: isEvery ? [...names] : every }
}

function conversionJson(conversion: Conversion, { dryRun, out }: ImportOptions) {
  const { summary, catalog } = conversion
  return {
    written: dryRun ? null : out,
    models: catalog.list().map(({ id }) => id),
    taken: summary.taken.length,
    needless: summary.needless.map(findingJson),
    not_taken: summary.left.map(findingJson),
    prices: priceRows(conversion).map(({ target, theirs, ours }) => ({
      ...{ target, models: modelsOf(conversion, target) },
      theirs: theirs && {
        input: perMillion(theirs.input ?? 0),
        output: perMillion(theirs.output ?? 0),
      },
      ours: { input: Number(rateText(ours.input)), output: Number(rateText(ours.output)) },
    })),
  }
}

function findingJson({ file, line, path, why }: Finding) {
  return { file, line, setting: path, why }
}

type Shown = ImportOptions & { readonly isKept?: boolean }

function printConversion(conversion: Conversion, options: Shown): void {
  const { summary, catalog } = conversion
  const models = catalog.list().length
  if (options.dryRun) printText(`${bold(`${options.out} would be:`)}\n${shownText(conversion)}`)
  const counts = `models: ${models}; settings taken over: ${summary.taken.length}, not needed here: ${summary.needless.length}, not taken over: ${summary.left.length}`
  printText(
    [
      bold(titleOf(options)),
      `  ${counts}.`,
      ...section('Not needed here:', summary.needless.map(findingLine)),
      ...section('Not taken over:', summary.left.map(findingLine)),
      ...section('Prices in USD per million tokens:', [pricesText(conversion)]),
    ].join('\n'),
  )
}

function titleOf({ out, dryRun, isKept }: Shown): string {
  if (dryRun) return 'What would come over'
  return isKept ? `${out} was changed here, or is not of an import: it stays` : `Wrote ${out}`
}

function findingLine({ file, line, path, why }: Finding): string {
  return `  ${file}:${line} ${path}: ${why}`
}

type PriceRow = {
  readonly target: string
  /** Undefined: LiteLLM's configuration does not say, and its data was not given. */
  readonly theirs: TokenPrices | undefined
  readonly ours: Target['price']['rates']
}

function priceRows({ catalog, theirPrices }: Conversion): readonly PriceRow[] {
  const targets = catalog.list().flatMap((model) => [...model.targets, ...model.fallbacks])
  const byName = new Map(targets.map((each) => [targetName(each.provider, each.model), each]))
  return [...byName].map(([target, { price }]) => ({
    target,
    theirs: theirPrices.get(target),
    ours: price.rates,
  }))
}

function modelsOf({ catalog }: Conversion, target: string): readonly string[] {
  const serves = ({ provider, model }: Target): boolean => targetName(provider, model) === target
  const isServed = ({ targets, fallbacks }: Model): boolean =>
    [...targets, ...fallbacks].some(serves)
  return catalog.list().flatMap((model) => (isServed(model) ? model.id : []))
}

function pricesText(conversion: Conversion): string {
  const their = (each: number | null | undefined): string =>
    each === null || each === undefined ? '-' : String(perMillion(each))
  return table<PriceRow>(priceRows(conversion), [
    ['MODEL', ({ target }) => modelsOf(conversion, target).join(', ')],
    ['TARGET', ({ target }) => target],
    ['INPUT THERE', ({ theirs }) => their(theirs?.input), 'right'],
    ['HERE', ({ ours }) => rateText(ours.input), 'right'],
    ['OUTPUT THERE', ({ theirs }) => their(theirs?.output), 'right'],
    ['HERE', ({ ours }) => rateText(ours.output), 'right'],
    ['', differenceOf],
  ])
}

function differenceOf({ theirs, ours }: PriceRow): string {
  if (theirs === undefined) return 'not known there: --prices'
  const isSame = (each: number | null, our: bigint): boolean =>
    each === null || BigInt(Math.round(perMillion(each) * 1e6)) === our
  return isSame(theirs.input, ours.input) && isSame(theirs.output, ours.output) ? '' : 'differs'
}

// The plan of an import from a database, for people and as JSON: what would be made, what differs, and what the
// last 30 days would have cost here; and what came of it.

/** How many keys are shown: a person wants to see whether they look right. */
const KEYS_SHOWN = 20

type ShownPlan = {
  readonly plan: ImportPlan
  readonly conversion: Conversion
}

async function planText(shown: ShownPlan): Promise<string> {
  const { groups, counts, notes } = shown.plan
  const { first, spent } = await look(shown.plan)
  const more = counts.keys - first.length
  const total = `keys: ${counts.keys}, which have spent ${formatUsd(spent)} USD in their periods; groups: ${counts.groups}; people: ${counts.people}.`
  return [
    bold('From the database'),
    `  ${total}`,
    ...(groups.length === 0 ? [] : ['', groupsTable(groups)]),
    ...(first.length === 0 ? [] : ['', keysTable(first)]),
    ...(more > 0 ? [`and ${more} more keys.`] : []),
    ...section(
      'What differs, and how often:',
      [...LASTING, ...notes.map(({ note, count }) => `${count} × ${note}`)].map(
        (line) => `  ${line}`,
      ),
    ),
    ...section('The last 30 days, in USD:', costRows(shown).length === 0 ? [] : [costTable(shown)]),
  ].join('\n')
}

async function planJson(shown: ShownPlan) {
  const { first, spent } = await look(shown.plan)
  return {
    ...shown.plan.counts,
    spent: formatUsd(spent),
    groups_made: shown.plan.groups.map((group) => ({ name: group.name, ...limitsJson(group) })),
    first_keys: first.map((key) => ({ name: key.name, models: key.models, ...limitsJson(key) })),
    differences: [...LASTING.map((note) => ({ note, count: null })), ...shown.plan.notes],
    last_30_days: costRows(shown).map(({ model, there, here }) => ({
      ...{ model, there: theirUsd(there) },
      here: here === null ? null : formatUsd(here),
    })),
  }
}

/** What is different whatever is in the database. */
const LASTING = [
  'a budget that is spent is refused with 402 here, with 429 there',
  'budgets hold: a request whose worst case does not fit is refused before it is sent',
]

async function look({ keys }: ImportPlan) {
  const first: PlannedKey[] = []
  let spent: Nanodollars = 0n
  for await (const key of keys()) {
    if (first.length < KEYS_SHOWN) first.push(key)
    spent += key.spentNanodollars
  }
  return { first, spent }
}

function limitsJson(limits: PlannedLimits) {
  const { limitNanodollars, period, spentNanodollars, rpm, tpm, concurrency } = limits
  const budget = limitNanodollars === null ? null : formatUsd(limitNanodollars)
  return { budget, period, spent: formatUsd(spentNanodollars), rpm, tpm, concurrency }
}

function budgetText({ limitNanodollars, period }: PlannedLimits): string {
  return limitNanodollars === null ? 'none' : `${formatUsd(limitNanodollars)} / ${period}`
}

function modelsText(models: readonly string[] | null): string {
  if (models === null) return 'every model'
  const [first = 'none', second, ...others] = models
  const named = second === undefined ? first : `${first}, ${second}`
  return others.length === 0 ? named : `${named} and ${others.length} more`
}

function groupsTable(groups: readonly PlannedGroup[]): string {
  return table<PlannedGroup>(groups, [
    ['GROUP', ({ name }) => name],
    ['MODELS', ({ models }) => modelsText(models)],
    ['BUDGET', budgetText, 'right'],
    ['SPENT', ({ spentNanodollars }) => formatUsd(spentNanodollars), 'right'],
    ['MEMBERS', ({ members }) => String(members.length), 'right'],
    ['', ({ isArchived }) => (isArchived ? 'archived' : '')],
  ])
}

function keysTable(keys: readonly PlannedKey[]): string {
  return table<PlannedKey>(keys, [
    ['KEY', ({ name }) => name],
    ['SECRET', ({ end }) => `…${end}`],
    ['MODELS', ({ models }) => modelsText(models)],
    ['BUDGET', budgetText, 'right'],
    ['SPENT', ({ spentNanodollars }) => formatUsd(spentNanodollars), 'right'],
    ['EXPIRES', ({ expiresAt }) => (expiresAt === null ? '-' : iso(expiresAt).slice(0, 10))],
    ['', ({ isPaused }) => (isPaused ? 'paused' : '')],
  ])
}

type CostRow = {
  readonly model: string
  readonly there: number
  /** Null: the model does not come over. */
  readonly here: Nanodollars | null
}

function costRows({ plan, conversion }: ShownPlan): readonly CostRow[] {
  return plan.usage.map(({ model, spend, ...tokens }) => ({
    model: model === '' ? '-' : model,
    there: spend,
    here: costHere(conversion.catalog.get(model), tokens),
  }))
}

function costHere(model: Model | undefined, tokens: Omit<ModelUsage, 'model' | 'spend'>) {
  if (model === undefined || model.price === null) return null
  const { rates, fees } = model.price
  // Sums of many requests: steps of a price and fees are those of single ones.
  const price = { ...model.price, rates, tiers: [], fees: { ...fees, request: 0n } }
  const usage = { ...tokens, cacheWriteLongTokens: 0, reasoningTokens: 0 }
  return costOf(usage, price).nanodollars
}

/** A sum of floating-point numbers, as far as it means anything, written as our own amounts are. */
function theirUsd(amount: number): string {
  return String(Number(amount.toFixed(6)))
}

function costTable(shown: ShownPlan): string {
  return table<CostRow>(costRows(shown), [
    ['MODEL', ({ model }) => model],
    ['THERE', ({ there }) => theirUsd(there), 'right'],
    ['HERE', ({ here }) => (here === null ? '-' : formatUsd(here)), 'right'],
    ['', ({ here }) => (here === null ? 'does not come over' : '')],
  ])
}

function reportText({ keys, groups, people, ...rest }: ImportReport): string {
  const spent = `${formatUsd(rest.spentNanodollars)} USD`
  return [
    bold('Written'),
    `  keys: ${keys.made} new, ${keys.changed} changed; groups: ${groups.made} new, ${groups.changed} changed; people: ${people} new; spent so far: ${spent}.`,
    ...listed('Changed here since the last import, so they stay as they are:', rest.kept),
    ...listed('No longer in LiteLLM’s database; revoke what was deleted there:', rest.gone),
    ...listed(
      'Groups count what their keys have spent, which is not what their teams had:',
      rest.apart,
    ),
  ].join('\n')
}

function listed(title: string, { first, count }: Listed): readonly string[] {
  const more = count - first.length
  const lines = more === 0 ? first : [...first, `and ${more} more`]
  return section(
    title,
    lines.map((line) => `  ${line}`),
  )
}

function reportJson({ keys, groups, people, ...rest }: ImportReport) {
  const { spentNanodollars, kept, gone, apart } = rest
  const names = ({ first, count }: Listed) => ({ count, first })
  return {
    ...{ keys, groups, people, spent: formatUsd(spentNanodollars) },
    ...{ kept: names(kept), gone: names(gone), apart: names(apart) },
  }
}
