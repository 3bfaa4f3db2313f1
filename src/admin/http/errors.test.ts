// Every problem that a schema of the contract finds becomes a sentence that exists in every language.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { z } from 'zod'
import { sentenceWithText } from '../../core/sentences.ts'
import { contract } from '../contract/contract.ts'
import { newKey } from '../contract/keys.ts'
import type { AdminRoute } from '../contract/route.ts'
import { schemaError } from './errors.ts'

const ownOfZod = /^(Invalid |Too |Unrecognized |Expected )/
const WRONG = [undefined, null, '', 'x', 'x'.repeat(20_000), -1, 0.5, 1e15, [], {}, [''], [1], true]

for (const [name, route] of Object.entries<AdminRoute>(contract))
  for (const part of ['params', 'query', 'body'] as const) {
    const schema = route[part]
    if (schema === undefined) continue
    test(`${name}: wrong ${part} are reported in known sentences`, () => {
      for (const given of wrongValues(schema)) {
        const issues: readonly z.core.$ZodIssue[] = schema.safeParse(given).error?.issues ?? []
        for (const { path, code, message, ...params } of issues) {
          const isKnown = ownOfZod.test(message) || sentenceWithText(message) !== undefined
          assert.ok(isKnown || isPassword(message), message)
          const told = schemaError([
            { instancePath: `/${path.join('/')}`, keyword: code, message, params },
          ])
          assert.doesNotMatch(told.message, /undefined|\{\{/)
        }
      }
    })
  }

/** These two sentences contain numbers. */
function isPassword(message: string): boolean {
  return /^use at (least|most) \d+ characters$/.test(message)
}

/** No value, everything wrong at once, and each field wrong in every way. */
function* wrongValues(schema: z.ZodType): Generator<unknown> {
  const fields = 'shape' in schema ? Object.keys(Object(schema.shape)) : []
  for (const wrong of WRONG) {
    yield wrong
    yield { made_up: wrong }
    for (const field of fields) yield { [field]: wrong }
  }
}

test('all problems of a new key are reported at once', () => {
  const body = { name: 'a\0b', models: ['m'], budget: '-1', rpm: 1e12, x: 1 }
  const fields = newKey.safeParse(body).error?.issues.map(({ path, code }) => path[0] ?? code)
  assert.deepEqual(fields?.toSorted(), ['budget', 'name', 'rpm', 'unrecognized_keys'])
})

test('a value of the wrong type is refused with the right type', () => {
  const issues = newKey.safeParse({ name: 'a', models: 'm', budget: 1.5 }).error?.issues ?? []
  const told = issues.map(({ path, code, message, ...params }) => {
    const issue = { instancePath: `/${path.join('/')}`, keyword: code, message, params }
    return [path[0], schemaError([issue]).message]
  })
  assert.deepEqual(told, [
    ['models', 'this must be of the JSON type array'],
    ['budget', 'this must be of the JSON type string'],
  ])
})
