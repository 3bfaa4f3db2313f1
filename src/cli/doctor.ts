// `tollgate doctor`: looks at everything a gateway needs, beside it or in its place, and prints a line each: fine, or
// what to do. What it finds out is in doctor/; it changes nothing, and costs nothing at the providers.
import { join } from 'node:path'
import type { Command } from 'commander'
import type { Model } from '../catalog/models.ts'
import { loadDatabaseConfig, type Config, type DatabaseConfig } from '../config/load.ts'
import { ConfigError } from '../config/problems.ts'
import { version } from '../config/version.ts'
import { systemClock } from '../core/clock.ts'
import { messageOf } from '../core/errors.ts'
import { StoreError } from '../store/database/errors.ts'
import { isOutage } from '../store/database/outage.ts'
import { serverVersion, type Store } from '../store/database/store.ts'
import { describeDatabaseUrl } from '../store/database/url.ts'
import { common, lookAtStore, readConfig, sourceOf, type CommonOptions } from './command/context.ts'
import { alarms, clock, database, nodes, secretHere } from './doctor/database.ts'
import {
  connections,
  disk,
  fine,
  secret,
  type Finding,
  unknown,
  versions,
  wrong,
} from './doctor/machine.ts'
import { catalogFor } from './gateway/catalog.ts'
import { askForModels } from './models.ts'
import { block, printJson, printText } from './terminal/output.ts'

export function addDoctor(program: Command): void {
  common(program.command('doctor'))
    .description(
      'Look at everything a gateway needs: configuration, versions, database, schema, clock, connections, disk, secret, prices, providers, nodes, alarms. One line each: fine, or what to do. Asks providers only for their list of models, and changes nothing. Run it as the user of the gateway, with its environment. Exit code 1 when something is wrong.',
    )
    .action(async (options: CommonOptions) => {
      const findings = await examine(options)
      const isFine = findings.every(({ outcome }) => outcome !== 'wrong')
      if (options.json) printJson({ ok: isFine, checks: findings })
      else printText(textOf(findings))
      if (!isFine) process.exitCode = 1
    })
}

async function examine(options: CommonOptions): Promise<readonly Finding[]> {
  let config
  try {
    config = readConfig(options)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return [misconfigured(error), ...(await withoutConfig(options))]
  }
  const [fromDatabase, providers] = await Promise.all([
    examineDatabase(config, config),
    Promise.all(config.providers.map(reach)),
  ])
  return [
    fine('configuration', config.path ?? 'no file: defaults and the environment apply'),
    ...fromDatabase.filter(({ check }) => check !== 'nodes' && check !== 'alarms'),
    connections(config),
    disk(config),
    ...(fromDatabase.some(({ check }) => check === 'secret') ? [] : [secret(config)]),
    prices(catalogFor(config).list()),
    ...providers,
    ...[...config.leftOut].map(([name, reason]) =>
      unknown(`provider ${name}`, `left out: ${reason}`),
    ),
    ...fromDatabase.filter(({ check }) => check === 'nodes' || check === 'alarms'),
  ]
}

function misconfigured({ message, problems }: ConfigError): Finding {
  const count = problems.length === 1 ? '1 mistake' : `${problems.length} mistakes`
  const [first = ''] = message.split('\n')
  return wrong('configuration', `${count}: ${first}`, '`tollgate check` lists them all')
}

/** The database can be looked at if the file says at least where it is. */
async function withoutConfig({ config: file }: CommonOptions): Promise<readonly Finding[]> {
  const rest = ['connections', 'disk', 'secret', 'prices', 'providers', 'nodes']
  const skipped = rest.map((check) => unknown(check, 'not looked at: the configuration is wrong'))
  try {
    const { config } = loadDatabaseConfig(sourceOf({ config: file }))
    return [...(await examineDatabase(config)), ...skipped]
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return [unknown('database', 'not looked at: the configuration is wrong'), ...skipped]
  }
}

