// JSON schemas as providers of the messages and converse formats can enforce them: closed objects, anyOf instead of
// oneOf, and every unsupported keyword moved to the description, where at least the model reads it.
import type { Json, JsonObject } from '../core/json.ts'
import { isArray, isObject } from '../core/json.ts'
import type { OutputFormat } from '../core/request.ts'

export function adaptSchema(schema: JsonObject): JsonObject {
  const adapted: Record<string, Json | undefined> = {}
  const told: string[] = []
  for (const [name, value] of Object.entries(schema)) {
    if (value === undefined) continue
    if (name === 'oneOf' && schema['anyOf'] === undefined)
      adapted['anyOf'] = adaptMember('anyOf', value)
    else if (name === 'additionalProperties') {
      if (value !== false) told.push(`additionalProperties: ${JSON.stringify(value)}`)
    } else if (isEnforced(name, value)) adapted[name] = adaptMember(name, value)
    else told.push(`${name}: ${JSON.stringify(value)}`)
  }
  if (isObjectSchema(schema)) adapted['additionalProperties'] = false
  if (told.length > 0) adapted['description'] = describe(schema['description'], told)
  return adapted
}

/** The schema with the client's description of it, for formats that have no other place for that. */
export function describedSchema({ schema, description }: SchemaFormat): JsonObject {
  if (description === undefined) return schema
  const own = schema['description']
  const both = typeof own === 'string' && own !== '' ? `${description}\n\n${own}` : description
  return { ...schema, description: both }
}

type SchemaFormat = Extract<OutputFormat, { readonly type: 'json-schema' }>

const UNKNOWN_KEYWORDS: ReadonlySet<string> = new Set([
  // Only beside anyOf; otherwise it becomes anyOf.
  'oneOf',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
  'maxItems',
  'uniqueItems',
  'contains',
  'minContains',
  'maxContains',
  'minProperties',
  'maxProperties',
  'patternProperties',
  'propertyNames',
  'dependentRequired',
  'dependentSchemas',
  'unevaluatedProperties',
  'unevaluatedItems',
  'not',
  'if',
  'then',
  'else',
])

const KNOWN_FORMATS: readonly Json[] = [
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'uri',
  'ipv4',
  'ipv6',
  'uuid',
]

function isEnforced(name: string, value: Json): boolean {
  if (name === 'format') return KNOWN_FORMATS.includes(value)
  if (name === 'minItems') return value === 0 || value === 1
  return !UNKNOWN_KEYWORDS.has(name)
}

/** Schemas occur in lists, in maps by name, or alone; everything else is a plain value. */
function adaptMember(name: string, value: Json): Json {
  switch (name) {
    case 'anyOf':
    case 'allOf':
    case 'prefixItems':
      return isArray(value) ? value.map(adaptEach) : value
    case 'properties':
    case '$defs':
    case 'definitions':
      return isObject(value)
        ? Object.fromEntries(
            Object.entries(value).map(([key, each]) => [key, each && adaptEach(each)]),
          )
        : value
    case 'items':
      return isArray(value) ? value.map(adaptEach) : adaptEach(value)
    default:
      return value
  }
}

function adaptEach(schema: Json): Json {
  return isObject(schema) ? adaptSchema(schema) : schema
}

function isObjectSchema({ type, properties }: JsonObject): boolean {
  return type === 'object' || (isArray(type) && type.includes('object')) || isObject(properties)
}

function describe(description: Json | undefined, told: readonly string[]): string {
  const rules = `{${told.join(', ')}}`
  return typeof description === 'string' && description !== ''
    ? `${description}\n\n${rules}`
    : rules
}
