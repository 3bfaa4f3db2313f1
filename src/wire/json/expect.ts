// Reads a client's JSON strictly: each function returns the value in its type or throws a 400 that names its place
// (`messages[2].content[0].text`). For what the gateway itself must understand; in passthrough the provider judges the
// rest.
import { invalidRequest } from '../../core/errors.ts'
import type { JsonObject } from '../../core/json.ts'
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

function expecting<Value>(what: string, isOne: (value: unknown) => value is Value): Expect<Value> {
  return (value, place) => {
    if (isOne(value)) return value
    throw invalidRequest(place, `${place} must be ${what}`)
  }
}

export const expectText = expecting('a string', (value) => typeof value === 'string')
export const expectName = expecting(
  'a non-empty string',
  (value): value is string => typeof value === 'string' && value !== '',
)
export const expectBoolean = expecting('true or false', (value) => typeof value === 'boolean')
export const expectNumber = expecting('a number', (value): value is number =>
  Number.isFinite(value),
)
export const expectInteger = expecting('a whole number', isWhole)
export const expectCount = expecting(
  'a whole number of at least 0',
  (value): value is number => isWhole(value) && value >= 0,
)
export const expectPositive = expecting(
  'a whole number of at least 1',
  (value): value is number => isWhole(value) && value > 0,
)
export const expectObject = expecting('an object', isObject)
const expectList = expecting('a list', isArray)

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value)
}

/** A text that counts as left out when it is empty. */
export function expectTextIfAny(value: unknown, place: string): string | undefined {
  return expectText(value, place) || undefined
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
