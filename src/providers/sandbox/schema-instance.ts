// A small instance of a JSON schema, filled from the message where that fits. Each place of the instance has a list of
// schemas that it must fit, all of them; where a schema offers alternatives, the first that works is taken. All work is
// charged, so that no schema takes longer than a few milliseconds; what cannot be made is refused, with the reason.
import type { GatewayError } from '../../core/errors.ts'
import { invalidRequest } from '../../core/errors.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { isArray, isObject, listOf } from '../../core/json.ts'
import type { Hints } from './hints.ts'
import { OUTPUT_TOKENS_MAX } from './models.ts'
import type { Schema, SchemaContext } from './schema-check.ts'
import {
  OutOfWork,
  Work,
  count,
  deeper,
  fits,
  isSchema,
  itemSchemas,
  memberSchema,
  neededBy,
  resolve,
  schemasOf,
} from './schema-check.ts'
import type { Field } from './schema-values.ts'
import { lengthsOf, numbersFor, textsFor, typesOf, wordOf } from './schema-values.ts'

/** For one attempt, and for all schemas of an answer. */
const STEPS_MAX = 15_000
export const ANSWER_STEPS_MAX = 45_000
/** As long as an answer can be. */
const CHARACTERS_MAX = OUTPUT_TOKENS_MAX * 4

type Attempt = Pick<Place, 'isSparse' | 'recursionsMax'>

/** The smallest instance has no definition inside itself, unless its surroundings demand one. */
const ATTEMPTS: readonly Attempt[] = [
  { isSparse: false, recursionsMax: 0 },
  { isSparse: true, recursionsMax: 0 },
  { isSparse: true, recursionsMax: 1 },
]

type Filling = {
  readonly hints: Hints
  /** What all schemas of the answer may still cost. */
  readonly allowance: { steps: number }
  /** What is filled, for the refusal: the parameter, and words for it. */
  readonly param: string
  readonly what: string
}

/** An instance of the schema. Throws if there is none, or none that can be found with little work. */
export function instanceOf(root: JsonObject, filling: Filling): Json {
  const { hints, allowance } = filling
  let why = ''
  for (const attempt of ATTEMPTS) {
    const steps = Math.min(STEPS_MAX, allowance.steps)
    const work = new Work(steps, CHARACTERS_MAX)
    try {
      const value = fill([root], { ...TOP, ...attempt, root, hints, work })
      if (value !== undefined) return value
      why = work.why
    } catch (thrown) {
      if (!(thrown instanceof OutOfWork)) throw thrown
      why = thrown.message
    } finally {
      allowance.steps -= steps - Math.max(0, work.steps)
    }
  }
  throw unfillable(filling, why)
}

function unfillable({ param, what }: Filling, why: string): GatewayError {
  return invalidRequest(param, `the sandbox cannot fill ${what}: ${why}`)
}

type Place = SchemaContext &
  Field & {
    /** Where it is in the instance, for the reason why it cannot be filled. */
    readonly path: string
    /** The references that lead here from the root. */
    readonly references: readonly string[]
    readonly recursionsMax: number
    /** Nothing is made that is not required. */
    readonly isSparse: boolean
  }

const TOP = { depth: 0, name: undefined, turn: 0, variant: 0, path: '', references: ['#'] }

/** No instance: the work says why. */
function nothing({ work, path }: Place, why: string): undefined {
  work.why = path === '' ? why : `at ${short(path)}, ${why}`
}

function short(text: string): string {
  return text.length <= 100 ? text : `${text.slice(0, 100).toWellFormed()}…`
}

/** What a place must be: plain schemas, and groups of which each must have one schema that fits. */
type Demands = {
  readonly parts: readonly JsonObject[]
  readonly groups: readonly (readonly Schema[])[]
  readonly place: Place
}

/** A value that fits all the schemas. */
function fill(schemas: readonly Schema[], place: Place, before?: Demands): Json | undefined {
  const demands = demandsOf(schemas, deeper(place))
  if (demands === undefined) return undefined
  const parts = [...(before?.parts ?? []), ...demands.parts]
  const [group, ...groups] = [...demands.groups, ...(before?.groups ?? [])]
  place.work.spend(parts.length + groups.length)
  if (group === undefined) return valueFor(parts, demands.place)
  for (const option of group) {
    const value = fill([option], demands.place, { parts, groups, place })
    if (value !== undefined) return value
  }
  return group.length === 0 ? nothing(place, 'there is no alternative') : undefined
}

