// Whether a value fits a JSON schema, as far as the sandbox needs to fill one. Patterns and formats are not tested,
// only generated, because a client's pattern could keep a regular expression busy for hours.
import type { Json, JsonObject } from '../../core/json.ts'
import { isArray, isObject, listOf, numberOf } from '../../core/json.ts'

export type Schema = boolean | JsonObject

/** The work left for one schema. Once it is used up every value fits, which stops schemas made to be slow. */
type Work = { steps: number }

export type SchemaContext = {
  readonly root: JsonObject
  readonly work: Work
  /** How deep the schema has been followed; references can be circular. */
  readonly depth: number
}

export const DEPTH_MAX = 256

export function isSchema(value: unknown): value is Schema {
  return typeof value === 'boolean' || isObject(value)
}

export function schemasOf(value: unknown): readonly Schema[] {
  return listOf(value).filter(isSchema)
}

export function fits(context: SchemaContext, schema: Schema, value: Json): boolean {
  if (typeof schema === 'boolean') return schema
  if (--context.work.steps < 0 || context.depth > DEPTH_MAX) return true
  const deeper = { ...context, depth: context.depth + 1 }
  const check: Check = { value, schema, fits: (inner, part) => fits(deeper, inner, part) }
  const target = typeof schema['$ref'] === 'string' ? resolve(context.root, schema['$ref']) : true
  return (
    check.fits(target ?? true, value) &&
    Object.entries(schema).every(([keyword, operand]) =>
      Object.hasOwn(KEYWORDS, keyword) ? KEYWORDS[keyword]?.(operand, check) : true,
    )
  )
}

/** The schema that a reference points to; only references into the schema itself are resolved. */
export function resolve(root: JsonObject, reference: string): Schema | undefined {
  if (!reference.startsWith('#')) return undefined
  const names = reference.slice(1).split('/').slice(1)
  let place: Json | undefined = root
  for (const name of names) {
    const key = name.replaceAll('%25', '%').replaceAll('~1', '/').replaceAll('~0', '~')
    const inside: unknown = place
    place = isArray(inside)
      ? inside[Number(key)]
      : isObject(inside) && Object.hasOwn(inside, key)
        ? inside[key]
        : undefined
  }
  return isSchema(place) ? place : undefined
}

type Check = {
  readonly value: Json
  readonly schema: JsonObject
  readonly fits: (schema: Schema, value: Json) => boolean
}
type Keyword = (operand: Json | undefined, check: Check) => boolean

const KEYWORDS: Readonly<Record<string, Keyword>> = {
  type: (types, { value }) =>
    (isArray(types) ? types : [types]).some(
      (type) => typeof type === 'string' && isOf(type, value),
    ),
  const: (constant, { value }) => same(constant ?? null, value),
  enum: (options, { value }) => !isArray(options) || formsOf(options).has(canonical(value)),

  allOf: (all, check) => schemasOf(all).every((schema) => check.fits(schema, check.value)),
  anyOf: (any, check) => matches(any, check) > 0,
  oneOf: (one, check) => matches(one, check) === 1,
  not: (no, check) => !isSchema(no) || !check.fits(no, check.value),
  if: (condition, check) => {
    if (!isSchema(condition)) return true
    const branch = check.schema[check.fits(condition, check.value) ? 'then' : 'else']
    return !isSchema(branch) || check.fits(branch, check.value)
  },

  minimum: bound((value, least) => value >= least),
  maximum: bound((value, most) => value <= most),
  exclusiveMinimum: bound((value, below) => value > below),
  exclusiveMaximum: bound((value, above) => value < above),
  multipleOf: bound((value, step) => step <= 0 || isWhole(value / step)),
  minLength: (least, { value }) => typeof value !== 'string' || lengthOf(value) >= count(least, 0),
  maxLength: (most, { value }) =>
    typeof value !== 'string' || lengthOf(value) <= count(most, Infinity),

  required: (names, { value }) =>
    !isObject(value) ||
    !isArray(names) ||
    names.every((name) => Object.hasOwn(value, String(name))),
  properties: (properties, check) =>
    !isObject(check.value) ||
    !isObject(properties) ||
    Object.entries(check.value).every(([name, part]) => {
      const schema = Object.hasOwn(properties, name) ? properties[name] : true
      return !isSchema(schema) || check.fits(schema, part ?? null)
    }),
  additionalProperties: (schema, check) => {
    if (!isObject(check.value) || !isSchema(schema)) return true
    // Patterns are not tested, so any name may be covered by one.
    if (isObject(check.schema['patternProperties'])) return true
    const { properties } = check.schema
    return Object.entries(check.value).every(
      ([name, part]) =>
        (isObject(properties) && Object.hasOwn(properties, name)) ||
        check.fits(schema, part ?? null),
    )
  },
  propertyNames: (schema, { value, fits: fitsPart }) =>
    !isObject(value) ||
    !isSchema(schema) ||
    Object.keys(value).every((name) => fitsPart(schema, name)),
  minProperties: (least, { value }) =>
    !isObject(value) || Object.keys(value).length >= count(least, 0),
  maxProperties: (most, { value }) =>
    !isObject(value) || Object.keys(value).length <= count(most, Infinity),
  dependentRequired: (table, { value }) =>
    !isObject(value) ||
    !isObject(table) ||
    Object.entries(table).every(
      ([name, needed]) =>
        !Object.hasOwn(value, name) ||
        !isArray(needed) ||
        needed.every((other) => Object.hasOwn(value, String(other))),
    ),

  prefixItems: (_, check) => fitItems(check),
  items: (_, check) => fitItems(check),
  additionalItems: (_, check) => fitItems(check),
  minItems: (least, { value }) => !isArray(value) || value.length >= count(least, 0),
  maxItems: (most, { value }) => !isArray(value) || value.length <= count(most, Infinity),
  uniqueItems: (unique, { value }) =>
    unique !== true ||
    !isArray(value) ||
    new Set(value.map((item) => canonical(item))).size === value.length,
  contains: (schema, check) => {
    if (!isArray(check.value) || !isSchema(schema)) return true
    const found = check.value.filter((item) => check.fits(schema, item)).length
    const { minContains, maxContains } = check.schema
    return found >= count(minContains, 1) && found <= count(maxContains, Infinity)
  },
}

