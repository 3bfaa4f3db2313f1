// Assembles the admin plane from the gateway's parts. Loaded on the first request to it, because a gateway without
// visitors should start fast and stay small.
import type { Handlers } from './call.ts'
import { adminHandlers } from './handlers.ts'
import { makeMetrics } from './metrics.ts'
import type { AlertParts } from './alerts/handlers.ts'
import { openPeople, type PeopleOptions } from './people/open.ts'
import { makeAdminServer, type AdminServer } from './server.ts'

export type AdminOptions = AlertParts & PeopleOptions

export function openAdmin(parts: AdminOptions): Promise<AdminServer> {
  const { identity, handlers } = openPeople(parts)
  const all = { ...adminHandlers(parts), ...handlers } satisfies Handlers
  return makeAdminServer({ ...parts, identity, handlers: all, metrics: makeMetrics(parts) })
}
