// What providers themselves say a request is read as. Asking is free, so it needs no hold, but it takes a round trip:
// only a client that asks for a count, or a request that does not fit otherwise, is worth it.
import type { Prepared } from './prepare.ts'

/** Whoever takes longer is not waited for: there is another way to count. */
const WAIT_MS = 3_000

/** Undefined where the provider does not tell, or not in time. */
export async function countAt(
  { provider, format, model, content, inputTokens }: Prepared,
  headers: ReadonlyMap<string, string>,
  closed: AbortSignal,
): Promise<number | undefined> {
  if (inputTokens !== undefined || provider.countTokens === undefined) return inputTokens
  const signal = AbortSignal.any([closed, AbortSignal.timeout(WAIT_MS)])
  try {
    return await provider.countTokens({ format, model, body: content(), headers }, signal)
  } catch {
    closed.throwIfAborted()
    return undefined
  }
}
