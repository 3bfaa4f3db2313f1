// `tollgate doctor`: looks at everything a gateway needs, beside it or in its place, and prints a line each: fine, or
// what to do. It changes nothing, and costs nothing at the providers.
import {
  accessSync,
  constants,
  existsSync,
  readdirSync,
  readFileSync,
  statfsSync,
  statSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Command } from 'commander'
import type { Model } from '../catalog/models.ts'
import { catalogOf } from '../config/catalog-of.ts'
import { type Config, type DatabaseConfig, loadDatabaseConfig } from '../config/load.ts'
import { ConfigError } from '../config/problems.ts'
import { secretFile, secretOf, secretProblems } from '../config/secret.ts'
import { version } from '../config/version.ts'
import { systemClock } from '../core/clock.ts'
import { messageOf } from '../core/errors.ts'
import { DAY_MS } from '../core/units.ts'
import { listOrphans } from '../ledger/nodes/adjustments.ts'
import { readBeats } from '../ledger/nodes/membership.ts'
import { periodsAhead, verifyOpenAccounts } from '../ledger/reports/verify.ts'
import { countFailedDeliveries } from '../store/alerts/alerts.ts'
import { StoreError } from '../store/database/errors.ts'
import { servedSchema } from '../store/database/migrate.ts'
import { isOutage } from '../store/database/outage.ts'
import { databaseNow, serverVersion, type Store } from '../store/database/store.ts'
import { describeDatabaseUrl } from '../store/database/url.ts'
import { isSecretOf } from '../store/open.ts'
import { common, lookAtStore, readConfig, sourceOf, type CommonOptions } from './command/context.ts'
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

/** One line of the report. */
type Finding = {
  readonly check: string
  /** Unknown: it could not be looked at, because of something else that is wrong, or that is not there. */
  readonly outcome: 'ok' | 'wrong' | 'unknown'
  readonly found: string
  /** What to do; null if there is nothing to do. */
  readonly todo: string | null
}

function fine(check: string, found: string): Finding {
  return { check, outcome: 'ok', found, todo: null }
}

function wrong(check: string, found: string, todo: string): Finding {
  return { check, outcome: 'wrong', found, todo }
}

function unknown(check: string, found: string): Finding {
  return { check, outcome: 'unknown', found, todo: null }
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
    prices(catalogOf(config, { now: systemClock.now() }).list()),
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

// What the database tells: whether it answers, its schema, its clock, the nodes that serve from it, and what the ledger
// has raised an alarm about. Reads only.

/** An older or newer schema was refused when the database was opened. */
async function database(store: Store, name: string): Promise<readonly Finding[]> {
  const startedMs = store.clock.monotonicMs()
  const served = await servedSchema(store.db, store.kind)
  const tookMs = Math.ceil(store.clock.monotonicMs() - startedMs)
  return [
    fine('database', `${name} can be written, and answers within ${tookMs} ms`),
    fine('schema', `${served}, which this version serves`),
  ]
}

/** More than a network and a busy machine explain. */
const CLOCKS_APART_MS_MAX = 2_000

/** Periods follow the clock of the database, and everything else that of the machine. */
export async function clock(store: Store): Promise<Finding> {
  const before = store.clock.now()
  const there = await databaseNow(store)
  const after = store.clock.now()
  const apartMs = there < before ? there - before : Math.max(0, there - after)
  const todo = 'set both with a time service (NTP)'
  if (Math.abs(apartMs) > CLOCKS_APART_MS_MAX) {
    const found = `the database is ${seconds(Math.abs(apartMs))} ${apartMs > 0 ? 'ahead' : 'behind'}`
    return wrong('clock', found, todo)
  }
  const [ahead] = await periodsAhead(store)
  if (ahead !== undefined) {
    const found = `it ran ahead, and opened a period of ${ahead.account} that has not begun`
    return wrong('clock', found, `${todo}, then run \`tollgate ledger verify\``)
  }
  return fine(
    'clock',
    store.kind === 'sqlite' ? 'no period begins in the future' : 'as the database',
  )
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}

/** Whether the secret is the one that this database is served with. */
async function secretHere(
  store: Store,
  config: Pick<Config, 'secret' | 'database' | 'dataFolder'>,
): Promise<Finding | undefined> {
  // To read it would make it.
  if (config.secret === null && !existsSync(secretFile(config))) return undefined
  if ((await isSecretOf(store, secretOf(config))) !== false) return undefined
  const todo = 'set the one that the nodes have: stored responses and sign-ins need it'
  return wrong('secret', 'not the one that this database was served with', todo)
}

const LOOK_EVERY_MS = 200

/** Waits for a beat of every node: as soon as all are heard, or, if one is silent, until others take it for dead. */
export async function nodes(store: Store, { deadAfterMs }: Config['ledger']): Promise<Finding> {
  const first = await readBeats(store)
  if (first.length === 0) {
    return wrong('nodes', 'none serves from this database', 'start one: `tollgate serve`')
  }
  const count = first.length === 1 ? '1 node serves' : `${first.length} nodes serve`
  const startedMs = store.clock.monotonicMs()
  for (;;) {
    const now = new Map((await readBeats(store)).map(({ nodeId, beats }) => [nodeId, beats]))
    // One that has left or was fenced in the meantime is not there any more.
    const silent = first.filter(({ nodeId, beats }) => now.get(nodeId) === beats)
    if (silent.length === 0) return fine('nodes', count)
    if (store.clock.monotonicMs() - startedMs > deadAfterMs) {
      const ids = silent.map(({ nodeId }) => nodeId).join(', ')
      const found = `of ${first.length}, silent: ${ids}`
      const todo = 'start a node: it charges what a dead one held, and takes it off the list'
      return wrong('nodes', found, todo)
    }
    await pause(LOOK_EVERY_MS)
  }
}

/** What the log calls `ledger_alarm`, as far as it can still be seen. */
export async function alarms(store: Store, spool: string | undefined): Promise<Finding> {
  const since = store.clock.now() - DAY_MS
  const violations = await verifyOpenAccounts(store)
  if (violations.length > 0) {
    const found = `the books do not balance: ${violations[0]?.check} on ${violations[0]?.account}`
    return wrong('alarms', found, '`tollgate ledger verify` shows all of it: please report it')
  }
  const aside = spool === undefined ? [] : setAside(spool)
  if (aside.length > 0) {
    const todo = 'compare them with the bills, use `tollgate ledger adjust`, and remove them'
    return wrong('alarms', `costs that fit no books: ${aside.join(', ')}`, todo)
  }
  const orphans = (await listOrphans(store)).filter(({ reservedAt }) => reservedAt > since)
  if (orphans.length > 0) {
    const found = `calls charged in full today, because their node stopped: ${orphans.length}`
    const todo = '`tollgate ledger orphans` lists them, `tollgate ledger adjust` corrects them'
    return wrong('alarms', found, todo)
  }
  const undelivered = await countFailedDeliveries(store, since)
  if (undelivered > 0) {
    const found = `alerts that could not be delivered today: ${undelivered}`
    return wrong('alarms', found, 'the page of alerts shows why')
  }
  return fine('alarms', 'the open books balance')
}

/** Beside the database or in `data`: files that a restored database did not know what to do with. */
function setAside(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.set-aside'))
      .map((name) => join(folder, name))
  } catch {
    // Nothing was ever spooled here.
    return []
  }
}

