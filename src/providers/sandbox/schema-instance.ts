// A valid instance of any JSON schema, filled from the message where that fits. It tries values in a sensible order and
// takes the first one the schema accepts; recursive schemas are followed no deeper than necessary.
import type { Json, JsonObject } from '../../core/json.ts'
import { isArray, isObject, listOf, objectOf } from '../../core/json.ts'
import type { Hints } from './hints.ts'
import type { Schema, SchemaContext } from './schema-check.ts'
import {
  DEPTH_MAX,
  canonical,
  count,
  fits,
  isSchema,
  itemSchemas,
  resolve,
  schemasOf,
} from './schema-check.ts'
import { merged } from './schema-merge.ts'
import { numbersFor, textsFor } from './schema-values.ts'

/** How often a definition may contain itself, the smallest number first. */
const RECURSIONS = [0, 1, 2, 4, 8, 16]
/** Bounds the work on a schema that was made to be slow, or that nothing fits. */
const STEPS_MAX = 30_000

/** An instance of the schema; for one that nothing fits, the nearest thing to it. */
export function instanceOf(root: JsonObject, hints: Hints): Json {
  const place: Place = {
    root,
    hints,
    work: { steps: STEPS_MAX },
    depth: 0,
    name: undefined,
    turn: 0,
    references: ['#'],
    recursionsMax: 0,
    isLenient: false,
  }
  for (const recursionsMax of RECURSIONS) {
    for (const value of candidates(root, { ...place, recursionsMax })) return value
  }
  // Better a value of about the right shape than none.
  const lenient = { ...place, work: { steps: STEPS_MAX }, recursionsMax: 1, isLenient: true }
  for (const value of candidates(root, lenient)) return value
  return {}
}

type Place = SchemaContext & {
  readonly hints: Hints
  /** The field that gets the value, and how many fields of its type come before it. */
  readonly name: string | undefined
  readonly turn: number
  /** The references that lead here from the root. */
  readonly references: readonly string[]
  readonly recursionsMax: number
  readonly isLenient: boolean
}

/** Values that fit the schema, the most sensible first. */
function* candidates(schema: Schema, place: Place): Generator<Json> {
  for (const alternative of alternatives(schema, place)) {
    for (const value of valuesOf(alternative.schema, alternative.place)) {
      place.work.steps -= costOf(value)
      if (place.isLenient) yield value
      else if (place.work.steps < 0) return
      else if (fits(place, schema, value)) yield value
    }
  }
}

/** Large values cost more than small ones. */
function costOf(value: Json): number {
  if (typeof value === 'string') return 1 + value.length / 16
  if (isArray(value)) return 1 + value.length
  return isObject(value) ? 1 + Object.keys(value).length : 1
}

type Alternative = { readonly schema: JsonObject; readonly place: Place }

/** The ways to satisfy a schema, each as one plain schema without references or combinations. */
function* alternatives(schema: Schema, place: Place): Generator<Alternative> {
  if (schema === false || place.depth > DEPTH_MAX || --place.work.steps < 0) return
  if (schema === true) return yield { schema: {}, place }
  const {
    $ref: reference,
    allOf,
    anyOf,
    oneOf,
    if: condition,
    then,
    else: otherwise,
    ...plain
  } = schema
  const groups: (readonly Schema[])[] = schemasOf(allOf).map((part) => [part])
  if (isArray(anyOf)) groups.push(schemasOf(anyOf))
  if (isArray(oneOf)) groups.push(schemasOf(oneOf))
  if (isSchema(condition)) {
    const met = { allOf: [condition, isSchema(then) ? then : true] }
    groups.push([met, isSchema(otherwise) ? otherwise : true])
  }
  const inner = typeof reference === 'string' ? follow(reference, place) : place
  if (inner === undefined) return
  if (typeof reference === 'string') groups.push([resolve(place.root, reference) ?? true])
  yield* combinations({ schema: plain, place: inner }, groups)
}

