// JSON as a type, and the few questions that decoders ask of it. Lenient by design: what is not there is undefined.
import { isModest } from './json-limits.ts'

export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export type JsonObject = { readonly [name: string]: Json | undefined }

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isArray(value: unknown): value is readonly Json[] {
  return Array.isArray(value)
}

export function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

export function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

/** The object in a JSON text; undefined if it is something else, not JSON, or larger inside than real JSON. */
export function parseObject(text: string, depthMax?: number): JsonObject | undefined {
  if (!isModest(text, depthMax)) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** The members of an object; none when it is something else. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

/** The entries of a list; none when it is something else. */
export function listOf(value: unknown): readonly Json[] {
  return isArray(value) ? value : []
}

/** An object's `type`; '' if it has none. */
export function typeOf(value: JsonObject): string {
  return stringOf(value['type']) ?? ''
}

/** Whether a member is set: both SDK families write null for what they leave out. */
export function isGiven<Value>(value: Value): value is NonNullable<Value> {
  return value !== undefined && value !== null
}

/** The object without the members that are undefined, as exact optional types require. */
export function defined<T extends object>(object: T): Defined<T> {
  return Object.fromEntries(
    Object.entries(object).filter(([, value]) => value !== undefined),
  ) as Defined<T>
}

type Defined<T> = {
  [Name in keyof T as undefined extends T[Name] ? never : Name]: T[Name]
} & {
  [Name in keyof T as undefined extends T[Name] ? Name : never]?: Exclude<T[Name], undefined>
}
