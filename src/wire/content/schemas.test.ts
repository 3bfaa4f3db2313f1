// Schemas become what a provider of these formats can enforce, and nothing that the client asked for is lost.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../core/json.ts'
import { adaptSchema, canBeStrict } from './schemas.ts'

test('schemas are closed, and rules that cannot be enforced move to the description', () => {
  const cases: Record<string, [JsonObject, JsonObject]> = {
    'an object is closed': [
      { type: 'object', properties: { a: { type: 'string' } } },
      { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false },
    ],
    'an object that is one of several types, or only has properties, is closed': [
      { anyOf: [{ type: ['object', 'null'] }, { properties: {} }] },
      {
        anyOf: [
          { type: ['object', 'null'], additionalProperties: false },
          { properties: {}, additionalProperties: false },
        ],
      },
    ],
    'one of several and any of several cannot be enforced at once': [
      { anyOf: [{ type: 'string' }], oneOf: [{ const: 'a' }] },
      { anyOf: [{ type: 'string' }], description: '{oneOf: [{"const":"a"}]}' },
    ],
    'a map cannot be enforced': [
      { type: 'object', additionalProperties: { type: 'number' } },
      {
        type: 'object',
        additionalProperties: false,
        description: '{additionalProperties: {"type":"number"}}',
      },
    ],
    'bounds move to the description': [
      { type: 'integer', minimum: 1, maximum: 9, description: 'A digit' },
      { type: 'integer', description: 'A digit\n\n{minimum: 1, maximum: 9}' },
    ],
    'known formats and small lists stay': [
      { type: 'array', minItems: 1, items: { type: 'string', format: 'uuid' } },
      { type: 'array', minItems: 1, items: { type: 'string', format: 'uuid' } },
    ],
    'other formats and list sizes move to the description': [
      { type: 'array', minItems: 2, items: { type: 'string', format: 'isbn' } },
      {
        type: 'array',
        items: { type: 'string', description: '{format: "isbn"}' },
        description: '{minItems: 2}',
      },
    ],
    'one of becomes any of, at every depth': [
      { $defs: { x: { oneOf: [{ type: 'string', maxLength: 3 }, { type: 'null' }] } } },
      {
        $defs: {
          x: { anyOf: [{ type: 'string', description: '{maxLength: 3}' }, { type: 'null' }] },
        },
      },
    ],
    'a property may be named like a keyword': [
      { type: 'object', properties: { pattern: { type: 'string' }, not: { enum: ['a'] } } },
      {
        type: 'object',
        properties: { pattern: { type: 'string' }, not: { enum: ['a'] } },
        additionalProperties: false,
      },
    ],
  }
  for (const [what, [schema, expected]] of Object.entries(cases)) {
    assert.deepEqual(adaptSchema(schema), expected, what)
  }
})

// Which schemas a strict request may carry.

const closed = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...more,
})

test('closed objects without optional properties can be strict', () => {
  const gate = closed({ name: { type: 'string' }, opens: { type: ['string', 'null'] } })
  for (const schema of [
    closed({}),
    gate,
    closed({ gates: { type: 'array', items: gate, minItems: 1 } }),
    closed({ gate: { $ref: '#/$defs/gate' } }, { $defs: { gate }, title: 'Gate' }),
    closed({ gate: { anyOf: [gate, { type: 'null' }], description: 'if open' } }),
    closed({ toll: { type: 'number', minimum: 0 }, at: { type: 'string', format: 'date-time' } }),
  ]) {
    assert.equal(canBeStrict(schema), true, JSON.stringify(schema))
  }
})

test('other schemas cannot', () => {
  const within = (schema: Json): JsonObject => closed({ x: schema })
  const endless = (depth: number): Json =>
    depth === 0 ? { type: 'string' } : within(endless(depth - 1))
  for (const schema of [
    {},
    { type: 'string' },
    { type: 'object' },
    { anyOf: [closed({})] },
    closed({ x: { type: 'string' } }, { required: [] }),
    closed({ x: { type: 'string' } }, { required: undefined }),
    closed({ x: { type: 'string' } }, { additionalProperties: true }),
    within({}),
    within({ enum: ['a'] }),
    within({ type: 'array' }),
    within({ type: 'string', format: 'uri' }),
    within({ type: 'string', minLength: 1 }),
    within({ $ref: '#/$defs/gate', description: 'the gate' }),
    within({ anyOf: [{ type: 'object' }] }),
    within(endless(11)),
    closed({}, { $defs: { open: { type: 'object' } } }),
  ]) {
    assert.equal(canBeStrict(schema), false, JSON.stringify(schema))
  }
})
