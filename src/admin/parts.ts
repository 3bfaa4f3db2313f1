// What the admin plane is made of: given by the gateway, once.
import type { Catalog } from '../catalog/models.ts'
import type { Clock } from '../core/clock.ts'
import type { Parts } from '../exchange/exchange.ts'
import type { Standing } from '../routing/breaker.ts'
import { inTheNameOf, type Author } from '../store/audit.ts'
import type { Store } from '../store/open.ts'
import type { Log } from '../telemetry/log.ts'
import type { Figure } from '../telemetry/metrics.ts'
import type { AlertSender } from './alerts/sender.ts'
import type { Person } from './identity.ts'
import type { Mailer } from './mail.ts'

export type AdminParts = {
  readonly clock: Clock
  readonly log: Log
  /** On SQLite a connection and a thread of its own: a long list must not keep a request of the data plane waiting. */
  readonly store: Store
  /** The gateway's own flow, for verdicts and for calls that people try. */
  readonly flow: Parts
  /** Where people reach the interface. */
  readonly publicUrl: string
  readonly version: string
  /** For a sample alert, and for what webhooks are signed with. */
  readonly alerts: AlertSender
  /** Undefined: no SMTP server is configured. */
  readonly mailer: Mailer | undefined
  /** Where programs reach the data plane. */
  baseUrl(): string
  catalog(): Catalog
  /** How a target fares, as far as this process knows. */
  standingOf(target: { readonly provider: string; readonly model: string }): Standing
  /** What each serving process has counted and how it fares. */
  figures(): Promise<readonly (readonly Figure[])[]>
  /** The first part of secrets. */
  secretPrefix(): string
  messagesBearer(): boolean
}

type Acting = {
  readonly person: Person
  readonly address: string
  readonly requestId: string
}

/** The database in the name of whoever sent this request. */
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
