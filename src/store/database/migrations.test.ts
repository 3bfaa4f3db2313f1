// The schema changes only with its version, and within a major version only grows: the previous release must run on it.
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'

import { SCHEMA } from './migrations.ts'
import { TABLES } from './tables.ts'

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

test('each table is created once, in an order in which it only refers to earlier ones', () => {
  const texts = SCHEMA.tables.flatMap((statement) =>
    typeof statement === 'string' ? statement : [],
  )
  const names = texts.map((text) => text.split(' ')[2])
  assert.deepEqual(names, Object.keys(TABLES))
  for (const [index, text] of texts.entries()) {
    for (const [, referred = ''] of text.matchAll(/REFERENCES (\w+)/g)) {
      assert.ok(names.slice(0, index).includes(referred), `${names[index]} refers to ${referred}`)
    }
  }
})

// Until the first release, put the new value here. From then on, a released version is as it was: a change of the
// schema is a step with a version of its own.
test('the schema of this version is as it was', () => {
  const { tables, indexes, steps } = SCHEMA
  const text = JSON.stringify({ tables, indexes, steps })
  assert.equal(hash('sha256', text).slice(0, 16), '84804c9dca8a5c56')
})

test('versions go up, and the last is that of the schema', () => {
  const versions = [...SCHEMA.steps, SCHEMA].map(({ major, minor }) => major * 1_000 + minor)
  assert.deepEqual(
    versions,
    versions.toSorted((a, b) => a - b),
  )
  assert.equal(new Set(versions).size, Math.max(SCHEMA.steps.length, 1))
})

for (const { major, minor, statements } of SCHEMA.steps) {
  if (minor === 0) continue
  test(`${major}.${minor} only adds`, () => {
    for (const statement of statements) {
      const text = typeof statement === 'string' ? statement : statement.sql
      assert.ok(
        ADDS.some((shape) => shape.test(text)),
        text,
      )
    }
  })
}
