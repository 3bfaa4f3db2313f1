// What a command works with: the configuration and its database.
import { userInfo } from 'node:os'
import type { Command } from 'commander'
import {
  loadConfig,
  loadDatabaseConfig,
  type Config,
  type DatabaseConfig,
} from '../../config/load.ts'
import type { ConfigSource } from '../../config/source.ts'
import { systemClock } from '../../core/clock.ts'
import { LEDGER_THREAD_MODULE } from '../../ledger/sqlite/runner.ts'
import { StoreError, type StoreErrorCode } from '../../store/database/errors.ts'
import type { Author, Store } from '../../store/database/store.ts'
import { describeDatabaseUrl } from '../../store/database/url.ts'
import { seedFrame } from '../../store/frame.ts'
import { openStore, type Purpose } from '../../store/open.ts'
import { argument } from '../terminal/failure.ts'
import { printNote, printWarning } from '../terminal/output.ts'

export type CommonOptions = { readonly json?: true; readonly config?: string }

/** Adds the options of every command. */
export function common(command: Command): Command {
  const file = 'the configuration file (default: tollgate.yaml, if there is one)'
  return command
    .option('--json', 'print only JSON on standard output')
    .option('--config <file>', file, argument(readFileName))
}

/** A variable that is not set would otherwise choose another file, and so another database. */
function readFileName(text: string): string {
  if (text === '') throw new RangeError('Name a file, or leave it out.')
  return text
}

export function sourceOf(options: NonNullable<ConfigSource['options']>): ConfigSource {
  return { env: process.env, folder: process.cwd(), options }
}

export function readConfig(options: CommonOptions): Config {
  return loadConfig(sourceOf({ config: options.config }))
}

/** For commands that need only the database: other problems in the file are warnings. */
export function readDatabaseConfig(options: CommonOptions): DatabaseConfig {
  const { config, ignored } = loadDatabaseConfig(sourceOf({ config: options.config }))
  for (const line of ignored?.message.split('\n') ?? []) printWarning(line)
  if (ignored !== null) printWarning('this command needs only the database, so it continues')
  return config
}

/** For commands that only read: a wrong address must not create a database, and the schema is left alone. */
export function lookAtStore<Result>(
  config: DatabaseConfig,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  return closing(openedFor('look', config), work)
}

/** For commands that put something in the place of what is at an address, if anything is. */
export function replaceStore<Result>(
  database: string,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  return closing(openedFor('replace', { database }), work)
}

/** For commands that ask what a database is, whatever it is. */
export function inspectStore<Result>(
  config: DatabaseConfig,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  return closing(openedFor('inspect', config), work)
}

/** Opens the configured database, whether a server is running or not, and closes it whatever happens. */
export function withStore<Result>(
  config: DatabaseConfig,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  return closing(openedFor('change', config), work)
}

/** The same for commands that people begin with: a database or its tables, if missing, are created. */
export function withStoreOrNew<Result>(
  config: DatabaseConfig,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const { frame } = config
  if (frame === null) return withStore(config, work)
  return closing(openOrMake(config), async (store) => {
    await seedFrame(store, frame)
    return work(store)
  })
}

/** Reports what it creates, because the address may be a mistake. */
async function openOrMake(config: DatabaseConfig): Promise<Store> {
  try {
    return await openedFor('change', config)
  } catch (error) {
    const created = error instanceof StoreError ? CREATED[error.code] : undefined
    if (created === undefined) throw error
    const store = await openedFor('create', config)
    printNote(`created ${created} ${describeDatabaseUrl(config.database)}`)
    return store
  }
}

const CREATED: Partial<Record<StoreErrorCode, string>> = {
  no_database: 'a new database,',
  no_tables: "Tollgate's tables in",
}

function openedFor(
  purpose: Purpose,
  { database }: Pick<DatabaseConfig, 'database'>,
): Promise<Store> {
  // What a server has decided, or had when it died, is brought in before anything is read.
  const threadModules = [LEDGER_THREAD_MODULE]
  return openStore(database, { clock: systemClock, threadModules, author: author(), purpose })
}

async function closing<Result>(
  opened: Promise<Store>,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const store = await opened
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

function author(): Author {
  return { actor: `command line, ${account()}`, source: 'cli', address: null, requestId: null }
}

/** A container may run under a user id without an account. */
function account(): string {
  try {
    return userInfo().username
  } catch {
    return `user ${process.getuid?.() ?? 'unknown'}`
  }
}
