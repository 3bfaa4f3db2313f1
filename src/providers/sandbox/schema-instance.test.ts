// Instances of schemas: hand-picked corner cases, generated schemas against the test's own checker, and schemas that
// are refused: those that nothing fits, and those that were made to be slow.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { processorMs } from '../../../test/samples/processor-time.ts'
import { GatewayError } from '../../core/errors.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { instanceOf, StepBudget } from './schema-instance.ts'
import type { Hints } from './schema-values.ts'
import { readHints } from './schema-values.ts'

const NODE: JsonObject = {
  $ref: '#/$defs/node',
  $defs: {
    node: {
      type: 'object',
      properties: {
        value: { type: 'string' },
        next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] },
      },
      required: ['value', 'next'],
      additionalProperties: false,
    },
  },
}

describe('corner cases', () => {
  const schemas: Record<string, JsonObject> = {
    'nothing said': {},
    'a const': { const: { a: [1, null] } },
    'an enum that another word narrows': { enum: [1, 'a', null], type: 'string' },
    'one of several types': { type: ['integer', 'null'], minimum: 5 },
    'all properties when none is required': object({ a: { type: 'string' }, b: { type: 'null' } }),
    'required but not described': {
      type: 'object',
      required: ['x'],
      additionalProperties: { type: 'integer' },
    },
    'more properties than known': {
      type: 'object',
      minProperties: 3,
      properties: { a: { type: 'null' } },
    },
    'a property that needs another': {
      type: 'object',
      properties: { a: { const: 1 }, b: { const: 2 } },
      required: ['a'],
      dependentRequired: { a: ['b'] },
    },
    '__proto__ as a name': object({ ['__proto__']: { type: 'string' } }, ['__proto__']),
    'a name that inherits': object({ toString: { type: 'string' } }, ['toString']),
    'a tuple': {
      type: 'array',
      prefixItems: [{ const: 1 }, { type: 'string' }],
      items: false,
      minItems: 2,
    },
    'a tuple as it was written before 2020': {
      type: 'array',
      items: [{ const: 1 }, { type: 'string' }],
      additionalItems: false,
      minItems: 2,
    },
    'different items': {
      type: 'array',
      items: { type: 'string', maxLength: 3 },
      minItems: 9,
      uniqueItems: true,
    },
    'different booleans': {
      type: 'array',
      items: { type: 'boolean' },
      minItems: 2,
      uniqueItems: true,
    },
    'different objects': {
      type: 'array',
      items: object({ id: { type: 'integer' } }, ['id']),
      minItems: 5,
      uniqueItems: true,
    },
    'no items allowed': { type: 'array', maxItems: 0, items: { type: 'string' } },
    'a fraction in a narrow range': { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 },
    'a fraction below zero': { type: 'number', exclusiveMaximum: -0.5, minimum: -0.6 },
    cents: { type: 'number', multipleOf: 0.01, minimum: 0.07 },
    'an integer of odd steps': { type: 'integer', multipleOf: 2.5, minimum: 1 },
    'two steps at once': {
      type: 'integer',
      allOf: [{ multipleOf: 4 }, { multipleOf: 6 }],
      minimum: 1,
    },
    'a long text': { type: 'string', minLength: 500 },
    'a short text': { type: 'string', maxLength: 1 },
    'an empty text': { type: 'string', maxLength: 0 },
    'a pattern': { type: 'string', pattern: '^[A-Z]{3}-\\d{4}(?:-x|-y)$' },
    'a pattern of an address': { type: 'string', pattern: '^[^@]+@[\\w.-]+\\.com$' },
    'a pattern that cannot be read, with an example': {
      type: 'string',
      pattern: '^(?:a(?=b)b)+$',
      examples: ['abab'],
    },
    'a pattern and a length': { type: 'string', pattern: '^(ab)+$', minLength: 9 },
    'a member whose name only a pattern allows': {
      type: 'object',
      patternProperties: { '^x-': { type: 'string' } },
      additionalProperties: false,
      required: ['x-id'],
    },
    'members that are named like keywords': object(
      { pattern: { const: { pattern: 1 } }, format: { enum: ['a'] }, $id: { type: 'null' } },
      ['pattern', 'format', '$id'],
    ),
    'different matches': {
      type: 'array',
      items: { type: 'string', pattern: '^[a-z]{2}$' },
      minItems: 30,
      uniqueItems: true,
    },
    'exactly one of two': { oneOf: [{ type: 'integer' }, { type: 'number', minimum: 10 }] },
    'parts of an object': {
      allOf: [object({ a: { type: 'string' } }, ['a']), object({ b: { type: 'integer' } }, ['b'])],
    },
    'alternatives beside properties': {
      ...object({ kind: { type: 'string' } }, ['kind']),
      anyOf: [object({ kind: { const: 'a' } }), object({ kind: { const: 'b' } })],
    },
    'not that': { type: 'integer', not: { enum: [1, 2, 3] } },
    'if so then so': {
      ...object({ a: { enum: [1, 2] } }, ['a']),
      if: object({ a: { const: 1 } }),
      then: { required: ['b'] },
      else: { required: ['c'] },
    },
    'a list that contains itself': NODE,
    'a tree that begins with its branches': {
      anyOf: [
        object({ left: { $ref: '#' }, right: { $ref: '#' } }, ['left', 'right']),
        { type: 'integer' },
      ],
    },
    'a tree of three levels at least': {
      type: 'object',
      properties: { children: { type: 'array', items: { $ref: '#/$defs/twig' }, minItems: 2 } },
      required: ['children'],
      $defs: {
        twig: object({ leaves: { type: 'array', items: { $ref: '#/$defs/leaf' }, minItems: 1 } }, [
          'leaves',
        ]),
        leaf: { type: 'string', format: 'uuid' },
      },
    },
    'as Pydantic and Zod write it': {
      ...object(
        {
          status: { type: 'string', enum: ['open', 'closed'] },
          opened_at: { type: 'string', format: 'date-time' },
          note: { anyOf: [{ type: 'string', maxLength: 5 }, { type: 'null' }] },
          lines: { type: 'array', minItems: 2, items: { $ref: '#/$defs/Line' } },
          parent: { anyOf: [{ $ref: '#/$defs/Order' }, { type: 'null' }], default: null },
        },
        ['status', 'opened_at', 'note', 'lines', 'parent'],
      ),
      additionalProperties: false,
      $defs: {
        Line: {
          ...object({ kind: { const: 'line' }, price: { type: 'number', exclusiveMinimum: 0 } }, [
            'kind',
            'price',
          ]),
          additionalProperties: false,
        },
        Order: {
          ...object({ lines: { type: 'array', items: { $ref: '#/$defs/Line' } } }, ['lines']),
          additionalProperties: false,
        },
      },
    },
    'a depth that the surroundings demand': {
      ...object({ first: { allOf: [{ $ref: '#/$defs/node' }, { type: 'object' }] } }, ['first']),
      $defs: {
        node: { anyOf: [object({ next: { $ref: '#/$defs/node' } }, ['next']), { type: 'null' }] },
      },
    },
    'an optional member that contains itself': object({
      child: { $ref: '#' },
      value: { type: 'string' },
    }),
    'references through a pointer': {
      type: 'object',
      properties: { 'a/b': { const: 1 }, c: { $ref: '#/properties/a~1b' } },
      required: ['c'],
    },
    'a reference beside other words': {
      $ref: '#/$defs/n',
      minimum: 7,
      $defs: { n: { type: 'integer' } },
    },
  }
  for (const [what, schema] of Object.entries(schemas)) {
    test(what, () => {
      const value = made(schema, readHints('Please describe Paris and 3 more'))
      assert.deepEqual(problems(schema, value, schema), [], JSON.stringify(value))
    })
  }

  for (const format of Object.keys(FORMATS())) {
    test(`format ${format}`, () => {
      const schema = {
        type: 'array',
        items: { type: 'string', format },
        minItems: 70,
        uniqueItems: true,
      }
      const value = made(schema, readHints('x'))
      assert.deepEqual(problems(schema, value, schema), [], JSON.stringify(value).slice(0, 200))
    })
  }
})

