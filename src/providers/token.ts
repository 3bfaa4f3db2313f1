// Access tokens that expire: fetched when they are needed, kept until shortly before their end, and fetched once however
// many requests wait for one.
import type { Clock } from '../core/clock.ts'
import { GatewayError } from '../core/errors.ts'

export type AccessToken = { readonly value: string; readonly expiresInSeconds: number }

/** A request must not set out with a token that ends on the way. */
const MARGIN_MS = 300_000

export function cachedToken(
  fetchToken: () => Promise<AccessToken>,
  clock: Clock,
): () => Promise<string> {
  let known: { readonly value: string; readonly goodUntilMs: number } | undefined
  let coming: Promise<string> | undefined
  const renew = async (): Promise<string> => {
    try {
      const { value, expiresInSeconds } = await fetchToken()
      known = { value, goodUntilMs: clock.monotonicMs() + expiresInSeconds * 1000 - MARGIN_MS }
      return value
    } catch (cause) {
      // Nothing was sent to any model yet.
      throw new GatewayError('provider_failed', 'the gateway could not sign in to the provider', {
        unbilled: true,
        forOperator: true,
        cause,
      })
    } finally {
      coming = undefined
    }
  }
  return async () => {
    if (known !== undefined && known.goodUntilMs > clock.monotonicMs()) return known.value
    coming ??= renew()
    return coming
  }
}