/** One choice out of each group from `index` on, merged. */
function* combinations(
  base: Alternative,
  groups: readonly (readonly Schema[])[],
  index = 0,
): Generator<Alternative> {
  const group = groups[index]
  if (group === undefined) return yield base
  for (const option of group) {
    for (const { schema, place } of alternatives(option, deeper(base.place))) {
      yield* combinations({ schema: merged(base.schema, schema), place }, groups, index + 1)
    }
  }
}

function deeper(place: Place): Place {
  return { ...place, depth: place.depth + 1 }
}

/** The place behind a reference, unless it has been followed too often on the way here. */
function follow(reference: string, place: Place): Place | undefined {
  const rounds = place.references.filter((earlier) => earlier === reference).length
  if (rounds > place.recursionsMax) return undefined
  return { ...place, references: [...place.references, reference] }
}

function* valuesOf(schema: JsonObject, place: Place): Generator<Json> {
  if (schema['const'] !== undefined) return yield schema['const']
  if (isArray(schema['enum'])) return yield* likeliestFirst(schema['enum'], place)
  for (const type of typesOf(schema)) {
    switch (type) {
      case 'string':
        yield* textsFor(schema, place)
        break
      case 'integer':
      case 'number':
        yield* numbersFor(schema, place)
        break
      case 'boolean':
        yield* [true, false]
        break
      case 'null':
        yield null
        break
      case 'array':
        yield* arraysFor(schema, place)
        break
      case 'object':
        yield* objectsFor(schema, place)
        break
    }
  }
}

/** Options that the message mentions come first. Looking for them in a long list is work, too. */
function likeliestFirst(options: readonly Json[], { hints, work }: Place): readonly Json[] {
  work.steps -= options.length / 16
  const spoken = new Set(hints.phrases.map((phrase) => phrase.toLowerCase()))
  const isSpoken = (option: Json) => typeof option === 'string' && spoken.has(option.toLowerCase())
  return [...options.filter(isSpoken), ...options.filter((option) => !isSpoken(option))]
}

const TYPES = ['string', 'number', 'object', 'array', 'boolean', 'null']
const TELLING: Readonly<Record<string, string>> = {
  properties: 'object',
  required: 'object',
  additionalProperties: 'object',
  minProperties: 'object',
  items: 'array',
  prefixItems: 'array',
  minItems: 'array',
  contains: 'array',
  minimum: 'number',
  maximum: 'number',
  exclusiveMinimum: 'number',
  exclusiveMaximum: 'number',
  multipleOf: 'number',
}

/** The types a schema names, or else all types, beginning with the one its other keywords imply. */
function typesOf(schema: JsonObject): readonly string[] {
  const { type } = schema
  if (typeof type === 'string') return [type]
  if (isArray(type)) return type.filter((name) => typeof name === 'string')
  const word = Object.keys(TELLING).find((keyword) => schema[keyword] !== undefined)
  return word === undefined ? TYPES : [TELLING[word] ?? 'object', ...TYPES]
}

function* objectsFor(schema: JsonObject, place: Place): Generator<Json> {
  const required = requiredOf(schema)
  const members = new Map<string, Json>()
  const streams = new Map<string, Iterator<Json>>()
  const turns = new Map<Json | undefined, number>()
  for (const name of namesFor(schema, required)) {
    const member = memberSchema(schema, name)
    // Members of one type take the hints in turn, so that two texts of an object differ.
    const type = isObject(member) ? member['type'] : undefined
    const turn = turns.get(type) ?? 0
    turns.set(type, turn + 1)
    const stream = candidates(member, { ...deeper(place), name, turn })
    const first = stream.next()
    if (!first.done) {
      members.set(name, first.value)
      streams.set(name, stream)
    } else if (required.has(name) && !place.isLenient) return
  }
  yield Object.fromEntries(members)
  // Further objects change one member at a time.
  while (streams.size > 0) {
    for (const [name, stream] of streams) {
      const next = stream.next()
      if (next.done) streams.delete(name)
      else yield Object.fromEntries(members.set(name, next.value))
    }
  }
}

