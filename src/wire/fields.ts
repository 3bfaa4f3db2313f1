// What translation does with each field of a request body: one closed table per format, read by its decoder and checked
// against `docs/translation.md`. A field in no table is unknown: it is dropped and named. Refused fields do not get
// this far (`refused-fields.ts`).
import type { JsonObject } from '../core/json.ts'
import { isGiven } from '../core/json.ts'

/** read = carried over (as far as `features.ts` says); ignore = means nothing to a model; else why it is dropped. */
type Fate = 'read' | 'ignore' | { readonly drop: string }
export type FieldTable = Readonly<Record<string, Fate>>

/** The names of the fields that translation drops. */
export function droppedFields(body: JsonObject, table: FieldTable): string[] {
  return Object.keys(body).filter((name) => {
    const fate = Object.hasOwn(table, name) ? table[name] : undefined
    return isGiven(body[name]) && fate !== 'read' && fate !== 'ignore'
  })
}
