// All handlers except those of people.
import { alertHandlers } from './alerts/handlers.ts'
import type { AlertParts } from './alerts/handlers.ts'
import { aboutHandlers } from './about.ts'
import { auditHandlers } from './audit.ts'
import { frameHandlers } from './frame.ts'
import { keyHandlers } from './keys.ts'
import { modelHandlers } from './models.ts'
import { playgroundHandlers } from './playground.ts'
import { requestHandlers } from './requests.ts'
import { usageHandlers } from './usage.ts'

export function adminHandlers(parts: AlertParts) {
  return {
    ...aboutHandlers(parts),
    ...keyHandlers(parts),
    ...frameHandlers(parts),
    ...modelHandlers(parts),
    ...usageHandlers(parts),
    ...requestHandlers(parts),
    ...auditHandlers(parts),
    ...alertHandlers(parts),
    ...playgroundHandlers(parts),
  }
}