describe('values from the message are used where they fit', () => {
  for (const [message, schema, expected] of [
    [
      'What is the weather in New York, in fahrenheit?',
      object({ city: { type: 'string' }, unit: { enum: ['celsius', 'fahrenheit'] } }),
      { city: 'New York', unit: 'fahrenheit' },
    ],
    [
      'My friend Alice is 30 years old',
      object({ name: { type: 'string' }, age: { type: 'integer' } }),
      { name: 'Alice', age: 30 },
    ],
    ['Add 3 and 5.5', object({ a: { type: 'number' }, b: { type: 'number' } }), { a: 3, b: 5.5 }],
    [
      'Write "hello there" to the file',
      object({ text: { type: 'string' } }),
      { text: 'hello there' },
    ],
    [
      'first name: Bob, last name: Stone',
      object({ last_name: { type: 'string' }, first_name: { type: 'string' } }),
      { last_name: 'Stone', first_name: 'Bob' },
    ],
    ['Give me 99', object({ n: { type: 'integer', maximum: 10 } }), { n: 1 }],
  ] as const) {
    test(message, () => assert.deepEqual(made(schema, readHints(message)), expected))
  }
})

test('any satisfiable schema gets a valid instance', () => {
  fc.assert(
    fc.property(schemas(), fc.string(), (schema, message) => {
      const value = made(schema, readHints(message))
      assert.deepEqual(problems(schema, value, schema), [], JSON.stringify({ schema, value }))
    }),
    { numRuns: 400 },
  )
})