// What this machine alone tells: the versions, the disk and the secret.

/** `database`: its name and version, as far as it is known. */
function versions(tollgate: string, database: string | undefined): Finding {
  const all = [`Tollgate ${tollgate}`, `Node ${process.versions.node}`, database]
  return fine('versions', all.filter((each) => each !== undefined).join(', '))
}

/** Its own, and the one to a provider. */
const FILES_PER_CONNECTION = 2
const OPEN_FILES = /^Max open files +\d+ +(\d+|unlimited)/m

/** `limits`: what the system lets a process of this user have, as Linux writes it. Node takes as many as it can get. */
export function connections(
  { server: { connectionsMax } }: { readonly server: Pick<Config['server'], 'connectionsMax'> },
  limits = readLimits(),
): Finding {
  const [, most = 'unlimited'] = OPEN_FILES.exec(limits) ?? []
  if (most === 'unlimited' || Number(most) >= FILES_PER_CONNECTION * connectionsMax) {
    return fine('connections', `${connectionsMax} at most, and as many files may be open`)
  }
  const found = `${connectionsMax} at most, but no more than ${most} files may be open`
  const todo =
    'raise the limit of open files (LimitNOFILE=, ulimit -n), or lower server.connections_max'
  return wrong('connections', found, todo)
}

function readLimits(): string {
  const file = '/proc/self/limits'
  return existsSync(file) ? readFileSync(file, 'utf8') : ''
}

/** Days of books and logs on a busy machine: time enough to act. */
const FREE_BYTES_MIN = 1e9

type Room = { readonly freeBytes: number; readonly totalBytes: number }

/** Where the database is, or, with PostgreSQL, where costs are kept while it is away. */
export function disk({ dataFolder }: Pick<Config, 'dataFolder'>, room?: Room): Finding {
  const folder = existingPart(dataFolder)
  try {
    accessSync(folder, constants.W_OK)
    const { freeBytes, totalBytes } = room ?? roomIn(folder)
    const found = `${gigabytes(freeBytes)} of ${gigabytes(totalBytes)} are free in ${folder}`
    if (freeBytes >= FREE_BYTES_MIN) return fine('disk', found)
    return wrong('disk', found, 'make room: calls are refused when the disk is full')
  } catch (error) {
    const todo = 'give it to the user who runs Tollgate, and run this as that user'
    return wrong('disk', `${folder} cannot be written (${messageOf(error)})`, todo)
  }
}

/** The first start makes what is missing. */
function existingPart(folder: string): string {
  return existsSync(folder) || folder === dirname(folder) ? folder : existingPart(dirname(folder))
}

function roomIn(folder: string): Room {
  const { bavail, blocks, bsize } = statfsSync(folder)
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize }
}

function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(1)} GB`
}

const FOR_OTHERS = 0o077

/** What can be said of it without the database: whether there is one, and whether only its user can read it. */
export function secret(config: Pick<Config, 'secret' | 'database' | 'dataFolder'>): Finding {
  const [problem] = secretProblems(config)
  if (problem !== undefined)
    return wrong('secret', 'cannot be used', `TOLLGATE_SECRET ${problem.message}`)
  if (config.secret !== null) return fine('secret', 'from TOLLGATE_SECRET')
  const file = secretFile(config)
  if (!existsSync(file)) return fine('secret', `none yet: the first start writes ${file}`)
  const isOpen = (statSync(file).mode & FOR_OTHERS) !== 0
  if (!isOpen) return fine('secret', `in ${file}`)
  return wrong('secret', `${file} can be read by others`, `chmod 600 ${file}`)
}
