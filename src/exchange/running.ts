// The exchanges under way, by key, so that a key that is revoked gets not another byte.
import { GatewayError } from '../core/errors.ts'

/** What can be ended before its time; whoever works for it sees that, and why. */
export interface Cuttable {
  cut(why: GatewayError): void
}

export class Running {
  readonly #byKey = new Map<string, Set<Cuttable>>()

  begin(keyId: string, exchange: Cuttable): void {
    const exchanges = this.#byKey.get(keyId)
    if (exchanges === undefined) this.#byKey.set(keyId, new Set([exchange]))
    else exchanges.add(exchange)
  }

  end(keyId: string, exchange: Cuttable): void {
    const exchanges = this.#byKey.get(keyId)
    exchanges?.delete(exchange)
    if (exchanges?.size === 0) this.#byKey.delete(keyId)
  }

  /** The keys for which something runs. */
  keyIds(): readonly string[] {
    return [...this.#byKey.keys()]
  }

  cutRevoked(keyIds: readonly string[]): void {
    const why = new GatewayError('revoked_api_key', 'this API key has been revoked')
    for (const keyId of keyIds) this.#cut(keyId, why)
  }

  cutAll(why: GatewayError): void {
    for (const keyId of this.#byKey.keys()) this.#cut(keyId, why)
  }

  #cut(keyId: string, why: GatewayError): void {
    for (const exchange of this.#byKey.get(keyId) ?? []) exchange.cut(why)
  }
}
