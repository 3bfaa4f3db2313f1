// The field that an object has twice is named by its place, however deep and however odd its name.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import fc from 'fast-check'

import { repeatedField } from './repeated-field.ts'

for (const [text, place] of [
  ['{"model":"a","x":1,"model":"b"}', 'model'],
  ['{"model":"a","mod\\u0065l":"b"}', 'model'],
  ['{"messages":[{"role":"user"},{"content":"{","content":"Hi"}]}', 'messages[1].content'],
  ['{"a":[[1,2],[{"b":{"c":[],"d":{},"c":1}}]]}', 'a[1][0].b.c'],
  ['{"a":{"b":1},"c":{"b":1,"b":2}}', 'c.b'],
  ['{"a":{"__proto__":1,"__proto__":2}}', 'a.__proto__'],
  ['{"a b":{"":1,"":2}}', '"a b".""'],
  ['{"a":{"x\\n\\u001b[2J":1,"x\\n\\u001b[2J":2}}', 'a."x\\n\\u001b[2J"'],
  ['{"a":{"b":1},"b":[{"a":1},{"a":1}],":":"\\"a\\":1"}', undefined],
] as const)
  test(`${text}: ${place ?? 'none'}`, () => assert.equal(repeatedField(text), place))

test('a long name or a long way to it makes no long message', () => {
  const name = JSON.stringify('n'.repeat(100_000))
  const long = repeatedField(`{${name}:{${name}:1,${name}:2}}`)
  assert.match(long ?? '', /^"n{50}…"\."n{50}…"$/)
  const deep = `${'{"somewhere":'.repeat(100)}{"x":1,"x":2}${'}'.repeat(100)}`
  assert.match(repeatedField(deep) ?? '', /^…(\.somewhere){1,20}\.x$/)
})

test('an object that was written by a serializer repeats nothing', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      assert.equal(repeatedField(JSON.stringify(value)), undefined)
    }),
  )
})
