// The handlers of manifests: what one would change, doing that, and writing one.
import { sentence } from '../../core/sentences.ts'
import { AdminError } from '../contract/errors.ts'
import type { manifestRoutes } from '../contract/manifest.ts'
import { storeOf, type AdminParts, type HandlersOf } from '../http/request.ts'
import { exportManifest } from './form.ts'
import { carryOut, planAnswer, planManifest } from './plan.ts'

export function manifestHandlers(parts: AdminParts): HandlersOf<typeof manifestRoutes> {
  return {
    applyManifest: async (request) => {
      const { manifest, prune, dry_run: isDry, digest, secrets } = request.body
      const store = storeOf(parts, request)
      const plan = await planManifest(store, { manifest, prune })
      if (digest !== undefined && digest !== plan.digest) {
        throw new AdminError('wrong_state', sentence('plan_changed'))
      }
      if (!isDry) await carryOut(store, plan, secrets)
      return { ...planAnswer(plan), secret_prefix: parts.secretPrefix(), applied: !isDry }
    },
    exportManifest: () => exportManifest(parts.store),
  }
}
