// The JSON schemas to which a provider can bind a model: those of the messages and converse formats once they are
// adapted, OpenAI's (`strict`) if they are as its API lists.
import type { Json, JsonObject } from '../../core/json.ts'
import { isArray, isObject, listOf, objectOf } from '../../core/json.ts'
import type { Conversation, OutputFormat } from '../../core/request.ts'

/** Closed, with anyOf for oneOf; unsupported keywords, which `moved` collects, go where the model reads them. */
export function adaptSchema(schema: JsonObject, moved = new Set<string>()): JsonObject {
  const adaptEach = (each: Json): Json => (isObject(each) ? adaptSchema(each, moved) : each)
  const adapted: Record<string, Json | undefined> = {}
  const told: string[] = []
  const tell = (name: string, value: Json): void => {
    moved.add(name)
    told.push(`${name}: ${JSON.stringify(value)}`)
  }
  for (const [name, value] of Object.entries(schema)) {
    if (value === undefined) continue
    if (name === 'oneOf' && schema['anyOf'] === undefined)
      adapted['anyOf'] = adaptMember('anyOf', value, adaptEach)
    else if (name === 'additionalProperties') {
      if (value !== false) tell(name, value)
    } else if (isEnforced(name, value)) adapted[name] = adaptMember(name, value, adaptEach)
    else tell(name, value)
  }
  if (isOfType(schema, 'object') || isObject(schema['properties'])) {
    adapted['additionalProperties'] = false
  }
  if (told.length > 0) {
    adapted['description'] = paragraphs(schema['description'], `{${told.join(', ')}}`)
  }
  return adapted
}

/** The keywords of a schema to which a provider of these formats cannot bind a model. */
export function unenforcedIn(schema: JsonObject): readonly string[] {
  const moved = new Set<string>()
  adaptSchema(schema, moved)
  return [...moved]
}

/** The same for the schema that an answer must have. */
export function unenforcedInAnswer({ outputFormat }: Conversation): readonly string[] {
  return outputFormat?.type === 'json-schema' ? unenforcedIn(outputFormat.schema) : []
}

/** The schema with the client's description of it, for formats that have no other place for that. */
export function describedSchema({ schema, description }: SchemaFormat): JsonObject {
  if (description === undefined) return schema
  return { ...schema, description: paragraphs(description, schema['description']) }
}

type SchemaFormat = Extract<OutputFormat, { readonly type: 'json-schema' }>

/** `oneOf` only beside anyOf; otherwise it becomes anyOf. */
const UNENFORCED: ReadonlySet<string> = new Set(
  (
    'oneOf not if then else minimum maximum exclusiveMinimum exclusiveMaximum multipleOf ' +
    'minLength maxLength pattern maxItems uniqueItems contains minContains maxContains unevaluatedItems ' +
    'minProperties maxProperties patternProperties propertyNames dependentRequired dependentSchemas ' +
    'unevaluatedProperties'
  ).split(' '),
)

/** The formats of texts that both kinds of providers enforce. */
const FORMATS: ReadonlySet<Json | undefined> = new Set(
  'date-time time date duration email hostname ipv4 ipv6 uuid'.split(' '),
)

function isEnforced(name: string, value: Json): boolean {
  if (name === 'format') return value === 'uri' || FORMATS.has(value)
  if (name === 'minItems') return value === 0 || value === 1
  return !UNENFORCED.has(name)
}

/** Where schemas are inside a schema: in lists, or in maps by name; `items` is a list, or one schema. */
const LISTS: readonly string[] = ['anyOf', 'allOf', 'prefixItems', 'items']
const MAPS: readonly string[] = ['properties', '$defs', 'definitions']

function adaptMember(name: string, value: Json, adaptEach: (schema: Json) => Json): Json {
  if (isArray(value)) return LISTS.includes(name) ? value.map(adaptEach) : value
  if (name === 'items') return adaptEach(value)
  if (!isObject(value) || !MAPS.includes(name)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, each && adaptEach(each)]),
  )
}

function paragraphs(...texts: readonly unknown[]): string {
  return texts.filter((text) => typeof text === 'string' && text !== '').join('\n\n')
}

/** Whether OpenAI can bind a model to it: closed, nothing optional, in listed keywords. It refuses any other. */
export function canBeStrict(schema: JsonObject): boolean {
  return schema['type'] === 'object' && isStrict(schema, 0)
}

const NESTING_MAX = 10

function isStrict(schema: Json | undefined, depth: number): boolean {
  if (!isObject(schema) || depth > NESTING_MAX) return false
  // Nothing may stand beside a reference.
  if ('$ref' in schema) return Object.keys(schema).length === 1
  return (
    (schema['type'] !== undefined || isArray(schema['anyOf'])) &&
    isClosed(schema) &&
    Object.entries(schema).every(([name, value]) =>
      name === 'format' ? FORMATS.has(value) : KEYWORDS.has(name),
    ) &&
    partsOf(schema).every((part) => isStrict(part, depth + 1))
  )
}

function isClosed(schema: JsonObject): boolean {
  if (!isOfType(schema, 'object')) return true
  if (schema['additionalProperties'] !== false || !isObject(schema['properties'])) return false
  const required = new Set(listOf(schema['required']))
  return Object.keys(schema['properties']).every((name) => required.has(name))
}

function partsOf(schema: JsonObject): readonly (Json | undefined)[] {
  return [
    ...(isOfType(schema, 'array') ? [schema['items']] : []),
    ...listOf(schema['anyOf']),
    ...MAPS.flatMap((name) => Object.values(objectOf(schema[name]))),
  ]
}

function isOfType({ type }: JsonObject, name: string): boolean {
  return type === name || listOf(type).includes(name)
}

const KEYWORDS: ReadonlySet<string> = new Set(
  (
    'type title description enum const anyOf $defs definitions properties required additionalProperties ' +
    'items minItems maxItems minimum maximum exclusiveMinimum exclusiveMaximum multipleOf pattern'
  ).split(' '),
)
