// What is removed from every messages request, in passthrough too: hosted tools, compaction, and what refers to earlier
// answers. They cost more than the hold covers, or reach what another key left in the shared account. Only web searches
// may stay, where the hold covers them.
import type { Json, JsonObject } from '../../core/json.ts'
import { isArray, isGiven, isObject } from '../../core/json.ts'
import type { Removals } from '../codec.ts'
import type { Removing } from './search.ts'
import { isHosted, isSearch, removeTools } from './search.ts'

export function removalsFrom(body: JsonObject, { maySearch = false } = {}): Removals {
  const removals: Removing = { changes: {}, dropped: [] }
  for (const name of ['compaction', 'diagnostics', 'fallback_credit_token']) {
    if (!isGiven(body[name])) continue
    removals.changes[name] = undefined
    removals.dropped.push(name)
  }
  const isGone = maySearch ? (tool: Json) => isHosted(tool) && !isSearch(tool) : isHosted
  removeTools(body, isGone, removals)
  removeCompactingEdits(body, removals)
  return removals
}

function removeCompactingEdits(
  { context_management: management }: JsonObject,
  { changes, dropped }: Removing,
): void {
  // LiteLLM takes the list of the responses format here, too.
  if (isArray(management)) {
    changes['context_management'] = undefined
    dropped.push('context_management')
  }
  if (!isObject(management) || !isArray(management['edits'])) return
  const isCompacting = (edit: Json): boolean =>
    isObject(edit) && typeof edit['type'] === 'string' && edit['type'].startsWith('compact')
  const kept = management['edits'].filter((edit) => !isCompacting(edit))
  if (kept.length === management['edits'].length) return
  changes['context_management'] = { ...management, edits: kept }
  dropped.push('context_management.edits.compact')
}
