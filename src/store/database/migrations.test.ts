// The list only grows, and within a major version only adds: the previous release must run on the new schema.
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'

import { MIGRATIONS } from './migrations.ts'

const ADDS = [
  /^CREATE TABLE /,
  /^CREATE (UNIQUE )?INDEX /,
  // A column that the previous release does not know must fill itself.
  /^ALTER TABLE \w+ ADD COLUMN \w+ \w+$/,
  /^ALTER TABLE \w+ ADD COLUMN .* DEFAULT /,
  /^ALTER TABLE \w+ SET \(/,
  // Filling what was added, and dropping an index for a better one, change nothing that a release can see.
  /^UPDATE \w+ SET /,
  /^INSERT INTO \w+/,
  /^DROP INDEX /,
]

test('versions go up', () => {
  const order = MIGRATIONS.map(({ major, minor }) => major * 1_000 + minor)
  assert.deepEqual(
    order,
    [...new Set(order)].toSorted((a, b) => a - b),
  )
})

test('a step that was released is as it was', () => {
  const released = MIGRATIONS.filter(({ major, minor }) => major === 1 && minor <= 13)
  const text = JSON.stringify(released.map(({ statements }) => statements))
  assert.equal(hash('sha256', text).slice(0, 16), '1f4328be3eac9d09')
})

for (const { major, minor, statements } of MIGRATIONS) {
  if (minor === 0) continue
  test(`${major}.${minor} only adds`, () => {
    for (const statement of statements) {
      if (typeof statement === 'function') continue
      const text = typeof statement === 'string' ? statement : statement.sql
      assert.ok(
        ADDS.some((shape) => shape.test(text)),
        text,
      )
    }
  })
}
