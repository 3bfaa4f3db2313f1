// What a command works with: the configuration and the database behind it.
import { existsSync } from 'node:fs'

import type { Command } from 'commander'

import { loadConfig } from '../config/load.ts'
import type { Config, ConfigSource } from '../config/load.ts'
import { systemClock } from '../core/clock.ts'
import { periodAt } from '../ledger/periods.ts'
import { seedFrame } from '../store/frame.ts'
import { openStore } from '../store/open.ts'
import type { Store } from '../store/open.ts'
import { printNote } from './output.ts'

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

/** Opens the database of the configuration, beside a running server or not, and closes it whatever happens. */
export async function withStore<Result>(
  config: Config,
  work: (store: Store) => Promise<Result>,
  workerModules: readonly URL[] = [],
): Promise<Result> {
  const file = sqliteFile(config)
  const isNew = file !== undefined && !existsSync(file)
  const store = await openStore(config.database, { clock: systemClock, periodAt, workerModules })
  try {
    if (isNew) printNote(`made a new database, ${file}`)
    const { budgetNanodollars, ...rule } = config.frame
    await seedFrame(store, { limitNanodollars: budgetNanodollars, ...rule })
    return await work(store)
  } finally {
    await store.close()
  }
}

export function sqliteFile({ database }: Config): string | undefined {
  return database.startsWith('sqlite:') ? database.slice('sqlite:'.length) : undefined
}
