// The models of this machine, as its configuration has them.
import { modelJson } from '../../catalog/models.ts'
import type { Catalog } from '../../catalog/models.ts'
import { catalogOf } from '../../config/catalog-of.ts'
import type { Config } from '../../config/load.ts'
import { systemClock } from '../../core/clock.ts'
import { SANDBOX_MODELS } from '../../providers/sandbox/models.ts'
import type { ShownModel } from './gateway.ts'

export function catalogFor(config: Config): Catalog {
  return catalogOf(config, { sandbox: SANDBOX_MODELS, now: systemClock.now() })
}

export function modelsOf(config: Config): readonly ShownModel[] {
  return catalogFor(config).list().map(modelJson)
}