function requiredOf(schema: JsonObject): Set<string> {
  const names = new Set(listOf(schema['required']).map(String))
  const table = objectOf(schema['dependentRequired'])
  // Iterating a set visits names added meanwhile, so names that need other names are followed too.
  for (const name of names) {
    const needed = Object.hasOwn(table, name) ? table[name] : undefined
    if (isArray(needed)) for (const other of needed) names.add(String(other))
  }
  return names
}

/** The required members; if none is required, all known ones, because an empty object would say nothing. */
function namesFor(schema: JsonObject, required: ReadonlySet<string>): ReadonlySet<string> {
  const known = isObject(schema['properties']) ? Object.keys(schema['properties']) : []
  const least = count(schema['minProperties'], 0)
  const most = count(schema['maxProperties'], Infinity)
  const names = new Set(required)
  for (const name of known) {
    if (names.size < (required.size === 0 ? most : least)) names.add(name)
  }
  for (let index = 1; names.size < Math.min(least, MEMBERS_MAX); index++) names.add(`field${index}`)
  return names
}

const MEMBERS_MAX = 256

function memberSchema(schema: JsonObject, name: string): Schema {
  const { properties, patternProperties, additionalProperties } = schema
  const own = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined
  if (isSchema(own)) return own
  const [covering] = isObject(patternProperties) ? Object.values(patternProperties) : []
  if (isSchema(covering)) return covering
  return isSchema(additionalProperties) ? additionalProperties : true
}

const ITEMS_MAX = 1000
/** A type that repeats known values this many times in a row is taken to have no others. */
const REPEATS_MAX = 32

function* arraysFor(schema: JsonObject, place: Place): Generator<Json> {
  const least = count(schema['minItems'], 0)
  const most = Math.min(count(schema['maxItems'], Infinity), ITEMS_MAX)
  const { leading } = itemSchemas(schema)
  const usual = Math.min(Math.max(least, containedMin(schema), leading.length, 1), most)
  const lengths = new Set([usual, least])
  for (let more = 1; more <= 8 && usual + more <= most; more++) lengths.add(usual + more)
  for (const length of lengths) {
    const items = itemsFor(schema, place, length)
    if (items !== undefined) yield items
    // Too few different items for this length are too few for a greater one.
    else if (length > usual) return
  }
}

/** How many items must match `contains`. */
function containedMin({ contains, minContains }: JsonObject): number {
  return isSchema(contains) ? count(minContains, 1) : 0
}

function itemsFor(schema: JsonObject, place: Place, length: number): Json[] | undefined {
  const { leading, rest: usual } = itemSchemas(schema)
  const contained = containedMin(schema)
  const streams = new Map<Schema, Iterator<Json>>()
  const items: Json[] = []
  const seen = new Set<string>()
  const isUnique = schema['uniqueItems'] === true
  const special = { allOf: [usual, schema['contains'] ?? true] }
  for (let index = 0; index < length; index++) {
    const item = leading[index] ?? (index - leading.length < contained ? special : usual)
    const stream =
      streams.get(item) ?? candidates(item, { ...deeper(place), name: undefined, turn: 0 })
    streams.set(item, stream)
    let next = stream.next()
    const isRepeated = (): boolean => isUnique && !next.done && seen.has(canonical(next.value))
    for (let tries = 0; tries < REPEATS_MAX && isRepeated(); tries++) next = stream.next()
    if (isRepeated()) return undefined
    // A type with few values repeats them.
    const value = next.done && !isUnique ? items.at(-1) : next.value
    place.work.steps -= costOf(value ?? null)
    if (place.isLenient && place.work.steps < 0) break
    if (value === undefined) return undefined
    if (isUnique) seen.add(canonical(value))
    items.push(value)
  }
  return items
}
