// The exchanges under way, by key, so that a key that is revoked gets not another byte.
import { GatewayError } from '../core/errors.ts'

export class Running {
  readonly #byKey = new Map<string, Set<AbortController>>()

  /**
   * Counts an exchange as running until `end` is called. Its signal is aborted when the client has gone, or with the
   * reason for which it was cut.
   */
  begin(keyId: string, gone: AbortSignal): { readonly signal: AbortSignal; end(): void } {
    const exchange = new AbortController()
    const leave = (): void => exchange.abort(gone.reason)
    if (gone.aborted) leave()
    else gone.addEventListener('abort', leave, { once: true })
    const exchanges = this.#byKey.get(keyId) ?? new Set()
    this.#byKey.set(keyId, exchanges.add(exchange))
    return {
      signal: exchange.signal,
      end: () => {
        gone.removeEventListener('abort', leave)
        exchanges.delete(exchange)
        if (exchanges.size === 0) this.#byKey.delete(keyId)
      },
    }
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
    for (const exchange of this.#byKey.get(keyId) ?? []) exchange.abort(why)
  }
}
