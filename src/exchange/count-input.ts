// What providers themselves say a request is read as. Asking is free, so it needs no hold, but it takes a round trip:
// only a client that asks for a count, or a request that does not fit otherwise, is worth it.
import type { AdmissionRequest } from '../access/admit.ts'
import type { Target } from '../catalog/models.ts'
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

/** What admission may ask about the targets of a request. */
export function aboutTargets(
  prepared: readonly Prepared[],
  headers: ReadonlyMap<string, string>,
  closed: AbortSignal,
): Pick<AdmissionRequest, 'mayReach' | 'inputTokensOf' | 'searchesMaxOf' | 'countAtTargets'> {
  const at = (target: Target) => prepared.find((each) => isAt(each, target))
  return {
    mayReach: (target) => at(target) !== undefined,
    inputTokensOf: (target) => at(target)?.inputTokens,
    searchesMaxOf: (target) => at(target)?.searchesMax ?? 0,
    countAtTargets: () => countAtAll(prepared, headers, closed),
  }
}

/** The counts of all targets that tell. */
async function countAtAll(
  prepared: readonly Prepared[],
  headers: ReadonlyMap<string, string>,
  closed: AbortSignal,
): Promise<(target: Target) => number | undefined> {
  const counts = await Promise.all(prepared.map((each) => countAt(each, headers, closed)))
  return (target) => counts[prepared.findIndex((each) => isAt(each, target))]
}

function isAt({ provider, model }: Prepared, target: Target): boolean {
  return provider.name === target.provider && model === target.model
}
