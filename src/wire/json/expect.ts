// Reads a client's JSON strictly: each function returns the value in its type or throws a 400 that names its place
// (`messages[2].content[0].text`). For what the gateway itself must understand; in passthrough the provider judges the
// rest.
import { invalidRequest } from '../../core/errors.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { isArray, isGiven, isObject } from '../../core/json.ts'

type Expect<Value> = (value: unknown, place: string) => Value

/** An object of a client's request, and where it stands there; '' = it is the whole request. */
export class Placed {
  readonly value: JsonObject
  readonly place: string

  constructor(value: JsonObject, place = '') {
    this.value = value
    this.place = place
  }

  /** Where a member of it stands. */
  at(name: string): string {
    return this.place === '' ? name : `${this.place}.${name}`
  }

  get<Value>(name: string, expect: Expect<Value>): Value {
    return expect(this.value[name], this.at(name))
  }

  /** The same for a member that may be left out. */
  optional<Value>(name: string, expect: Expect<Value>): Value | undefined {
    return optional(this.value[name], this.at(name), expect)
  }
}

export function expectPlaced(value: unknown, place: string): Placed {
  return new Placed(expectObject(value, place), place)
}

/** A list of objects. */
export function expectPlacedList(value: unknown, place: string): readonly Placed[] {
  return expectList(value, place).map((entry, index) => expectPlaced(entry, `${place}[${index}]`))
}

/** A value that may be left out. */
export function optional<Value>(
  value: unknown,
  place: string,
  expect: Expect<Value>,
): Value | undefined {
  return isGiven(value) ? expect(value, place) : undefined
}

/** A text that counts as left out when it is empty. */
export function expectTextIfAny(value: unknown, place: string): string | undefined {
  return expectText(value, place) || undefined
}

export function expectText(value: unknown, place: string): string {
  if (typeof value === 'string') return value
  throw invalidRequest(place, `${place} must be a string`)
}

export function expectName(value: unknown, place: string): string {
  if (typeof value === 'string' && value !== '') return value
  throw invalidRequest(place, `${place} must be a non-empty string`)
}

export function expectBoolean(value: unknown, place: string): boolean {
  if (typeof value === 'boolean') return value
  throw invalidRequest(place, `${place} must be true or false`)
}

export function expectNumber(value: unknown, place: string): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value
  throw invalidRequest(place, `${place} must be a number`)
}

export function expectInteger(value: unknown, place: string): number {
  if (isWhole(value)) return value
  throw invalidRequest(place, `${place} must be a whole number`)
}

export function expectCount(value: unknown, place: string): number {
  if (isWhole(value) && value >= 0) return value
  throw invalidRequest(place, `${place} must be a whole number of at least 0`)
}

export function expectPositive(value: unknown, place: string): number {
  if (isWhole(value) && value > 0) return value
  throw invalidRequest(place, `${place} must be a whole number of at least 1`)
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value)
}

export function expectObject(value: unknown, place: string): JsonObject {
  if (isObject(value)) return value
  throw invalidRequest(place, `${place} must be an object`)
}

function expectList(value: unknown, place: string): readonly Json[] {
  if (isArray(value)) return value
  throw invalidRequest(place, `${place} must be a list`)
}

export function expectTexts(value: unknown, place: string): readonly string[] {
  return expectList(value, place).map((entry, index) => expectText(entry, `${place}[${index}]`))
}

/** An object whose values are all of one kind: labels, biases. */
export function expectMap<Value>(expect: Expect<Value>): Expect<Readonly<Record<string, Value>>> {
  return (value, place) => {
    const entries = Object.entries(expectObject(value, place))
    return Object.fromEntries(
      entries.map(([name, each]) => [name, expect(each, `${place}.${name}`)]),
    )
  }
}

/** One word of a closed list. */
export function expectOneOf<Word extends string>(words: readonly Word[]): Expect<Word> {
  return (value, place) => {
    const word = words.find((each) => each === value)
    if (word !== undefined) return word
    throw invalidRequest(place, `${place} must be one of ${words.join(', ')}`)
  }
}
