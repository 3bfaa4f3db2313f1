// Opens the gateway that a command is to work on, as its options and the environment name it.
import { modelJson } from '../../catalog/models.ts'
import type { DatabaseConfig } from '../../config/load.ts'
import { systemClock } from '../../core/clock.ts'
import type { Store } from '../../store/database/store.ts'
import { readConfig, readDatabaseConfig, type CommonOptions } from '../command/context.ts'
import { connectionOf, type RemoteOptions } from './connection.ts'
import type { Gateway, ShownModel } from './gateway.ts'
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
        models: () => modelsHere(options),
      }),
    ),
  )
}

/** The models of this machine, as its configuration has them. What knows prices is loaded only where they are named. */
export async function modelsHere(options: CommonOptions): Promise<readonly ShownModel[]> {
  const { catalogOf } = await import('../../config/catalog-of.ts')
  const catalog = catalogOf(readConfig(options), { now: systemClock.now() })
  return catalog.list().map(modelJson)
}
