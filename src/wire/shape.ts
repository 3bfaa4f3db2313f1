// The members that are known inside a request body, so that translation can name the unknown ones: decoders read the
// members they understand and never see the others. One table per format, beside its decoder; the outermost fields are
// in `fields.ts`.
import type { Json, JsonObject } from '../core/json.ts'
import { isArray, isGiven, isObject } from '../core/json.ts'

/** The members of an object. A list has the shape of its entries. */
export type Shape = { readonly [name: string]: Inside }

/** known = not inspected; else the members inside, which may depend on the value they are in (undefined = any). */
type Inside = 'known' | Shape | ((value: JsonObject) => Shape | undefined)

/** Shapes by a word from outside, which may be a name that every object has: hence a map. */
export function shapesOf(shapes: Readonly<Record<string, Shape>>): ReadonlyMap<string, Shape> {
  return new Map(Object.entries(shapes))
}

/** The members that no table knows, by their paths: `messages.content.…`. */
export function unknownMembers(body: JsonObject, shape: Shape): string[] {
  const unknown = new Set<string>()
  for (const [name, inside] of Object.entries(shape)) {
    collect(body[name], { inside, place: name }, unknown)
  }
  return [...unknown]
}

type Spot = { readonly inside: Inside; readonly place: string }

function collect(value: Json | undefined, { inside, place }: Spot, unknown: Set<string>): void {
  if (inside === 'known') return
  if (isArray(value)) for (const each of value) collect(each, { inside, place }, unknown)
  if (!isObject(value)) return
  const shape = typeof inside === 'function' ? inside(value) : inside
  if (shape === undefined) return
  for (const [name, member] of Object.entries(value)) {
    const known = Object.hasOwn(shape, name) ? shape[name] : undefined
    if (known !== undefined) collect(member, { inside: known, place: `${place}.${name}` }, unknown)
    else if (saysSomething(member)) unknown.add(`${place}.${name}`)
  }
}

/** Clients send null and empty lists for what they leave out. */
export function saysSomething(value: Json | undefined): boolean {
  return isGiven(value) && !(isArray(value) && value.length === 0)
}
