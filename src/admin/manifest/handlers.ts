// The handlers of manifests: what one would change, doing that, and writing one.
import { sentence } from '../../core/sentences.ts'
import { AdminError } from '../contract/errors.ts'
import type { manifestRoutes } from '../contract/manifest.ts'
import type { AlertParts } from '../alerts/destinations.ts'
import { storeOf, type AdminParts, type HandlersOf } from '../http/request.ts'
import { exportManifest } from './form.ts'
import { carryOut, planAnswer, planManifest } from './plan.ts'

type ManifestParts = AdminParts & Pick<AlertParts, 'alerts'>

export function manifestHandlers(parts: ManifestParts): HandlersOf<typeof manifestRoutes> {
  return {
    applyManifest: async (request) => {
      const { manifest, prune, dry_run: isDry, digest, secrets } = request.body
      const store = storeOf(parts, request)
      const plan = await planManifest(store, { manifest, prune })
      if (digest !== undefined && digest !== plan.digest) {
        throw new AdminError('wrong_state', sentence('plan_changed'))
      }
      if (!isDry) await carryOut(store, plan, secrets)
      const signing = [...plan.webhooks].map(([name, id]) => ({
        name,
        secret: parts.alerts.secretOf(id),
      }))
      return {
        ...{ ...planAnswer(plan), secret_prefix: parts.secretPrefix() },
        ...{ applied: !isDry, signing_secrets: signing },
      }
    },
    exportManifest: () => exportManifest(parts.store),
  }
}
