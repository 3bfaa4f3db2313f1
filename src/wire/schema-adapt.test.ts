// Schemas become what a provider of these formats can enforce, and nothing that the client asked for is lost.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { JsonObject } from '../core/json.ts'
import { adaptSchema } from './schema-adapt.ts'

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
