// Reads a client's JSON strictly: what is not as it must be is a 400 that names its place
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

  get<Value>(name: string, expected: Expect<Value>): Value {
    return expected(this.value[name], this.at(name))
  }

  /** The same for a member that may be left out. */
  optional<Value>(name: string, expected: Expect<Value>): Value | undefined {
    const value = this.value[name]
    return isGiven(value) ? expected(value, this.at(name)) : undefined
  }
}

/** A value that may be left out. */
export function optional<Value>(
  value: unknown,
  place: string,
  expected: Expect<Value>,
): Value | undefined {
  return isGiven(value) ? expected(value, place) : undefined
}

/** What may stand somewhere. Each returns the value in its type, or throws. */
export const expect = {
  text: expecting((value) => typeof value === 'string', 'a string'),
  name: expecting(
    (value): value is string => typeof value === 'string' && value !== '',
    'a non-empty string',
  ),
  boolean: expecting((value) => typeof value === 'boolean', 'true or false'),
  number: expecting((value): value is number => Number.isFinite(value), 'a number'),
  integer: expecting(isWhole, 'a whole number'),
  count: expecting(
    (value): value is number => isWhole(value) && value >= 0,
    'a whole number of at least 0',
  ),
  positive: expecting(
    (value): value is number => isWhole(value) && value > 0,
    'a whole number of at least 1',
  ),
  object: expecting(isObject, 'an object'),

  /** A text that counts as left out when it is empty. */
  textIfAny: (value: unknown, place: string): string | undefined =>
    expect.text(value, place) || undefined,

  placed: (value: unknown, place: string): Placed => new Placed(expect.object(value, place), place),

  /** A list of objects. */
  placedList: (value: unknown, place: string): readonly Placed[] =>
    expectList(value, place).map((entry, index) => expect.placed(entry, `${place}[${index}]`)),

  texts: (value: unknown, place: string): readonly string[] =>
    expectList(value, place).map((entry, index) => expect.text(entry, `${place}[${index}]`)),

  /** An object whose values are all of one kind: labels, biases. */
  map:
    <Value>(expected: Expect<Value>): Expect<Readonly<Record<string, Value>>> =>
    (value, place) => {
      const entries = Object.entries(expect.object(value, place))
      return Object.fromEntries(
        entries.map(([name, each]) => [name, expected(each, `${place}.${name}`)]),
      )
    },

  /** One word of a closed list. */
  oneOf:
    <Word extends string>(words: readonly Word[]): Expect<Word> =>
    (value, place) => {
      const word = words.find((each) => each === value)
      if (word !== undefined) return word
      throw invalidRequest(place, `${place} must be one of ${words.join(', ')}`)
    },
}

function expecting<Value>(
  isExpected: (value: unknown) => value is Value,
  what: string,
): Expect<Value> {
  return (value, place) => {
    if (isExpected(value)) return value
    throw invalidRequest(place, `${place} must be ${what}`)
  }
}

const expectList: Expect<readonly Json[]> = expecting(isArray, 'a list')

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value)
}
