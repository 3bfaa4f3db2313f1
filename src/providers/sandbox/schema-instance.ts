// A small instance of a JSON schema, filled from the message where that fits: what is required, the first alternative
// that works, the simplest values. A library's validator then judges it by the whole schema. All work is counted, so
// that no schema takes longer than some milliseconds; what cannot be made is refused, with the reason.
import type { Schema } from '@cfworker/json-schema'
import { Validator } from '@cfworker/json-schema'

import { invalidRequest } from '../../core/errors.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { isArray, isObject, listOf, objectOf } from '../../core/json.ts'
import { OUTPUT_TOKENS_MAX } from './models.ts'
import type { Field, Hints, Parts } from './schema-values.ts'
import { largest, numberFor, smallest, textFor, wordIn } from './schema-values.ts'

/** What the schemas of one answer may cost. */
export class StepBudget {
  #steps = 45_000

  spend(steps = 1): void {
    this.#steps -= steps
    if (this.#steps < 0) throw new OutOfBounds('it is too large or too entangled')
  }
}

/** Nothing fits here; perhaps another alternative or attempt does. */
class Unfilled extends Error {}
/** Nothing more is tried. */
class OutOfBounds extends Error {}

type Filling = {
  readonly hints: Hints
  readonly budget: StepBudget
  /** What is filled, for the refusal: the parameter, and words for it. */
  readonly param: string
  readonly what: string
}

/** Each takes other values, and all but the first may put a definition into itself once. */
const ATTEMPTS = 6

/** An instance of the schema. Throws if there is none, or none that can be found with little work. */
export function instanceOf(root: JsonObject, { hints, budget, param, what }: Filling): Json {
  let why = ''
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const position = { ...TOP, root, hints, budget, size: { characters: 0 }, variant: attempt }
    try {
      const value = fill([root], { ...position, recursionsMax: Math.min(attempt, 1) })
      assertFits(value, root, budget)
      return value
    } catch (thrown) {
      if (!(thrown instanceof Unfilled || thrown instanceof OutOfBounds)) throw thrown
      why = thrown.message
      if (thrown instanceof OutOfBounds) break
    }
  }
  throw invalidRequest(param, `the sandbox cannot fill ${what}: ${why}`)
}

/** A position of the instance. */
type Position = Field & {
  readonly root: JsonObject
  readonly budget: StepBudget
  /** Of the JSON made so far. */
  readonly size: { characters: number }
  readonly path: string
  readonly depth: number
  /** The references that lead here from the root. */
  readonly references: readonly string[]
  readonly recursionsMax: number
}

const TOP = { path: '', depth: 0, name: undefined, rank: 0, references: ['#'] }
const DEPTH_MAX = 100
/** As long as an answer can be. */
const CHARACTERS_MAX = OUTPUT_TOKENS_MAX * 4
/** Items that must differ are compared with each other. */
const ITEMS_MAX = 500

function unfilled(path: string, why: string): Unfilled {
  return new Unfilled(path === '' ? why : `at ${short(path)}, ${why}`)
}

function short(text: string): string {
  return text.length <= 100 ? text : `${text.slice(0, 100).toWellFormed()}…`
}

function write({ budget, size }: Position, characters: number): void {
  budget.spend()
  size.characters += characters
  if (size.characters > CHARACTERS_MAX) {
    throw new OutOfBounds('what fits it is longer than an answer can be')
  }
}

/** A value for schemas that must all hold, with the first of their alternatives that works. */
function fill(schemas: readonly Json[], outer: Position): Json {
  const { parts, groups, position } = takenApart(schemas, outer)
  const [group, ...others] = groups
  if (group === undefined) return valueFor(parts, position)
  return firstOf(group, position, (option) =>
    fill([...parts, option, ...others.map((anyOf) => ({ anyOf }))], position),
  )
}

/** What the first option gives that works. */
function firstOf<Option>(
  options: readonly Option[],
  position: Position,
  make: (option: Option) => Json,
): Json {
  let failure = unfilled(position.path, 'there is no alternative')
  for (const option of options) {
    try {
      return make(option)
    } catch (thrown) {
      if (!(thrown instanceof Unfilled)) throw thrown
      failure = thrown
    }
  }
  throw failure
}

