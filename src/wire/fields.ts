// The fate of each field of a request body in translation: one closed table a format, read by its decoder and held
// against `docs/translation.md`. A field in no table is unknown: it is dropped and named.
import { unsupportedParameter } from '../core/errors.ts'
import type { JsonObject } from '../core/json.ts'
import { isGiven } from '../core/json.ts'

/** read = carried over (as far as `features.ts` says); ignore = means nothing to a model; else dropped or refused. */
export type Fate = 'read' | 'ignore' | { readonly drop: string } | { readonly refuse: string }
export type FieldTable = Readonly<Record<string, Fate>>

/** The names of the fields that translation drops. Refuses the first one that must be refused. */
export function droppedFields(body: JsonObject, table: FieldTable): string[] {
  const dropped: string[] = []
  for (const [name, value] of Object.entries(body)) {
    if (!isGiven(value)) continue
    const fate = Object.hasOwn(table, name) ? table[name] : undefined
    if (fate === 'read' || fate === 'ignore') continue
    if (fate !== undefined && 'refuse' in fate) {
      throw unsupportedParameter(name, `${name} is not supported with this model: ${fate.refuse}`)
    }
    dropped.push(name)
  }
  return dropped
}
