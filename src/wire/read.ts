// The fields of a request as the types they must have, for decoders: absent and null are undefined, any other type is
// a 400 that names the field by its place, like `messages[2].content[0].text`.
import { invalidRequest } from '../core/errors.ts'
import type { Json, JsonObject } from '../core/json.ts'
import { isArray, isObject } from '../core/json.ts'

/** An object in a request and where it stands; the path of the body itself is ''. */
export type Fields = { readonly values: JsonObject; readonly path: string }

export function fieldsOf(value: Json | undefined, path: string): Fields {
  if (!isObject(value)) throw invalidRequest(path, `${path} must be an object`)
  return { values: value, path }
}

export function placeOf(fields: Fields, name: string): string {
  return fields.path === '' ? name : `${fields.path}.${name}`
}

export function optionalString(fields: Fields, name: string): string | undefined {
  const value = fields.values[name] ?? undefined
  if (value === undefined || typeof value === 'string') return value
  throw mistyped(fields, name, 'a string')
}

export function requiredString(fields: Fields, name: string): string {
  const value = optionalString(fields, name)
  if (value === undefined) throw mistyped(fields, name, 'a string')
  return value
}

export function optionalNumber(fields: Fields, name: string): number | undefined {
  const value = fields.values[name] ?? undefined
  if (value === undefined || typeof value === 'number') return value
  throw mistyped(fields, name, 'a number')
}

export function optionalBoolean(fields: Fields, name: string): boolean | undefined {
  const value = fields.values[name] ?? undefined
  if (value === undefined || typeof value === 'boolean') return value
  throw mistyped(fields, name, 'true or false')
}

export function optionalList(fields: Fields, name: string): readonly Json[] | undefined {
  const value = fields.values[name] ?? undefined
  if (value === undefined || isArray(value)) return value
  throw mistyped(fields, name, 'a list')
}

export function optionalStrings(fields: Fields, name: string): readonly string[] | undefined {
  const list = optionalList(fields, name)
  if (list?.some((each) => typeof each !== 'string')) {
    throw mistyped(fields, name, 'a list of strings')
  }
  return list as readonly string[] | undefined
}

export function optionalObject(fields: Fields, name: string): Fields | undefined {
  const value = fields.values[name] ?? undefined
  return value === undefined ? undefined : fieldsOf(value, placeOf(fields, name))
}

function mistyped(fields: Fields, name: string, what: string): Error {
  const place = placeOf(fields, name)
  return invalidRequest(place, `${place} must be ${what}`)
}
