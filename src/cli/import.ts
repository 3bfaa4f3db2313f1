// `tollgate import litellm`: takes over what another gateway has, or says what it would take over and what differs.
import { basename } from 'node:path'
import type { Command } from 'commander'
import { perMillion as rateText, targetName, type Model, type Target } from '../catalog/models.ts'
import { file } from '../config/schema.ts'
import { systemClock } from '../core/clock.ts'
import { convert, type Conversion } from '../litellm/convert.ts'
import { readPlan } from '../litellm/database/read-plan.ts'
import { SourceDatabase } from '../litellm/database/source-database.ts'
import { type KnownModels, UNDECIDED } from '../litellm/database/rows.ts'
import { type ImportReport, writePlan } from '../litellm/database/write-plan.ts'
import type { Finding } from '../litellm/findings.ts'
import { perMillion, readPriceData, type TokenPrices } from '../litellm/units.ts'
import { fileText, isForeign, shownText, writeImported } from '../litellm/write.ts'
import type { Store } from '../store/database/store.ts'
import { sqlitePath } from '../store/database/url.ts'
import { readDatabaseConfig, withStoreOrNew } from './command/context.ts'
import { examples, group, readList } from './command/options.ts'
import { planJson, planText, reportJson, reportText } from './import/plan-text.ts'
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