/** Follows references, and takes apart what must all hold. */
function demandsOf(schemas: readonly Schema[], place: Place): Demands | undefined {
  const { work } = place
  const queue = [...schemas]
  const parts: JsonObject[] = []
  const groups: (readonly Schema[])[] = []
  const followed = new Set<string>()
  // The queue grows while it is read.
  for (const schema of queue) {
    work.spend()
    if (schema === false) return nothing(place, 'nothing is allowed')
    if (schema === true) continue
    const { $ref, allOf, anyOf, oneOf, if: condition, then, else: otherwise } = schema
    parts.push(schema)
    if (typeof $ref === 'string' && !followed.has($ref)) {
      followed.add($ref)
      const rounds = place.references.filter((earlier) => earlier === $ref).length
      if (rounds > place.recursionsMax) return nothing(place, 'it contains itself without end')
      const target = resolve($ref, place)
      if (target === undefined) return nothing(place, `$ref "${short($ref)}" points nowhere`)
      queue.push(target)
    }
    queue.push(...schemasOf(allOf, work))
    if (isArray(anyOf)) groups.push(schemasOf(anyOf, work))
    if (isArray(oneOf)) groups.push(schemasOf(oneOf, work))
    if (isSchema(condition)) {
      const met = { allOf: [condition, isSchema(then) ? then : true] }
      groups.push([met, isSchema(otherwise) ? otherwise : true])
    }
  }
  return { parts, groups, place: { ...place, references: [...place.references, ...followed] } }
}

/** Words that a value is not made for, only checked against. */
const CHECKED = ['oneOf', 'not', 'if', 'contains', 'propertyNames', 'dependentRequired']

function valueFor(parts: readonly JsonObject[], place: Place): Json | undefined {
  const { work } = place
  // Each of the schemas is looked at for every kind of word.
  work.spend(parts.length)
  const checked = parts.filter((part) => CHECKED.some((word) => part[word] !== undefined))
  for (const value of valuesOf(parts, place)) {
    if (checked.every((part) => fits(part, value, place))) return value
    nothing(place, 'what was tried does not fit')
  }
  if (work.why === '') nothing(place, 'no value was found')
  return undefined
}

function* valuesOf(parts: readonly JsonObject[], place: Place): Generator<Json> {
  const source = parts.find((part) => part['const'] !== undefined || isArray(part['enum']))
  if (source !== undefined) return yield* optionsOf(source, parts, place)
  const types = typesOf(parts, place.work)
  if (types.length === 0) nothing(place, 'no type is allowed')
  for (const type of types) {
    switch (type) {
      case 'object':
      case 'array': {
        const made = type === 'object' ? objectFor(parts, place) : arrayFor(parts, place)
        if (made !== undefined) yield made
        break
      }
      default:
        yield* fitting(simpleValues(type, parts, place), parts, place)
    }
  }
}

/** The values that fit; those that do not are passed over. */
function* fitting(
  values: Iterable<Json>,
  parts: readonly JsonObject[],
  place: Place,
): Generator<Json> {
  let isFound = false
  for (const value of values) {
    if (!parts.every((part) => fits(part, value, place))) continue
    isFound = true
    place.work.write(typeof value === 'string' ? value.length + 2 : 5)
    yield value
  }
  if (!isFound) nothing(place, `no ${wantedOf(parts)} was found`)
}

/** What a simple value is wanted to be, for the reason why there is none. */
function wantedOf(parts: readonly JsonObject[]): string {
  const pattern = wordOf(parts, 'pattern')
  if (pattern !== undefined) return `text for the pattern ${short(pattern)}`
  const [least] = lengthsOf(parts)
  return least > CHARACTERS_MAX ? `text of ${least} characters` : 'value within the bounds'
}

function* simpleValues(type: string, parts: readonly JsonObject[], place: Place): Generator<Json> {
  switch (type) {
    case 'string': {
      const [least] = lengthsOf(parts)
      if (least <= CHARACTERS_MAX) yield* textsFor(parts, place)
      break
    }
    case 'integer':
    case 'number':
      yield* numbersFor(parts, place)
      break
    case 'boolean':
      yield* place.variant % 2 === 0 ? [true, false] : [false, true]
      break
    case 'null':
      yield null
  }
}

/** How many options are searched for one that the message mentions. */
const OPTIONS_READ = 200

/** Options that the message mentions come first; items of a list begin with different ones. */
function* optionsOf(
  source: JsonObject,
  parts: readonly JsonObject[],
  place: Place,
): Generator<Json> {
  const { hints, variant, work } = place
  const constant = source['const']
  const options = constant === undefined ? listOf(source['enum']) : [constant]
  work.spend(Math.min(options.length, OPTIONS_READ) / 4)
  const mentioned = options
    .slice(0, OPTIONS_READ)
    .findIndex((option) => typeof option === 'string' && hints.isMentioned(option))
  for (let index = 0; index < options.length; index++) {
    const option = options[(Math.max(0, mentioned) + variant + index) % options.length]
    work.spend()
    if (option === undefined) continue
    if (!parts.every((part) => fits(part, option, { ...place, listedIn: source }))) continue
    copy(option, work)
    yield option
  }
  nothing(place, 'none of its values is allowed')
}

