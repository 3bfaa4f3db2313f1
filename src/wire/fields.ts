// The fate of each field of a request body in translation: one closed table a format, read by its decoder and held
// against `docs/translation.md`. A field in no table is unknown: it is dropped and named. What is refused was refused
// before (`refused-fields.ts`).
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
