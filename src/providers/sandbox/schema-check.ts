// Whether a value fits a JSON schema, and how much work a schema may cause. Patterns and formats are not tested, only
// made: a client's pattern could keep a regular expression busy for hours. A library's validator would run it, or turn
// the client's schema into code, and neither can be told when to stop.
import type { Json, JsonObject } from '../../core/json.ts'
import { isArray, isObject, listOf, numberOf } from '../../core/json.ts'

export type Schema = boolean | JsonObject

/** What is left for the schemas of one answer. Charged for every schema, value, member, item and comparison. */
export class Work {
  steps: number
  /** Of the JSON that is made. */
  characters: number
  /** The last thing that could not be made, in words. */
  why = ''

  constructor(steps: number, characters: number) {
    this.steps = steps
    this.characters = characters
  }

  spend(steps = 1): void {
    this.steps -= steps
    if (this.steps < 0) throw new OutOfWork('it is too large or too entangled')
  }

  write(characters: number): void {
    this.spend()
    this.characters -= characters
    if (this.characters < 0) throw new OutOfWork('what fits it is longer than an answer can be')
  }
}

/** Ends an attempt to fill a schema, wherever it is. */
export class OutOfWork extends Error {}

export type SchemaContext = {
  readonly root: JsonObject
  readonly work: Work
  /** How deep the schema has been followed: references can be circular. */
  readonly depth: number
  /** The value is one of this schema's options, and need not be looked for among them. */
  readonly listedIn?: JsonObject
}

const DEPTH_MAX = 150

export function deeper<Context extends SchemaContext>(context: Context): Context {
  if (context.depth > DEPTH_MAX) throw new OutOfWork('it is nested too deeply')
  return { ...context, depth: context.depth + 1 }
}

export function isSchema(value: unknown): value is Schema {
  return typeof value === 'boolean' || isObject(value)
}

export function schemasOf(value: unknown, work: Work): readonly Schema[] {
  const list = listOf(value)
  work.spend(list.length)
  return list.filter(isSchema)
}