/** Charges for a value of the schema that is put into the instance. */
function copy(value: Json | undefined, work: Work): void {
  if (isArray(value)) for (const item of value) copy(item, work)
  else if (isObject(value)) {
    for (const name of Object.keys(value)) {
      work.write(name.length + 3)
      copy(value[name], work)
    }
  } else work.write(typeof value === 'string' ? value.length + 2 : 5)
}

function objectFor(parts: readonly JsonObject[], place: Place): Json | undefined {
  const { work } = place
  const required = requiredOf(parts, work)
  const least = Math.max(...parts.map((part) => count(part['minProperties'], 0)))
  const most = Math.min(...parts.map((part) => count(part['maxProperties'], Infinity)))
  const members = new Map<string, Json>()
  const turns = new Map<Json | undefined, number>()
  for (const name of namesFor(parts, required, { least, most, place })) {
    work.write(name.length + 4)
    const schemas = parts.map((part) => memberSchema(part, name) ?? true)
    // Members of one type take the hints in turn, so that two texts of an object differ.
    const first = schemas.find(isObject)
    const type = first?.['type']
    const turn = turns.get(type) ?? 0
    turns.set(type, turn + 1)
    const path = place.path === '' ? short(name) : `${place.path}.${short(name)}`
    const value = fill(schemas, { ...place, name, turn, path })
    if (value !== undefined) members.set(name, value)
    else if (required.has(name)) return undefined
  }
  if (members.size < least) return nothing(place, `no ${least} members were found`)
  if (members.size > most) return nothing(place, `it has room for only ${most} members`)
  return Object.fromEntries(members)
}

function requiredOf(parts: readonly JsonObject[], work: Work): ReadonlySet<string> {
  const names = new Set<string>()
  for (const part of parts) {
    const list = listOf(part['required'])
    work.spend(list.length)
    for (const name of list) names.add(String(name))
  }
  // Iterating a set visits names added meanwhile, so names that need other names are followed too.
  for (const name of names) {
    for (const part of parts)
      for (const other of neededBy(part, name, work)) names.add(String(other))
  }
  return names
}

type Names = { readonly least: number; readonly most: number; readonly place: Place }

/** The required members; if none is required, all known ones, because an empty object would say nothing. */
function namesFor(
  parts: readonly JsonObject[],
  required: ReadonlySet<string>,
  { least, most, place }: Names,
): ReadonlySet<string> {
  const { work } = place
  const wanted = required.size === 0 && !place.isSparse ? most : least
  const names = new Set(required)
  if (names.size >= wanted) return names
  for (const { properties } of parts) {
    if (!isObject(properties)) continue
    for (const name of Object.keys(properties)) {
      work.spend()
      if (names.size < wanted) names.add(name)
    }
  }
  for (let index = 1; names.size < least; index++) {
    work.spend()
    names.add(`field${index}`)
  }
  return names
}

/** How many further values are tried for an item that must differ from the others. */
const REPEATS_MAX = 32

function arrayFor(parts: readonly JsonObject[], place: Place): Json | undefined {
  const { work } = place
  const shapes = parts.map((part) => itemSchemas(part, work))
  const leading = Math.max(0, ...shapes.map((shape) => shape.leading.length))
  const least = Math.max(0, ...parts.map(({ minItems }) => count(minItems, 0)))
  const most = Math.min(...parts.map(({ maxItems }) => count(maxItems, Infinity)))
  const length = Math.min(place.isSparse ? least : Math.max(least, leading, 1), most)
  if (length < least) return nothing(place, 'it has room for too few items')
  if (length > STEPS_MAX) return nothing(place, `${length} items are more than an answer can have`)
  const isUnique = parts.some(({ uniqueItems }) => uniqueItems === true)
  const items: Json[] = []
  const seen = new Set<string>()
  for (let index = 0; index < length; index++) {
    work.write(1)
    const schemas = shapes.map((shape) => shape.leading[index] ?? shape.rest)
    const path = `${place.path}[${index}]`
    let value: Json | undefined
    for (let tries = 0; tries <= (isUnique ? REPEATS_MAX : 0); tries++) {
      value = fill(schemas, { ...place, name: undefined, turn: 0, variant: index + tries, path })
      if (value === undefined || !isUnique || !seen.has(JSON.stringify(value))) break
      value = nothing(place, `no ${length} different items were found`)
    }
    if (value === undefined && index < least) return undefined
    if (value === undefined) break
    if (isUnique) seen.add(JSON.stringify(value))
    items.push(value)
  }
  return items
}
