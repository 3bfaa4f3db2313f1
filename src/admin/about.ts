// The handlers of /about and /openapi.json.
import { iso } from '../core/units.ts'
import type { HandlersOf } from './call.ts'
import type { aboutRoutes } from './contract/about.ts'
import { contract } from './contract/contract.ts'
import { openApi } from './openapi.ts'
import type { AlertParts } from './alerts/handlers.ts'

export function aboutHandlers(parts: AlertParts): HandlersOf<typeof aboutRoutes> {
  return {
    readOpenApi: async () => openApi(contract, { version: parts.version, url: parts.publicUrl }),
    about: async ({ address }) => ({
      version: parts.version,
      base_url: parts.baseUrl(),
      now: iso(parts.clock.now()),
      address,
      auth_headers: parts.authHeaders(),
      email_available: parts.mailer !== undefined,
    }),
  }
}