/** References followed; schemas that must all hold, apart from groups of which one must. */
function takenApart(schemas: readonly Json[], position: Position) {
  const { budget, depth } = position
  if (depth > DEPTH_MAX) throw new OutOfBounds('it is nested too deeply')
  const queue = [...schemas]
  const parts: JsonObject[] = []
  const groups: (readonly Json[])[] = []
  const followed = new Set<string>()
  // The queue grows while it is read.
  for (const schema of queue) {
    budget.spend()
    if (schema === false) throw unfilled(position.path, 'nothing is allowed')
    if (!isObject(schema)) continue
    const { $ref, allOf, anyOf, oneOf, if: condition, then, else: otherwise, ...part } = schema
    parts.push(part)
    for (const list of [allOf, anyOf, oneOf]) budget.spend(listOf(list).length)
    if (typeof $ref === 'string' && !followed.has($ref)) {
      followed.add($ref)
      queue.push(resolved($ref, position))
    }
    queue.push(...listOf(allOf))
    for (const group of [anyOf, oneOf]) if (isArray(group)) groups.push(group)
    if (condition !== undefined) {
      groups.push([{ allOf: [condition, then ?? true] }, otherwise ?? true])
    }
  }
  const references = [...position.references, ...followed]
  return { parts, groups, position: { ...position, references, depth: depth + 1 } }
}

/** What a reference points to, inside the schema itself. */
function resolved(reference: string, position: Position): Json {
  position.budget.spend(reference.length / 16)
  const rounds = position.references.filter((earlier) => earlier === reference).length
  if (rounds > position.recursionsMax)
    throw unfilled(position.path, 'it contains itself without end')
  let found: Json | undefined = /^#(?:\/|$)/.test(reference) ? position.root : undefined
  for (const step of reference.split('/').slice(1)) {
    const name = unescaped(step)
    if (isArray(found)) found = found[Number(name)]
    else found = isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined
  }
  if (found === undefined)
    throw unfilled(position.path, `$ref "${short(reference)}" points nowhere`)
  return found
}

function unescaped(step: string): string {
  const plain = step.replaceAll('~1', '/').replaceAll('~0', '~')
  return /%(?![\da-f]{2})/i.test(plain) ? plain : decodeURIComponent(plain)
}

function valueFor(parts: Parts, position: Position): Json {
  position.budget.spend(parts.length)
  const types = typesOf(parts)
  if (types.length === 0) throw unfilled(position.path, 'no type is allowed')
  const listed = parts.find((part) => part['const'] !== undefined || isArray(part['enum']))
  if (listed !== undefined) return optionOf(listed, types, position)
  return firstOf(types, position, (type) => {
    if (type === 'object') return objectFor(parts, position)
    if (type === 'array') return arrayFor(parts, position)
    const value = simpleValue(type, parts, position)
    write(position, typeof value === 'string' ? value.length + 2 : 5)
    return value
  })
}

function simpleValue(type: string, parts: Parts, position: Position): Json {
  if (type === 'null') return null
  if (type === 'boolean') return position.variant % 2 === 0
  const least = largest(parts, 'minLength', 0)
  if (type === 'string' && least > CHARACTERS_MAX) {
    throw unfilled(position.path, `no text of ${least} characters was found`)
  }
  const value = type === 'string' ? textFor(parts, position) : numberFor(parts, position, type)
  if (value !== undefined) return value
  const pattern = wordIn(parts, 'pattern')
  const wanted =
    pattern === undefined ? 'value within the bounds' : `text for the pattern ${short(pattern)}`
  throw unfilled(position.path, `no ${wanted} was found`)
}

