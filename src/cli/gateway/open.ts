// Opens the gateway that a command is to work on, as its options and the environment name it.
import type { DatabaseConfig } from '../../config/load.ts'
import type { Store } from '../../store/database/store.ts'
import { readConfig, readDatabaseConfig, type CommonOptions } from '../command/context.ts'
import { connectionOf, type RemoteOptions } from './connection.ts'
import type { Gateway } from './gateway.ts'
import { localGateway } from './local.ts'
import { remoteGateway } from './remote.ts'

/** How it is opened on this machine. */
type Opening = {
  readonly opened: (config: DatabaseConfig, work: (store: Store) => Promise<void>) => Promise<void>
  /** Where more than the database is needed. */
  readonly read?: (options: CommonOptions) => DatabaseConfig
}

export async function onGateway(
  options: RemoteOptions,
  { opened, read = readDatabaseConfig }: Opening,
  work: (gateway: Gateway) => Promise<void>,
): Promise<void> {
  const call = connectionOf(options)
  if (call !== undefined) return work(remoteGateway(call))
  const config = read(options)
  return opened(config, (store) =>
    work(
      localGateway(store, {
        secretPrefix: config.keys.prefix,
        // Loaded only by commands that name models.
        models: async () => (await import('./catalog.ts')).modelsOf(readConfig(options)),
      }),
    ),
  )
}
