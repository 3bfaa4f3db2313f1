// The running exchanges by key, so that a revoked key gets no further byte.
import { revokedKey } from '../access/unusable.ts'
import type { GatewayError } from '../core/errors.ts'
import { LinkedList, type Link } from '../core/linked-list.ts'

/** Something that can be ended early, with a reason that those working on it can see. */
interface Cuttable {
  cut(why: GatewayError): void
}

type RunningExchange = { readonly keyId: string; readonly exchange: Cuttable }

export class Running {
  readonly #exchanges = new LinkedList<RunningExchange>()

  /** The caller removes the link when the exchange has ended. */
  begin(keyId: string, exchange: Cuttable): Link<RunningExchange> {
    return this.#exchanges.add({ keyId, exchange })
  }

  /** The keys that have running exchanges. */
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
