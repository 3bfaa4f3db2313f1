// Puts the admin plane together from what the gateway has. Loaded on the first request to it, because a gateway that
// nobody looks at should start fast and stay small.
import type { Clock } from '../core/clock.ts'
import type { Log } from '../telemetry/log.ts'
import type { Identity } from './identity.ts'
import { makeAdminServer, type AdminServer } from './server.ts'

export type AdminParts = {
  readonly clock: Clock
  readonly log: Log
  readonly publicUrl: string
}

export function openAdmin(parts: AdminParts): Promise<AdminServer> {
  return makeAdminServer({ ...parts, identity: nobody, handlers: {} })
}

/** Until people/ says who is who, nobody is anybody. */
const nobody: Identity = { find: async () => undefined }