/** The schema that a reference points to; undefined = it points nowhere in the schema itself. */
export function resolve(reference: string, { root, work }: SchemaContext): Schema | undefined {
  work.spend(1 + reference.length / 16)
  if (!/^#(?:\/|$)/.test(reference)) return undefined
  let place: unknown = root
  for (const name of reference.split('/').slice(1)) {
    const key = unescaped(name)
    if (isArray(place)) place = place[Number(key)]
    else place = isObject(place) && Object.hasOwn(place, key) ? place[key] : undefined
  }
  return isSchema(place) ? place : undefined
}

function unescaped(name: string): string {
  const plain = name.replaceAll('~1', '/').replaceAll('~0', '~')
  try {
    return decodeURIComponent(plain)
  } catch {
    return plain
  }
}

export function fits(schema: Schema, value: Json, context: SchemaContext): boolean {
  if (typeof schema === 'boolean') return schema
  const { work } = context
  work.spend()
  const isListed = context.listedIn === schema
  const inner = deeper(context)
  const holds = (part: unknown, of: Json = value): boolean =>
    !isSchema(part) || fits(part, of, inner)
  const { type, const: constant, enum: options, $ref, anyOf, oneOf, not, if: condition } = schema
  return (
    (type === undefined || typeNames(type, work).some((name) => isOf(name, value))) &&
    (isListed || constant === undefined || same(constant, value, work)) &&
    (isListed || !isArray(options) || options.some((option) => same(option, value, work))) &&
    (typeof $ref !== 'string' || holds(resolve($ref, context))) &&
    schemasOf(schema['allOf'], work).every((part) => holds(part)) &&
    (!isArray(anyOf) || schemasOf(anyOf, work).some((part) => holds(part))) &&
    (!isArray(oneOf) || schemasOf(oneOf, work).filter((part) => holds(part)).length === 1) &&
    (!isSchema(not) || !holds(not)) &&
    (!isSchema(condition) || holds(schema[holds(condition) ? 'then' : 'else'])) &&
    insideFits(schema, value, { holds, work })
  )
}

type Inside = {
  readonly holds: (part: unknown, of: Json) => boolean
  readonly work: Work
}

/** The words of a schema that concern one type each. */
function insideFits(schema: JsonObject, value: Json, inside: Inside): boolean {
  if (typeof value === 'number') return numberFits(schema, value)
  if (typeof value === 'string') {
    inside.work.spend(value.length / 64)
    return isWithin(schema, 'Length', lengthOf(value))
  }
  if (isArray(value)) return itemsFit(schema, value, inside)
  return !isObject(value) || membersFit(schema, value, inside)
}

function numberFits(schema: JsonObject, value: number): boolean {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema
  const step = count(multipleOf, 0)
  return (
    value >= count(minimum, -Infinity) &&
    value <= count(maximum, Infinity) &&
    value > count(exclusiveMinimum, -Infinity) &&
    value < count(exclusiveMaximum, Infinity) &&
    (step <= 0 || isWhole(value / step))
  )
}

function itemsFit(schema: JsonObject, items: readonly Json[], { holds, work }: Inside): boolean {
  const { leading, rest } = itemSchemas(schema, work)
  const { contains, minContains, maxContains, uniqueItems } = schema
  work.spend(items.length)
  const found = isSchema(contains) ? items.filter((item) => holds(contains, item)).length : 1
  return (
    isWithin(schema, 'Items', items.length) &&
    items.every((item, index) => holds(leading[index] ?? rest, item)) &&
    (!isSchema(contains) ||
      (found >= count(minContains, 1) && found <= count(maxContains, Infinity))) &&
    (uniqueItems !== true ||
      new Set(items.map((item) => JSON.stringify(item))).size === items.length)
  )
}

function membersFit(schema: JsonObject, value: JsonObject, { holds, work }: Inside): boolean {
  const names = Object.keys(value)
  work.spend(names.length)
  const has = (name: Json): boolean => Object.hasOwn(value, String(name))
  const required = listOf(schema['required'])
  work.spend(required.length)
  return (
    isWithin(schema, 'Properties', names.length) &&
    required.every(has) &&
    names.every((name) => holds(memberSchema(schema, name), value[name] ?? null)) &&
    names.every((name) => holds(schema['propertyNames'], name)) &&
    names.every((name) => neededBy(schema, name, work).every(has))
  )
}

/** What a member must be; undefined = anything. Patterns of names are not tested, so any name may be covered by one. */
export function memberSchema(schema: JsonObject, name: string): Schema | undefined {
  const { properties, patternProperties, additionalProperties } = schema
  const own = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined
  if (isSchema(own)) return own
  return isSchema(additionalProperties) && !isObject(patternProperties)
    ? additionalProperties
    : undefined
}

/** The members that must be there if the named one is. */
export function neededBy(schema: JsonObject, name: string, work: Work): readonly Json[] {
  const table = schema['dependentRequired']
  const needed = isObject(table) && Object.hasOwn(table, name) ? listOf(table[name]) : []
  work.spend(needed.length)
  return needed
}

/** The schemas of the first items, one each, and of all others. Before 2020 `items` was the list of the first. */
export function itemSchemas(
  schema: JsonObject,
  work: Work,
): { readonly leading: readonly Schema[]; readonly rest: Schema } {
  const { prefixItems, items, additionalItems } = schema
  const [leading, rest] = isArray(items) ? [items, additionalItems] : [prefixItems, items]
  return { leading: schemasOf(leading, work), rest: isSchema(rest) ? rest : true }
}

export function typeNames(type: Json, work: Work): readonly string[] {
  const names = isArray(type) ? type : [type]
  work.spend(names.length)
  return names.filter((name) => typeof name === 'string')
}

export function count(value: unknown, otherwise: number): number {
  return numberOf(value) ?? otherwise
}

function isWithin(schema: JsonObject, what: 'Length' | 'Items' | 'Properties', size: number) {
  return size >= count(schema[`min${what}`], 0) && size <= count(schema[`max${what}`], Infinity)
}

function isOf(type: string, value: Json): boolean {
  switch (type) {
    case 'null':
      return value === null
    case 'array':
      return isArray(value)
    case 'object':
      return isObject(value)
    case 'integer':
      return Number.isInteger(value)
    default:
      return typeof value === type
  }
}

function same(one: Json | undefined, other: Json | undefined, work: Work): boolean {
  work.spend(1 + (typeof one === 'string' ? one.length / 256 : 0))
  if (isArray(one) && isArray(other)) {
    return one.length === other.length && one.every((item, index) => same(item, other[index], work))
  }
  if (!isObject(one) || !isObject(other)) return one === other
  const names = Object.keys(one)
  work.spend(names.length)
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && same(one[name], other[name], work))
  )
}

/** Dividing decimal fractions leaves a rounding error. */
function isWhole(quotient: number): boolean {
  return Math.abs(quotient - Math.round(quotient)) <= 1e-9 * Math.max(1, Math.abs(quotient))
}

/** JSON schema counts characters, not UTF-16 units. */
function lengthOf(text: string): number {
  return [...text].length
}
