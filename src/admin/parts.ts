// What the admin plane needs from the gateway.
import type { Catalog } from '../catalog/models.ts'
import type { Clock } from '../core/clock.ts'
import type { AuthHeaders } from '../core/endpoints.ts'
import type { Parts } from '../exchange/exchange.ts'
import type { Standing } from '../routing/breaker.ts'
import { inTheNameOf, type Author, type Store } from '../store/database/store.ts'
import type { Log } from '../telemetry/log.ts'
import type { Figure } from '../telemetry/metrics.ts'
import type { Person } from './identity.ts'

export type AdminParts = {
  readonly clock: Clock
  readonly log: Log
  /** On SQLite a separate connection and thread: a long list must not hold up requests of the data plane. */
  readonly store: Store
  /** The gateway's own flow, for verdicts and for trial calls. */
  readonly flow: Parts
  /** Where people reach the interface. */
  readonly publicUrl: string
  readonly version: string
  /** Where programs reach the data plane. */
  baseUrl(): string
  catalog(): Catalog
  /** The standing of a target, as far as this process knows. */
  standingOf(target: { readonly provider: string; readonly model: string }): Standing
  /** The counts and the condition of each serving process. */
  figures(): Promise<readonly (readonly Figure[])[]>
  /** The first part of secrets. */
  secretPrefix(): string
  authHeaders(): AuthHeaders
}

type Acting = {
  readonly person: Person
  readonly address: string
  readonly requestId: string
}

/** The database, with changes recorded in the caller's name. */
export function storeOf({ store }: AdminParts, acting: Acting): Store {
  return inTheNameOf(store, authorOf(acting))
}

export function authorOf({ person, address, requestId }: Acting): Author {
  return {
    actor: person.email,
    source: person.via === 'token' ? 'api' : 'ui',
    address,
    requestId,
  }
}