describe('a schema that nothing fits, or nothing that is made here, is refused with the reason', () => {
  for (const [why, schema] of [
    [
      /^the sandbox cannot fill the schema: no value within/,
      { type: 'integer', minimum: 2, maximum: 1 },
    ],
    [/at a\.b\[0\], no value within/, nestedText({ minLength: 5, maxLength: 2 })],
    [
      /at a\.b\[0\], no text for the pattern \(\?=look\)ahead/,
      nestedText({ pattern: '(?=look)ahead' }),
    ],
    [/pattern \(\(a\?\)\{9999/, { type: 'string', pattern: '((a?){9999}){9999}' }],
    [/pattern \({100}…/, { type: 'string', pattern: '('.repeat(500) }],
    [/room for only 1 members/, { ...object({ a: {}, b: {} }, ['a', 'b']), maxProperties: 1 }],
    [/no type is allowed/, { allOf: [{ type: 'string' }, { type: 'integer' }] }],
    [/at self\.self, it contains itself without end/, object({ self: { $ref: '#' } }, ['self'])],
    [
      /contains itself without end/,
      {
        anyOf: [
          object({ a: { $ref: '#' }, b: { $ref: '#' } }, ['a', 'b']),
          object({ c: { $ref: '#' } }, ['c']),
        ],
      },
    ],
    [/\$ref "#\/nowhere" points nowhere/, { $ref: '#/nowhere' }],
    [/\$ref "https:\/\/example.com/, { $ref: 'https://example.com/schema' }],
    [/1000000000 items/, { type: 'array', minItems: 1e9 }],
    [/no text of 1000000000 characters/, { type: 'string', minLength: 1e9 }],
    [/too large/, { type: 'object', minProperties: 1e9 }],
    [/longer than an answer/, object(many(2000, { type: 'string' }), Object.keys(many(2000, {})))],
  ] as const) {
    test(String(why), () => {
      assert.throws(
        () => made(schema, readHints('hello')),
        (error) => error instanceof GatewayError && error.status === 400 && why.test(error.message),
      )
    })
  }
})

describe('no schema takes long', () => {
  const options = Array.from({ length: 20_000 }, (_, index) => ({ a: index }))
  const large = { a: options }
  const names = Array.from({ length: 200_000 }, (_, index) => `p${index}`)
  const wide = { type: 'object', properties: Object.fromEntries(names.map((name) => [name, {}])) }
  const padding = 'x'.repeat(1000)
  const hostile: Record<string, JsonObject> = {
    'nonsense in every word': {
      properties: 5,
      required: 'x',
      type: 7,
      items: 'y',
      enum: 3,
      anyOf: {},
      minimum: 'z',
    },
    'definitions that each join the one before twice': joined(200, padding, (inner) => ({
      allOf: [inner, inner],
    })),
    'definitions that each offer the one before twice': joined(200, padding, (inner) => ({
      anyOf: [inner, inner],
    })),
    'definitions that each need the one before twice': joined(200, padding, (inner) =>
      object({ a: inner, b: inner }, ['a', 'b']),
    ),
    'definitions that all contain each other': {
      $ref: '#/$defs/d0',
      $defs: Object.fromEntries(
        Array.from({ length: 30 }, (_, number) => [
          `d${number}`,
          object(
            Object.fromEntries(
              Array.from({ length: 30 }, (_, other) => [
                `m${other}`,
                { $ref: `#/$defs/d${other}` },
              ]),
            ),
          ),
        ]),
      ),
    },
    'a pattern that takes for ever to miss its example': {
      ...{ type: 'string', pattern: '^(a+)+$', examples: [`${'a'.repeat(28)}!`] },
    },
    'a definition that is itself': { $ref: '#' },
    'a definition that is itself twice': { allOf: [{ $ref: '#' }, { $ref: '#' }] },
    'many schemas that all hold': { allOf: Array.from({ length: 90_000 }, () => ({})) },
    'many alternatives of which none holds': { anyOf: Array.from({ length: 90_000 }, () => false) },
    'a hundred levels of a hundred schemas': nested(60, (inner) => ({
      allOf: [...Array.from({ length: 99 }, () => ({})), inner],
    })),
    'groups of alternatives': {
      allOf: Array.from({ length: 200 }, () => ({ anyOf: [{ not: {} }, {}] })),
    },
    'conditions in conditions': nested(60, (inner) => ({ if: inner, then: inner, else: inner })),
    'exactly one of many': { oneOf: Array.from({ length: 50_000 }, () => ({ type: 'string' })) },
    'many members, none required': wide,
    'many members, one required': { ...wide, required: ['p199999'] },
    'many members, all required': { ...wide, required: names },
    'one member, required a million times': {
      ...object({ a: { type: 'string' } }),
      required: Array.from({ length: 1_000_000 }, () => 'a'),
    },
    'a long list of types': { type: Array.from({ length: 500_000 }, () => 'string') },
    'a long reference': { $ref: `#/${'a/'.repeat(500_000)}` },
    'lists in lists': nested(60, (inner) => ({ type: 'array', minItems: 9, items: inner })),
    'many items with many options': { type: 'array', minItems: 1000, items: { enum: options } },
    'many items with many options that differ': {
      type: 'array',
      minItems: 1000,
      uniqueItems: true,
      items: { enum: options },
    },
    'one large value': { const: large },
    'a large value, compared again and again': {
      type: 'array',
      minItems: 1000,
      items: { const: large, enum: [{}, large] },
    },
    'two lists of options without a common one': {
      allOf: [{ enum: options }, { enum: options.map(({ a }) => ({ b: a })) }],
    },
    'a long text, compared again and again': {
      type: 'array',
      minItems: 5000,
      items: { not: { const: padding.repeat(1000) } },
    },
    // Names that every JavaScript object has, used as keywords and as formats.
    ...Object.fromEntries(
      ['__proto__', 'constructor', 'toString', 'valueOf', '__defineGetter__'].flatMap((word) => [
        [`format ${word}`, { type: 'string', format: word }],
        [`keyword ${word}`, { allOf: [{ [word]: { a: 1 } }, { [word]: { b: 2 } }] }],
      ]),
    ),
  }
  for (const [what, schema] of Object.entries(hostile)) {
    test(what, () => {
      const startedMs = processorMs()
      try {
        const value = made(schema, readHints('hello'))
        assert.ok(JSON.stringify(value).length <= 20_000)
      } catch (error) {
        assert.ok(error instanceof GatewayError && error.status === 400, String(error))
      }
      const tookMs = processorMs() - startedMs
      assert.ok(tookMs < 1_000, `${tookMs} ms of processor time`)
    })
  }
})

/** Definitions, each made of the one before. */
function joined(
  count: number,
  description: string,
  around: (inner: JsonObject) => JsonObject,
): JsonObject {
  const numbers = Array.from({ length: count }, (_, number) => number)
  const definitions = numbers.map((number) => [
    `d${number}`,
    { description, ...around({ $ref: `#/$defs/d${number + 1}` }) },
  ])
  return {
    $ref: '#/$defs/d0',
    $defs: { ...Object.fromEntries(definitions), [`d${count}`]: { type: 'string' } },
  }
}

function nestedText(words: JsonObject): JsonObject {
  const b = { type: 'array', minItems: 1, items: { type: 'string', ...words } }
  return object({ a: object({ b }, ['b']) }, ['a'])
}

function many(count: number, schema: JsonObject): JsonObject {
  const names = Array.from({ length: count }, (_, index) => `p${index}`)
  return Object.fromEntries(names.map((name) => [name, schema]))
}

function made(schema: JsonObject, hints: Hints): Json {
  const budget = new StepBudget()
  return instanceOf(schema, { hints, budget, param: 'response_format', what: 'the schema' })
}

function object(properties: JsonObject, required?: readonly string[]): JsonObject {
  return { type: 'object', properties, ...(required && { required }) }
}

function nested(
  levels: number,
  around: (inner: JsonObject) => JsonObject,
  core: JsonObject = {},
): JsonObject {
  return levels === 0 ? core : around(nested(levels - 1, around, core))
}

/** Schemas that something fits by construction. */
function schemas(): fc.Arbitrary<JsonObject> {
  const name = fc.constantFrom('a', 'b', 'c', 'name', 'city')
  const scalar = fc.oneof(
    fc.record({ least: fc.nat({ max: 8 }), more: fc.nat({ max: 8 }) }).map(({ least, more }) => ({
      type: 'string',
      minLength: least,
      maxLength: least + more,
    })),
    fc.constantFrom('^[a-f0-9]{4}$', '^(yes|no)$', '\\d+', '^\\w+@\\w+\\.com$').map((pattern) => ({
      type: 'string',
      pattern,
    })),
    fc.constantFrom(...Object.keys(FORMATS())).map((format) => ({ type: 'string', format })),
    fc
      .record({ least: fc.integer({ min: -50, max: 50 }), step: fc.integer({ min: 1, max: 7 }) })
      .map(({ least, step }) => ({
        type: 'integer',
        minimum: least,
        maximum: least + step,
        multipleOf: step,
      })),
    fc
      .record({
        below: fc.integer({ min: -50, max: 50 }),
        width: fc.double({ min: 0.01, max: 3, noNaN: true }),
      })
      .map(({ below, width }) => ({
        type: 'number',
        exclusiveMinimum: below,
        exclusiveMaximum: below + width,
      })),
    fc.constantFrom<JsonObject[]>(
      { type: 'boolean' },
      { type: 'null' },
      { const: 7 },
      { enum: ['x', 2, null] },
      {},
    ),
    fc.constant({ $ref: '#/$defs/node' }),
  )
  const { schema } = fc.letrec<{ schema: JsonObject }>((tie) => ({
    schema: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      scalar,
      fc
        .record({
          properties: fc.dictionary(name, tie('schema'), { maxKeys: 4 }),
          isOpen: fc.boolean(),
          required: fc.subarray(['a', 'b', 'c', 'name', 'city']),
        })
        .map(({ properties, isOpen, required }) => ({
          ...object(
            properties,
            isOpen ? required : required.filter((each) => Object.hasOwn(properties, each)),
          ),
          ...(!isOpen && { additionalProperties: false }),
        })),
      fc
        .record({ items: tie('schema'), least: fc.nat({ max: 3 }), more: fc.nat({ max: 3 }) })
        .map(({ items, least, more }) => ({
          type: 'array',
          items,
          minItems: least,
          maxItems: least + more,
        })),
      fc
        .record({ items: tie('schema') })
        .map(({ items }) => ({ type: 'array', items, uniqueItems: true })),
      fc.array(tie('schema'), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
      fc.array(tie('schema'), { minLength: 1, maxLength: 3 }).map((branches) => ({
        oneOf: branches.map((branch, index) =>
          object({ kind: { const: index }, value: branch }, ['kind', 'value']),
        ),
      })),
      fc.tuple(tie('schema'), tie('schema')).map(([one, other]) => ({
        allOf: [object({ one }, ['one']), object({ other }, ['other'])],
      })),
    ),
  }))
  return schema.map((each) => ({ ...each, $defs: NODE['$defs'] }))
}

/** Patterns for the formats, written from their standards. */
function FORMATS(): Record<string, RegExp> {
  return {
    'date-time': /^\d{4}-\d\d-\d\dT\d\d:[0-5]\d:[0-5]\d(\.\d+)?Z$/,
    date: /^\d{4}-(0[1-9]|1[0-2])-([0-2]\d|3[01])$/,
    time: /^\d\d:[0-5]\d:[0-5]\d(\.\d+)?Z$/,
    duration: /^P\d+D$/,
    email: /^[\w.]+@[\w.]+\.\w+$/,
    hostname: /^[a-z0-9-]+(\.[a-z0-9-]+)*$/,
    ipv4: /^(\d{1,3}\.){3}\d{1,3}$/,
    ipv6: /^[0-9a-f:]+$/,
    uri: /^https:\/\/[\w./]+$/,
    uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  }
}

/** The keywords of the schema that a value breaks. */
function problems(schema: unknown, value: unknown, root: JsonObject): string[] {
  if (schema === true || schema === undefined) return []
  if (schema === false) return ['nothing is allowed']
  const words = schema as Record<string, never>
  const sub = (inner: unknown, part: unknown = value) => problems(inner, part, root)
  const holds = (inner: unknown, part: unknown = value) => sub(inner, part).length === 0
  const wrong: string[] = []
  const demand = (met: boolean, word: string): void => {
    if (!met) wrong.push(`${word}: ${JSON.stringify(value)?.slice(0, 80)}`)
  }
  const list = (word: string): unknown[] => words[word] ?? []
  const types = [words['type'] ?? []].flat() as string[]
  const typeNow = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
  demand(
    types.length === 0 ||
      types.includes(typeNow) ||
      (types.includes('integer') && Number.isInteger(value)),
    'type',
  )
  if ('const' in words) demand(isDeepStrictEqual(words['const'], value), 'const')
  if ('enum' in words)
    demand(
      list('enum').some((each) => isDeepStrictEqual(each, value)),
      'enum',
    )
  if ('$ref' in words) wrong.push(...sub(pointed(root, words['$ref'])))
  for (const part of list('allOf')) wrong.push(...sub(part))
  if ('anyOf' in words)
    demand(
      list('anyOf').some((each) => holds(each)),
      'anyOf',
    )
  if ('oneOf' in words) demand(list('oneOf').filter((each) => holds(each)).length === 1, 'oneOf')
  if ('not' in words) demand(!holds(words['not']), 'not')
  if ('if' in words) wrong.push(...sub(holds(words['if']) ? words['then'] : words['else']))
  if (typeof value === 'number') {
    if ('minimum' in words) demand(value >= words['minimum'], 'minimum')
    if ('maximum' in words) demand(value <= words['maximum'], 'maximum')
    if ('exclusiveMinimum' in words) demand(value > words['exclusiveMinimum'], 'exclusiveMinimum')
    if ('exclusiveMaximum' in words) demand(value < words['exclusiveMaximum'], 'exclusiveMaximum')
    if ('multipleOf' in words)
      demand(
        Math.abs(value / words['multipleOf'] - Math.round(value / words['multipleOf'])) < 1e-9,
        'multipleOf',
      )
  }
  if (typeof value === 'string') {
    if ('minLength' in words) demand(Array.from(value).length >= words['minLength'], 'minLength')
    if ('maxLength' in words) demand(Array.from(value).length <= words['maxLength'], 'maxLength')
    if ('pattern' in words) demand(new RegExp(words['pattern'], 'u').test(value), 'pattern')
    if ('format' in words) demand(FORMATS()[words['format']]?.test(value) ?? true, 'format')
  }
  if (Array.isArray(value)) {
    const isOld = Array.isArray(words['items'])
    const leading = list(isOld ? 'items' : 'prefixItems')
    const others = words[isOld ? 'additionalItems' : 'items']
    demand(
      value.length >= (words['minItems'] ?? 0) && value.length <= (words['maxItems'] ?? Infinity),
      'items',
    )
    for (const [index, item] of value.entries()) {
      wrong.push(...sub(index < leading.length ? leading[index] : others, item))
      if (words['uniqueItems'])
        demand(
          !value.slice(0, index).some((earlier) => isDeepStrictEqual(earlier, item)),
          'uniqueItems',
        )
    }
    if ('contains' in words)
      demand(
        value.filter((item) => holds(words['contains'], item)).length >=
          (words['minContains'] ?? 1),
        'contains',
      )
  } else if (typeof value === 'object' && value !== null) {
    const known: Record<string, unknown> = words['properties'] ?? {}
    for (const each of list('required'))
      demand(Object.hasOwn(value, each as string), `required ${String(each)}`)
    demand(Object.keys(value).length >= (words['minProperties'] ?? 0), 'minProperties')
    for (const [key, part] of Object.entries(value)) {
      const matched = Object.entries(words['patternProperties'] ?? {}).filter(([pattern]) =>
        new RegExp(pattern, 'u').test(key),
      )
      for (const [, inner] of matched) wrong.push(...sub(inner, part))
      if (Object.hasOwn(known, key)) wrong.push(...sub(known[key], part))
      else if (matched.length === 0) wrong.push(...sub(words['additionalProperties'], part))
      const needed: string[] = words['dependentRequired']?.[key] ?? []
      demand(
        needed.every((other) => Object.hasOwn(value, other)),
        'dependentRequired',
      )
    }
  }
  return wrong
}

function pointed(root: JsonObject, reference: string): Json | undefined {
  return reference
    .split('/')
    .slice(1)
    .reduce<Json | undefined>(
      (place, key) => (place as JsonObject)[key.replaceAll('~1', '/').replaceAll('~0', '~')],
      root,
    )
}
