// The handler of /models: the catalogue, how its targets fare, and how many keys may call each model.
import { modelJson } from '../catalog/model-json.ts'
import type { Model, Target } from '../catalog/models.ts'
import { iso } from '../core/value-json.ts'
import { keysPerModel } from '../store/keys.ts'
import type { HandlersOf } from './call.ts'
import type { ModelAnswer, modelRoutes } from './contract/models.ts'
import type { AdminParts } from './parts.ts'

export function modelHandlers(parts: AdminParts): HandlersOf<typeof modelRoutes> {
  return {
    listModels: async () => {
      const counts = await keysPerModel(parts.store)
      const models = parts.catalog().list()
      return { models: models.map((model) => answerOf(parts, model, counts.get(model.id) ?? 0)) }
    },
  }
}

function answerOf(parts: AdminParts, model: Model, key_count: number): ModelAnswer {
  const targetOf =
    (role: 'target' | 'fallback') =>
    ({ provider, model: name, weight }: Target) => {
      const rests_until = iso(parts.restsUntil({ provider, model: name }) ?? null)
      return { provider, model: name, weight, role, rests_until }
    }
  const targets = [
    ...model.targets.map(targetOf('target')),
    ...model.fallbacks.map(targetOf('fallback')),
  ]
  const health = model.available ? healthOf(targets) : 'unavailable'
  return { ...modelJson(model), abilities: { ...model.abilities }, targets, health, key_count }
}

function healthOf(targets: ModelAnswer['targets']): ModelAnswer['health'] {
  const resting = targets.filter(({ rests_until }) => rests_until !== null).length
  if (resting === 0) return 'up'
  return resting === targets.length ? 'down' : 'degraded'
}