const TYPES = ['string', 'number', 'integer', 'object', 'array', 'boolean', 'null']
/** Words that imply a type where none is named. */
const TELLING: Readonly<Record<string, readonly string[]>> = {
  object: ['properties', 'required', 'additionalProperties', 'minProperties'],
  array: ['items', 'prefixItems', 'minItems', 'contains'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
}

/** The types that all schemas allow, the likeliest first. Every integer is a number. */
function typesOf(parts: Parts): readonly string[] {
  const named = parts.flatMap(({ type }) => (type === undefined ? [] : [new Set([type].flat())]))
  const types = TYPES.filter((type) =>
    named.every((allowed) => allowed.has(type) || (type === 'integer' && allowed.has('number'))),
  )
  const implied = types.filter((type) =>
    TELLING[type]?.some((word) => parts.some((part) => part[word] !== undefined)),
  )
  return [...implied, ...types]
}

/** How many options are searched for one that the message mentions. */
const OPTIONS_READ = 200

/** A value of a list: one that the message mentions, else the first; items of a list take different ones. */
function optionOf(listed: JsonObject, types: readonly string[], position: Position): Json {
  const { hints, variant, budget } = position
  const { const: constant, enum: list } = listed
  const all = constant === undefined ? listOf(list) : [constant]
  budget.spend(all.length / 4)
  const options = all.filter((option) => types.some((type) => isOf(type, option)))
  const mentioned = options
    .slice(0, OPTIONS_READ)
    .findIndex((option) => typeof option === 'string' && hints.isMentioned(option))
  const option = options[(Math.max(0, mentioned) + variant) % options.length]
  if (option === undefined) throw unfilled(position.path, 'none of its values is allowed')
  write(position, JSON.stringify(option).length)
  return option
}

function isOf(type: string, value: Json): boolean {
  if (value === null || isArray(value)) return type === (value === null ? 'null' : 'array')
  return type === 'integer' ? Number.isInteger(value) : typeof value === type
}

function objectFor(parts: Parts, position: Position): Json {
  const { budget } = position
  const required = requiredOf(parts, budget)
  const least = largest(parts, 'minProperties', 0)
  const most = smallest(parts, 'maxProperties', Infinity)
  const members = new Map<string, Json>()
  const ranks = new Map<Json | undefined, number>()
  for (const name of namesFor(parts, required, { least, most, position })) {
    write(position, name.length + 4)
    const schemas = parts.map((part) => memberSchema(part, name))
    // Members of one type take the hints in turn, so that two texts of an object differ.
    const type = schemas.find(isObject)?.['type']
    const rank = ranks.get(type) ?? 0
    ranks.set(type, rank + 1)
    const path = position.path === '' ? short(name) : `${position.path}.${short(name)}`
    try {
      members.set(name, fill(schemas, { ...position, name, rank, path }))
    } catch (thrown) {
      if (!(thrown instanceof Unfilled) || required.has(name)) throw thrown
    }
  }
  if (members.size > most) throw unfilled(position.path, `it has room for only ${most} members`)
  return Object.fromEntries(members)
}

function requiredOf(parts: Parts, budget: StepBudget): ReadonlySet<string> {
  const names = new Set<string>()
  const add = (list: Json | undefined): void => {
    budget.spend(listOf(list).length)
    for (const name of listOf(list)) if (typeof name === 'string') names.add(name)
  }
  for (const { required } of parts) add(required)
  // Iterating a set visits names added meanwhile, so names that need other names are followed too.
  for (const name of names) for (const part of parts) add(memberOf(part['dependentRequired'], name))
  return names
}

type Room = { readonly least: number; readonly most: number; readonly position: Position }

/** Further inside, members that nobody requires would only make the instance long. */
const OPTIONAL_DEPTH_MAX = 2

/** The required members; if none is required, all known ones, because an empty object would say nothing. */
function namesFor(
  parts: Parts,
  required: ReadonlySet<string>,
  { least, most, position: { budget, depth } }: Room,
): ReadonlySet<string> {
  const wanted = required.size === 0 && depth <= OPTIONAL_DEPTH_MAX ? most : least
  const names = new Set(required)
  for (const { properties } of parts) {
    for (const name in names.size < wanted ? objectOf(properties) : {}) {
      budget.spend()
      if (names.size < wanted) names.add(name)
    }
  }
  for (let index = 1; names.size < least; index++) {
    budget.spend()
    names.add(`field${index}`)
  }
  return names
}

/** What a member must be. Patterns of names are not tested, so any name may be covered by one. */
function memberSchema(part: JsonObject, name: string): Json {
  const { properties, patternProperties, additionalProperties } = part
  const others = patternProperties === undefined ? additionalProperties : true
  return memberOf(properties, name) ?? others ?? true
}

function memberOf(map: Json | undefined, name: string): Json | undefined {
  return isObject(map) && Object.hasOwn(map, name) ? map[name] : undefined
}

/** How many further values are tried for an item that must differ from the others. */
const REPEATS_MAX = 32

function arrayFor(parts: Parts, position: Position): Json {
  // Before 2020 `items` was the list of the first.
  const shapes = parts.map(({ prefixItems, items, additionalItems }) =>
    isArray(items)
      ? { leading: items, rest: additionalItems }
      : { leading: listOf(prefixItems), rest: items },
  )
  const leading = Math.max(0, ...shapes.map((shape) => shape.leading.length))
  const least = largest(parts, 'minItems', 0)
  const most = smallest(parts, 'maxItems', Infinity)
  const length = Math.min(Math.max(least, leading, 1), most)
  if (length < least) throw unfilled(position.path, 'it has room for too few items')
  if (length > ITEMS_MAX) throw unfilled(position.path, `${length} items are more than are made`)
  const isUnique = parts.some(({ uniqueItems }) => uniqueItems === true)
  const items = new Map<string, Json>()
  for (let index = 0; index < length; index++) {
    write(position, 1)
    const schemas = shapes.map((shape) => shape.leading[index] ?? shape.rest ?? true)
    const item = { ...position, name: undefined, rank: 0, path: `${position.path}[${index}]` }
    try {
      for (let repeat = 0; items.size === index && repeat <= REPEATS_MAX; repeat++) {
        const value = fill(schemas, { ...item, variant: position.variant + index + repeat })
        items.set(isUnique ? JSON.stringify(value) : String(index), value)
      }
    } catch (thrown) {
      if (!(thrown instanceof Unfilled) || index < least) throw thrown
      break
    }
    if (items.size === index)
      throw unfilled(position.path, `no ${length} different items were found`)
  }
  return [...items.values()]
}

/** What the generator did not look at, such as `not` or exactly one of several, may still refuse the value. */
function assertFits(value: Json, root: JsonObject, budget: StepBudget): void {
  let violation
  try {
    const schema = metered(root, 'schema', budget) as Schema
    violation = new Validator(schema, '2020-12').validate(value).errors.at(-1)
  } catch (thrown) {
    if (thrown instanceof OutOfBounds) throw thrown
    throw new OutOfBounds('it is no JSON schema that can be checked', { cause: thrown })
  }
  if (violation === undefined) return
  const path = violation.instanceLocation.slice(2).replaceAll('/', '.')
  throw unfilled(path, `what was tried breaks "${violation.keyword}"`)
}

/** What stands in a schema: a schema or several, schemas by name, or any JSON. */
type Content = 'schema' | 'map' | 'value'
const CONTENTS: ReadonlyMap<string | symbol, Content> = new Map([
  ['properties', 'map'],
  ['$defs', 'map'],
  ['definitions', 'map'],
  ['dependentSchemas', 'map'],
  ['dependentRequired', 'map'],
  ['const', 'value'],
  ['enum', 'value'],
])
/** A client's pattern could keep a regular expression busy for hours. Formats are made right, and ids not followed. */
const HIDDEN: ReadonlySet<string | symbol> = new Set(
  'pattern patternProperties format $id id $anchor $recursiveRef'.split(' '),
)
/** The validator reads some forty members of each schema. */
const STEPS_PER_READING = 0.2

/** The schema as the validator sees it. Each reading is charged, so that its work ends when the budget does. */
function metered(target: object, content: Content, budget: StepBudget): object {
  return new Proxy(target, {
    get(object, name) {
      budget.spend(STEPS_PER_READING)
      if (content === 'schema' && isHidden(object, name)) return undefined
      const value: unknown = Reflect.get(object, name)
      if (typeof value !== 'object' || value === null) return value
      const inner = content === 'schema' ? (CONTENTS.get(name) ?? 'schema') : content
      return metered(value, content === 'map' ? 'schema' : inner, budget)
    },
    ownKeys(object) {
      const names = Reflect.ownKeys(object)
      budget.spend(names.length)
      return names
    },
  })
}

/** With patterns of names, any name may be an allowed one. */
function isHidden(schema: object, name: string | symbol): boolean {
  return (
    HIDDEN.has(name) ||
    (name === 'additionalProperties' && Object.hasOwn(schema, 'patternProperties'))
  )
}
