// Who is calling: an external key as far as a request needs to know it. A plain value, made once and passed forward.
import type { Endpoint } from '../core/endpoints.ts'
import type { KeyMode } from '../core/secret.ts'

export type Caller = {
  readonly keyId: string
  readonly name: string
  readonly mode: KeyMode
  readonly status: 'active' | 'paused' | 'revoked'
  /** Milliseconds since 1970; null = never. */
  readonly expiresAt: number | null
  /** When the secret it called with stops working, after a rotation; null = it is the newest one. */
  readonly secretValidUntil: number | null
  readonly models: ReadonlySet<string>
  readonly permissions: ReadonlySet<Endpoint>
  /** Compared by the ledger when it reserves, so that a change of the key is never overtaken by a request. */
  readonly allowVersion: number
  readonly whenTight: 'cap' | 'refuse'
}
