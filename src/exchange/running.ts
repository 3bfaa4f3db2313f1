// The exchanges under way, by key, so that a key that is revoked gets not another byte.
import { revokedKey } from '../access/unusable.ts'
import type { GatewayError } from '../core/errors.ts'
import { LinkedList, type Link } from '../core/linked-list.ts'

/** What can be ended before its time; whoever works for it sees that, and why. */
export interface Cuttable {
  cut(why: GatewayError): void
}

type RunningExchange = { readonly keyId: string; readonly exchange: Cuttable }

export class Running {
  readonly #exchanges = new LinkedList<RunningExchange>()

  /** To be removed when it has ended. */
  begin(keyId: string, exchange: Cuttable): Link<RunningExchange> {
    return this.#exchanges.add({ keyId, exchange })
  }

  /** The keys for which something runs. */
  keyIds(): readonly string[] {
    return [...new Set(this.#exchanges.members().map(({ keyId }) => keyId))]
  }

  cutRevoked(keyIds: readonly string[]): void {
    if (keyIds.length === 0) return
    const revoked = new Set(keyIds)
    const why = revokedKey()
    for (const { keyId, exchange } of this.#exchanges.members()) {
      if (revoked.has(keyId)) exchange.cut(why)
    }
  }

  cutAll(why: GatewayError): void {
    for (const { exchange } of this.#exchanges.members()) exchange.cut(why)
  }
}
