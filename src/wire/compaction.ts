// Compaction: in the middle of a request, a provider summarizes the conversation and continues with the summary. It reads
// everything twice, which no hold covers, so no provider is asked for it.
import type { JsonObject } from '../core/json.ts'
import { isGiven } from '../core/json.ts'

/** What is dropped of a request in a format whose `context_management` has no other use. */
export function compactionIn({ context_management: management }: JsonObject): readonly string[] {
  return isGiven(management) ? ['context_management'] : []
}
