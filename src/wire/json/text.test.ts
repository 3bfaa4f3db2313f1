// Finding and replacing members in a text gives what parsing and rewriting it would give, and touches nothing else.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { findMember, replaceMember, setMembers } from './text.ts'

test('an outermost member is replaced, and every other character stays', () => {
  for (const [text, expected] of [
    ['{"model":"a","n":1}', '{"model":"b","n":1}'],
    ['{ "n" : 1.0 ,\n "model" : "a" }', '{ "n" : 1.0 ,\n "model" : "b" }'],
    ['{"x":{"model":"a"},"model":"a"}', '{"x":{"model":"a"},"model":"b"}'],
    ['{"x":[{"model":"a"},"}"],"model":null}', '{"x":[{"model":"a"},"}"],"model":"b"}'],
    ['{"x":"\\"model\\":\\\\","model":12}', '{"x":"\\"model\\":\\\\","model":"b"}'],
    ['{"model":{"a":[1]},"z":0}', '{"model":"b","z":0}'],
    ['{"n":1}', '{"n":1}'],
    ['{}', '{}'],
  ] as const) {
    assert.equal(replaceMember(text, 'model', '"b"'), expected)
  }
})

test('every member of any object is found, however the object is written', () => {
  const object = fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 6, noNullPrototype: true })
  fc.assert(
    fc.property(object, fc.nat({ max: 3 }), (value, indent) => {
      const text = JSON.stringify(value, undefined, indent)
      for (const [name, member] of Object.entries(JSON.parse(text) as object)) {
        // Names that JSON must escape are never looked up.
        if (JSON.stringify(name) !== `"${name}"`) continue
        const span = findMember(text, name)
        assert.deepEqual(span && JSON.parse(text.slice(span.start, span.end)), member)
      }
    }),
  )
})

test('members are set in place, and missing ones are added', () => {
  for (const [text, expected] of [
    ['{"b":1.0,"a":{"a":0}}', '{"b":1.0,"a":2}'],
    ['{"b":1.0}', '{"b":1.0,"a":2}'],
    ['{ "b":[] }\n', '{ "b":[] ,"a":2}\n'],
    ['{ }', '{ "a":2}'],
  ] as const) {
    assert.equal(setMembers(text, { a: 2 }), expected)
  }
})

test('a text that is no JSON object ends the search', () => {
  for (const text of [
    '',
    '{',
    '{"',
    '{"model',
    '{"model"',
    '{"model":',
    '[1]',
    '{"a":"',
    '{"a":[',
  ]) {
    findMember(text, 'x')
  }
})
