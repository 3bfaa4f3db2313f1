// The input tokens of a request by its provider's own count. Asking is free, so it needs no hold, but it takes a round
// trip: worth it only if a client asks for a count, or if a request does not fit otherwise.
import type { Prepared } from './prepare.ts'

/** A slower provider is not waited for: there is another way to count. */
const WAIT_MS = 3_000

/** Undefined if the provider gives no count, none that can be true, or not in time. */
export async function countAt(
  { provider, format, model, content, inputTokens }: Prepared,
  headers: ReadonlyMap<string, string>,
  closed: AbortSignal,
): Promise<number | undefined> {
  if (inputTokens !== undefined || provider.countTokens === undefined) return inputTokens
  const signal = AbortSignal.any([closed, AbortSignal.timeout(WAIT_MS)])
  try {
    const told = await provider.countTokens({ format, model, body: content(), headers }, signal)
    // The hold is made from it: a negative one would hold nothing.
    return Number.isSafeInteger(told) && Number(told) > 0 ? told : undefined
  } catch {
    closed.throwIfAborted()
    return undefined
  }
}
