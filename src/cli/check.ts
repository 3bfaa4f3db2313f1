// `tollgate check`: reports everything wrong or noteworthy about the configuration, without starting anything.
import type { Command } from 'commander'
import { modelJson } from '../catalog/models.ts'
import type { Model } from '../catalog/models.ts'
import { catalogOf } from '../config/catalog-of.ts'
import type { Config } from '../config/load.ts'
import { ConfigError, pathOf, type Problem } from '../config/problems.ts'
import { secretProblems } from '../config/secret.ts'
import { withOrigins } from '../config/source.ts'
import { systemClock } from '../core/clock.ts'
import { SANDBOX } from '../core/limits.ts'
import { formatUsd } from '../core/money.ts'
import { urlOf } from '../core/text.ts'
import { StoreError, type StoreErrorCode } from '../store/database/errors.ts'
import { describeDatabaseUrl } from '../store/database/url.ts'
import { readFrame, type Frame } from '../store/frame.ts'
import { common, lookAtStore, readConfig, type CommonOptions } from './command/context.ts'
import { modelsText } from './models.ts'
import { report as complain } from './terminal/failure.ts'
import { block, bold, printJson, printText } from './terminal/output.ts'

export function addCheck(program: Command): void {
  common(program.command('check'))
    .description(
      'Check the configuration: what is wrong, which providers and models are available, why others are not, and whether the stored budget frame differs from the configured one. Exit code 1 when something is wrong, or configured and not served; a provider that is left out because its key is empty is a note.',
    )
    .action(async (options: CommonOptions) => {
      const report = await check(options)
      if (options.json) printJson(reportJson(report))
      else printReport(report)
      if (report.problems.length > 0) process.exitCode = 1
    })
}

type Report = {
  /** Null: no configuration file. */
  readonly file: string | null
  readonly problems: readonly Problem[]
  readonly config: Config | null
  readonly models: readonly Model[]
  /** Differences from the configuration that are not errors. */
  readonly notes: readonly string[]
}

async function check(options: CommonOptions): Promise<Report> {
  let config
  try {
    config = readConfig(options)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return { file: error.file, problems: error.problems, config: null, models: [], notes: [] }
  }
  const leftOut = [...config.leftOut].map(
    ([name, reason]) => `the provider ${name} is left out: ${reason}`,
  )
  const database = await checkDatabase(config)
  const models = catalogOf(config, { now: systemClock.now() }).list()
  return {
    file: config.path,
    problems: [
      ...config.unreadable.map(({ path, message }) => ({ path, message })),
      ...(config.models === null ? [] : models.flatMap(unserved)),
      ...secretProblems(config),
      ...withOrigins(config, database.problems),
    ],
    config,
    models,
    notes: [...leftOut, ...config.telemetry.ignored, ...database.notes],
  }
}

/** What is configured and will not be served, unless its whole provider is left out: that may be intended. */
function unserved({ id, leftOut }: Model): readonly Problem[] {
  return leftOut
    .filter(({ because }) => because === 'target')
    .map(({ role, index, reason }) => {
      return { path: pathOf(['models', id, role, index]), message: `is not served: ${reason}` }
    })
}

/** Reads the stored frame, but creates no database if there is none. */
async function checkDatabase(config: Config): Promise<Pick<Report, 'problems' | 'notes'>> {
  try {
    const stored = await lookAtStore(config, readFrame)
    return { problems: [], notes: frameNotes(config, stored) }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    const { code, message } = error
    const address = describeDatabaseUrl(config.database)
    // What the first start takes care of is no problem.
    const notes: Partial<Record<StoreErrorCode, string>> = {
      no_database: `there is no database at ${address} yet: the first start creates it`,
      no_tables: `the database at ${address} has no tables of Tollgate yet: the first start creates them`,
      older_schema: message,
    }
    const note = notes[code]
    if (note !== undefined) return { problems: [], notes: [note] }
    return { problems: [{ path: 'database', message: `cannot be used: ${message}` }], notes: [] }
  }
}

/** The file only seeds the frame, so a difference is no error; but someone who edited the file may expect an effect. */
function frameNotes({ frame, frameWritten }: Config, stored: Frame): readonly string[] {
  const pairs = [
    ['budget', formatUsd(frame.limitNanodollars), formatUsd(stored.limitNanodollars)],
    ['period', frame.period, stored.period],
    ['timezone', frame.timezone, stored.timezone],
    ['week_start', frame.weekStart, stored.weekStart],
  ] as const
  return pairs
    .filter(([name, written, kept]) => frameWritten.includes(name) && written !== kept)
    .map(
      ([name, written, kept]) =>
        `frame.${name} is ${written} in the file and ${kept} in the database, which applies: \`tollgate frame set\` changes it`,
    )
}

function reportJson({ file, problems, config, models, notes }: Report) {
  return {
    ok: problems.length === 0,
    file,
    problems,
    notes,
    providers: providersOf(config),
    models: models.map(modelJson),
  }
}

function printReport(report: Report): void {
  const { file, problems, config, models, notes } = report
  if (problems.length > 0) complain(new ConfigError(file, problems))
  if (config === null) return
  const providers = providersOf(config).map(
    ({ name, kind, reason }) => [name, reason === null ? kind : `left out: ${reason}`] as const,
  )
  printText(
    [
      bold('Configuration'),
      block([
        ['file', config.path ?? 'none: defaults and the environment apply'],
        ['address', urlOf(config.server)],
        ['database', describeDatabaseUrl(config.database)],
      ]),
      '',
      bold('Providers'),
      block(providers),
      '',
      modelsText(models.map(modelJson)),
      ...(notes.length === 0 ? [] : ['', bold('Notes'), ...notes.map((note) => `  ${note}`)]),
      ...(problems.length === 0 ? ['', conclusion(models)] : []),
    ].join('\n'),
  )
}

function conclusion(models: readonly Model[]): string {
  const affected = models.filter(({ reason }) => reason !== null).length
  if (affected === 0) return 'Nothing is wrong with the configuration.'
  return `The configuration can be used, but ${affected} of its models ${affected === 1 ? 'is' : 'are'} not as configured: see above.`
}

function providersOf(config: Config | null) {
  if (config === null) return []
  const served = config.providers.map(({ name, kind }) => ({ name, kind }))
  const sandbox = config.sandbox ? [{ name: SANDBOX, kind: SANDBOX }] : []
  const leftOut = [...config.leftOut]
  return [
    ...[...sandbox, ...served].map((each) => ({ ...each, available: true, reason: null })),
    ...leftOut.map(([name, reason]) => ({ name, kind: null, available: false, reason })),
  ]
}
