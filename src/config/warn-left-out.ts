// Logs what is configured but will not be served, when the configuration takes effect and not at the first call.
import type { Catalog } from '../catalog/models.ts'
import type { Log } from '../telemetry/log.ts'
import type { Config } from './load.ts'

export function warnLeftOut(log: Log, config: Pick<Config, 'leftOut'>, catalog: Catalog): void {
  for (const [provider, reason] of config.leftOut) {
    log.warn('provider_left_out', { provider, reason })
  }
  for (const { id, available, reason } of catalog.list()) {
    if (reason === null) continue
    log.warn(available ? 'target_left_out' : 'model_unavailable', { model: id, reason })
  }
}
