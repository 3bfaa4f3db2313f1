// What a command works with: the configuration and the database behind it.
import { existsSync } from 'node:fs'
import { userInfo } from 'node:os'

import type { Command } from 'commander'

import { loadConfig, loadPlace } from '../config/load.ts'
import type { Config, Place } from '../config/load.ts'
import type { ConfigSource } from '../config/written.ts'
import { systemClock } from '../core/clock.ts'
import type { Author } from '../store/audit.ts'
import { seedFrame } from '../store/frame.ts'
import { openStore } from '../store/open.ts'
import type { Store } from '../store/open.ts'
import { FailureError } from './failure.ts'
import { printNote, printWarning } from './output.ts'

export type CommonOptions = {
  readonly json?: true
  readonly config?: string
}

/** Adds what every command takes. */
export function common(command: Command): Command {
  return command
    .option('--json', 'print JSON alone on standard output')
    .option('--config <file>', 'the configuration file (default: tollgate.yaml, if there is one)')
}

export function sourceOf(options: NonNullable<ConfigSource['options']>): ConfigSource {
  return { env: process.env, folder: process.cwd(), options }
}

export function readConfig(options: CommonOptions): Config {
  return loadConfig(sourceOf({ config: options.config }))
}

/** For commands on the database alone: whatever else is wrong in the file is said, and they go on. */
export function readPlace(options: CommonOptions): Place {
  const { place, ignored } = loadPlace(sourceOf({ config: options.config }))
  for (const line of ignored?.message.split('\n') ?? []) printWarning(line)
  if (ignored !== null) printWarning('this command needs the database alone, so it goes on')
  return place
}

export type StoreUse = {
  /** Whoever only looks wants the database that is there, and no new one because the address is wrong. */
  readonly mayCreate?: boolean
  readonly workerModules?: readonly URL[]
}

/** Opens the database of the configuration, beside a running server or not, and closes it whatever happens. */
export async function withStore<Result>(
  place: Place,
  work: (store: Store) => Promise<Result>,
  { mayCreate = false, workerModules = [] }: StoreUse = {},
): Promise<Result> {
  const file = sqliteFile(place)
  const isNew = file !== undefined && !existsSync(file)
  if (isNew && (!mayCreate || place.frame === null)) {
    throw new FailureError(
      `there is no database at ${file}: name another with --config, TOLLGATE_DATABASE or \`database\` in tollgate.yaml, or make this one with \`tollgate serve\` or \`tollgate keys create\``,
    )
  }
  const store = await openStore(place.database, {
    clock: systemClock,
    workerModules,
    author: author(),
  })
  try {
    if (isNew) printNote(`made a new database, ${file}`)
    if (place.frame !== null) await seedFrame(store, place.frame)
    return await work(store)
  } finally {
    await store.close()
  }
}

export function sqliteFile({ database }: Place): string | undefined {
  return database.startsWith('sqlite:') ? database.slice('sqlite:'.length) : undefined
}

function author(): Author {
  return { actor: `command line, ${account()}`, source: 'cli', address: null, requestId: null }
}

/** A container may run under a number that no account has. */
function account(): string {
  try {
    return userInfo().username
  } catch {
    return `user ${process.getuid?.() ?? 'unknown'}`
  }
}
