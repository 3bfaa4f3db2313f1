// Who is calling: as much of an external key as a request needs, read from the store. A plain value, made once and
// passed forward.
import type { Endpoint } from '../core/endpoints.ts'
import type { KeyMode, WhenTight } from '../core/key-choices.ts'
import { findKey, findKeyBySecretHash, type Key } from '../store/keys.ts'
import type { Store } from '../store/open.ts'

export type Caller = {
  readonly keyId: string
  readonly name: string
  readonly mode: KeyMode
  readonly status: 'active' | 'paused' | 'revoked'
  /** Milliseconds since 1970; null = never. */
  readonly expiresAt: number | null
  /** When the secret it called with stops working, after a rotation; null = it is the newest one. */
  readonly secretValidUntil: number | null
  /** The hash of the secret it called with, during a rotation: the operator waits for the old secret to fall idle. */
  readonly secretHash: string | null
  readonly models: ReadonlySet<string>
  readonly permissions: ReadonlySet<Endpoint>
  /** Compared by the ledger when it reserves, so that no request passes with settings that have since changed. */
  readonly allowVersion: number
  readonly whenTight: WhenTight
}

export async function loadCaller(store: Store, secretHash: string): Promise<Caller | undefined> {
  const found = await findKeyBySecretHash(store, secretHash)
  if (found === undefined) return undefined
  const { key, secretValidUntil, isRotating } = found
  return callerOf(key, { secretValidUntil, secretHash: isRotating ? secretHash : null })
}

/** A key used without its secret, because a person tries it out. */
export async function callerOfKey(store: Store, keyId: string): Promise<Caller> {
  return callerOf(await findKey(store, keyId), { secretValidUntil: null, secretHash: null })
}

function callerOf(key: Key, secret: Pick<Caller, 'secretValidUntil' | 'secretHash'>): Caller {
  return {
    keyId: key.id,
    name: key.name,
    mode: key.mode,
    // Expiry depends on the time of each request, not of this look-up.
    status: key.status === 'expired' ? 'active' : key.status,
    expiresAt: key.expiresAt,
    ...secret,
    models: new Set(key.models),
    permissions: new Set(key.permissions),
    allowVersion: key.allowVersion,
    whenTight: key.whenTight,
  }
}