async function examineDatabase(
  databaseConfig: DatabaseConfig,
  config?: Config,
): Promise<readonly Finding[]> {
  const name = describeDatabaseUrl(databaseConfig.database)
  try {
    return await lookAtStore(databaseConfig, async (store) => [
      versions(version, await databaseProgram(store)),
      ...(await database(store, name)),
      await clock(store),
      ...(config === undefined ? [] : await ofGateway(store, config)),
      await alarms(store, config && join(config.dataFolder, 'spool')),
    ])
  } catch (error) {
    return refused(error, name)
  }
}

async function databaseProgram(store: Store): Promise<string> {
  const server = await serverVersion(store)
  return server === undefined ? `SQLite ${process.versions['sqlite']}` : `PostgreSQL ${server}`
}

async function ofGateway(store: Store, config: Config): Promise<readonly Finding[]> {
  const another = secret(config).outcome === 'ok' ? await secretHere(store, config) : undefined
  return [...(another === undefined ? [] : [another]), await nodes(store, config.ledger)]
}

/** A database that cannot be opened: the message of the store says why, and what to do. */
function refused(error: unknown, name: string): readonly Finding[] {
  const isForPeople = error instanceof StoreError
  if (!isForPeople && !isOutage(error)) throw error
  const isOfSchema = isForPeople && /_schema$/.test(error.code)
  const [found, todo] = splitAdvice(messageOf(error))
  const [opened, rest] = isOfSchema
    ? [[fine('database', `${name} answers`), wrong('schema', found, todo)], ['clock']]
    : [[wrong('database', found, todo)], ['schema', 'clock']]
  const skipped = [...rest, 'nodes', 'alarms'].map((check) =>
    unknown(check, 'not looked at: the database cannot be used'),
  )
  return [versions(version, undefined), ...opened, ...skipped]
}

/** Messages for people say what is wrong, a colon, and what to do. */
function splitAdvice(message: string): readonly [found: string, todo: string] {
  const at = message.lastIndexOf(': ')
  if (at === -1) return [message, 'see what it says, and try again']
  return [message.slice(0, at), message.slice(at + 2)]
}

/** What is configured and has no price is not served. */
function prices(models: readonly Model[]): Finding {
  const lost = models.flatMap(({ id, leftOut }) =>
    leftOut.filter(({ because }) => because === 'target').map(({ reason }) => `${id}: ${reason}`),
  )
  const served = models.filter(({ available }) => available).length
  if (lost.length > 0) {
    const found = `${served} models can be priced, but not ${lost[0]}`
    return wrong('prices', found, '`tollgate check` lists what is missing, with the line to write')
  }
  if (served === 0) {
    return wrong('prices', 'there is no model to serve', '`tollgate models` says why')
  }
  return fine('prices', `${served} models, every target with a price`)
}

/** Longer than a sound provider takes for a list. */
const ANSWER_MS_MAX = 15_000

async function reach(settings: Config['providers'][number]): Promise<Finding> {
  const check = `provider ${settings.name}`
  const startedMs = systemClock.monotonicMs()
  const signal = AbortSignal.timeout(ANSWER_MS_MAX)
  try {
    const { length } = await askForModels(settings, signal)
    const tookMs = Math.ceil(systemClock.monotonicMs() - startedMs)
    return fine(check, `lists ${length} models within ${tookMs} ms`)
  } catch (error) {
    if (signal.aborted) {
      const found = `no answer within ${ANSWER_MS_MAX / 1000} s`
      return wrong(check, found, 'check its base_url, and what stands between (proxy, firewall)')
    }
    const message = messageOf(error).replace(/; (check its .*)$/, ': $1')
    const [found, todo] = splitAdvice(message)
    return wrong(check, found, todo)
  }
}

const MARKS: Record<Finding['outcome'], string> = { ok: '✓', wrong: '✗', unknown: '–' }

function textOf(findings: readonly Finding[]): string {
  const lines = findings.flatMap(({ check, outcome, found, todo }): [string, string][] => [
    [`${MARKS[outcome]} ${check}`, found],
    ...(todo === null ? [] : ([['', `→ ${todo}`]] as [string, string][])),
  ])
  const wrongs = findings.filter(({ outcome }) => outcome === 'wrong').length
  const verdict = wrongs === 0 ? 'Nothing is wrong.' : `Wrong: ${wrongs}.`
  return `${block(lines)}\n\n${verdict}`
}
