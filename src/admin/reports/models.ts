// The handler of /models: the catalogue, the standing of its targets, and how many keys may call each model.
import { modelJson } from '../../catalog/models.ts'
import type { Model } from '../../catalog/models.ts'
import { iso } from '../../core/units.ts'
import { keysPerModel } from '../../store/keys/keys.ts'
import type { ModelAnswer, modelRoutes } from '../contract/gateway.ts'
import { storeOf, type AdminParts, type HandlersOf } from '../http/request.ts'

export function modelHandlers(parts: AdminParts): HandlersOf<typeof modelRoutes> {
  return {
    listModels: async (request) => {
      const counts = await keysPerModel(storeOf(parts, request))
      const models = parts.catalog().list()
      return { models: models.map((model) => answerOf(parts, model, counts.get(model.id) ?? 0)) }
    },
  }
}

function answerOf(parts: AdminParts, model: Model, key_count: number): ModelAnswer {
  const shown = modelJson(model)
  const targets = shown.targets.map((target) => {
    const health = parts.healthOf(target)
    const until = health.name === 'resting' ? parts.clock.now() + health.forMs : null
    const why = 'why' in health ? health.why : undefined
    const failure = why === undefined ? null : { code: why.reason, refusal: why.refusal ?? null }
    return { ...target, standing: health.name, failure, rests_until: iso(until) }
  })
  const health = model.available ? healthOf(targets.map(({ standing }) => standing)) : 'unavailable'
  return { ...shown, abilities: { ...model.abilities }, targets, health, key_count }
}

type Named = ModelAnswer['targets'][number]['standing']

export function healthOf(standings: readonly Named[]): ModelAnswer['health'] {
  const bad = standings.filter((standing) => standing === 'failing' || standing === 'resting')
  if (bad.length === 0) return standings.includes('answering') ? 'answering' : 'uncalled'
  if (bad.length < standings.length) return 'degraded'
  return bad.includes('failing') ? 'failing' : 'resting'
}
