// Which schemas a strict request may carry.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { Json, JsonObject } from '../core/json.ts'
import { canBeStrict } from './strict-schema.ts'

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
