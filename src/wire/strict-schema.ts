// Schemas that OpenAI can bind a model to (`strict`): closed objects without optional properties, in the keywords that
// its API lists. It refuses a strict request with any other schema.
import type { Json, JsonObject } from '../core/json.ts'
import { isArray, isObject, listOf, objectOf } from '../core/json.ts'

export function canBeStrict(schema: JsonObject): boolean {
  return schema['type'] === 'object' && isStrict(schema, 0)
}

const NESTING_MAX = 10

function isStrict(schema: Json | undefined, depth: number): boolean {
  if (!isObject(schema) || depth > NESTING_MAX) return false
  // Nothing may stand beside a reference.
  if ('$ref' in schema) return Object.keys(schema).length === 1
  return (
    isTyped(schema) &&
    isClosed(schema) &&
    Object.entries(schema).every(([name, value]) => isListed(name, value)) &&
    partsOf(schema).every((part) => isStrict(part, depth + 1))
  )
}

function isTyped({ type, anyOf }: JsonObject): boolean {
  return type !== undefined || isArray(anyOf)
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
    ...['properties', '$defs', 'definitions'].flatMap((name) =>
      Object.values(objectOf(schema[name])),
    ),
  ]
}

function isOfType({ type }: JsonObject, name: string): boolean {
  return type === name || listOf(type).includes(name)
}

function isListed(name: string, value: Json | undefined): boolean {
  return name === 'format' ? FORMATS.has(value) : KEYWORDS.has(name)
}

const KEYWORDS: ReadonlySet<string> = new Set([
  'type',
  'title',
  'description',
  'enum',
  'const',
  'anyOf',
  '$defs',
  'definitions',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'minItems',
  'maxItems',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'pattern',
])

const FORMATS: ReadonlySet<Json | undefined> = new Set([
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uuid',
])
