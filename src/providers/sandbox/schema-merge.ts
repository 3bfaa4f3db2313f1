// Merges two JSON schemas that must both hold, so that a value can be made for them. Where they cannot be joined
// exactly, the first one wins; the value is checked against both afterwards.
import type { Json, JsonObject } from '../../core/json.ts'
import { isArray, isObject, numberOf } from '../../core/json.ts'
import { canonical } from './schema-check.ts'

export function merged(one: JsonObject, other: JsonObject): JsonObject {
  const both: Record<string, Json | undefined> = { ...one }
  for (const [keyword, operand] of Object.entries(other)) {
    const present = Object.hasOwn(both, keyword) ? both[keyword] : undefined
    both[keyword] =
      present === undefined || operand === undefined
        ? (present ?? operand)
        : (JOINS.get(keyword)?.(present, operand) ?? present)
  }
  return both
}

type Join = (one: Json, other: Json) => Json | undefined

/** A Map, because a keyword may be any word, even one that every JavaScript object has. */
const JOINS: ReadonlyMap<string, Join> = new Map(
  Object.entries<Join>({
    type: joinTypes,
    enum: (one, other) => {
      if (!isArray(one) || !isArray(other)) return undefined
      const allowed = new Set(other.map(canonical))
      return one.filter((option) => allowed.has(canonical(option)))
    },
    required: (one, other) => (isArray(one) && isArray(other) ? [...one, ...other] : undefined),
    properties: joinProperties,
    items: bothHold,
    contains: bothHold,
    additionalProperties: bothHold,
    propertyNames: bothHold,
    not: (one, other) => ({ anyOf: [one, other] }),
    dependentRequired: (one, other) =>
      isObject(one) && isObject(other) ? { ...one, ...other } : undefined,
    minimum: larger,
    exclusiveMinimum: larger,
    minLength: larger,
    minItems: larger,
    minProperties: larger,
    maximum: smaller,
    exclusiveMaximum: smaller,
    maxLength: smaller,
    maxItems: smaller,
    maxProperties: smaller,
    multipleOf: (one, other) => {
      const [first, second] = [numberOf(one), numberOf(other)]
      return first === undefined || second === undefined ? undefined : commonMultiple(first, second)
    },
  }),
)

/** The types in both. Every integer is a number. */
function joinTypes(one: Json, other: Json): Json {
  const [first, second] = [isArray(one) ? one : [one], isArray(other) ? other : [other]]
  return [
    ...first.filter(
      (type) => second.includes(type) || (type === 'integer' && second.includes('number')),
    ),
    ...second.filter(
      (type) => type === 'integer' && first.includes('number') && !first.includes(type),
    ),
  ]
}

function joinProperties(one: Json, other: Json): Json | undefined {
  if (!isObject(one) || !isObject(other)) return undefined
  const names = new Set([...Object.keys(one), ...Object.keys(other)])
  return Object.fromEntries(
    [...names].map((name) => {
      const parts = [one, other].flatMap((part) => (Object.hasOwn(part, name) ? [part[name]] : []))
      return [name, parts.length === 1 ? parts[0] : { allOf: parts.map((part) => part ?? true) }]
    }),
  )
}

function bothHold(one: Json, other: Json): Json {
  return { allOf: [one, other] }
}

function larger(one: Json, other: Json): Json | undefined {
  return typeof one === 'number' && typeof other === 'number' ? Math.max(one, other) : undefined
}

function smaller(one: Json, other: Json): Json | undefined {
  return typeof one === 'number' && typeof other === 'number' ? Math.min(one, other) : undefined
}

/** The least common multiple of integers; for fractions, the larger one as a guess. */
function commonMultiple(one: number, other: number): number {
  if (!Number.isInteger(one) || !Number.isInteger(other) || one <= 0 || other <= 0) {
    return Math.max(one, other)
  }
  let [dividend, divisor] = [one, other]
  while (divisor > 0) [dividend, divisor] = [divisor, dividend % divisor]
  return (one / dividend) * other
}