function fitItems({ value, schema, fits: fitsPart }: Check): boolean {
  const { leading, rest } = itemSchemas(schema)
  return !isArray(value) || value.every((item, index) => fitsPart(leading[index] ?? rest, item))
}

/** The schemas of the first items, one each, and of all others. Before 2020 `items` was the list of the first. */
export function itemSchemas(schema: JsonObject): {
  readonly leading: readonly Schema[]
  readonly rest: Schema
} {
  const { prefixItems, items, additionalItems } = schema
  const [leading, rest] = isArray(items) ? [items, additionalItems] : [prefixItems, items]
  return { leading: schemasOf(leading), rest: isSchema(rest) ? rest : true }
}

export function count(value: unknown, otherwise: number): number {
  return numberOf(value) ?? otherwise
}

/** The same text for equal values, whatever the order of their members. */
export function canonical(value: Json | undefined): string {
  if (!isArray(value) && !isObject(value)) return JSON.stringify(value ?? null)
  const known = FORMS.get(value)
  if (known !== undefined) return known
  const form = isArray(value) ? `[${value.map(canonical).join()}]` : canonicalObject(value)
  FORMS.set(value, form)
  return form
}

/** Values in a schema are compared again and again, and may be large. */
const FORMS = new WeakMap<object, string>()

function canonicalObject(value: JsonObject): string {
  const members = Object.entries(value).map(
    ([name, part]) => `${JSON.stringify(name)}:${canonical(part)}`,
  )
  return `{${members.toSorted().join()}}`
}

/** The forms of all values in a list, which may be long. */
function formsOf(options: readonly Json[]): ReadonlySet<string> {
  const known = OPTION_FORMS.get(options)
  if (known !== undefined) return known
  const forms = new Set(options.map(canonical))
  OPTION_FORMS.set(options, forms)
  return forms
}

const OPTION_FORMS = new WeakMap<readonly Json[], ReadonlySet<string>>()

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

function same(one: Json, other: Json): boolean {
  return canonical(one) === canonical(other)
}

function matches(options: Json | undefined, { value, fits: fitsPart }: Check): number {
  return schemasOf(options).filter((schema) => fitsPart(schema, value)).length
}

function bound(holds: (value: number, limit: number) => boolean): Keyword {
  return (limit, { value }) =>
    typeof value !== 'number' || typeof limit !== 'number' || holds(value, limit)
}

/** Dividing decimal fractions leaves a rounding error. */
function isWhole(quotient: number): boolean {
  return Math.abs(quotient - Math.round(quotient)) <= 1e-9 * Math.max(1, Math.abs(quotient))
}

/** JSON schema counts characters, not UTF-16 units. */
function lengthOf(text: string): number {
  return [...text].length
}
