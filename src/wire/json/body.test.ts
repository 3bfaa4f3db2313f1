// Bodies: hostile ones are refused cheaply, members are found wherever they are, and a change touches nothing else. In a
// text, the same change gives what parsing and rewriting it would give.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { GatewayError } from '../../core/errors.ts'
import type { JsonObject } from '../../core/json.ts'
import {
  changeMembers,
  findMember,
  readJsonBody,
  repeatedField,
  replaceMember,
  setMembers,
} from './body.ts'

const read = (text: string) => readJsonBody(Buffer.from(text))

test('members are replaced, added and removed, and every other byte stays', () => {
  for (const [body, changes, expected] of [
    ['{"model":"a","n":1}', { model: 'b' }, '{"model":"b","n":1}'],
    ['{ "model" : "a" ,\n "n": 1 }', { model: 'b' }, '{ "model" : "b" ,\n "n": 1 }'],
    ['{"a":[1,{"model":"x"}],"model":"a"}', { model: 'b' }, '{"a":[1,{"model":"x"}],"model":"b"}'],
    ['{"a":1}', { b: 2 }, '{"a":1,"b":2}'],
    ['{ }', { b: 2 }, '{"b":2 }'],
    ['{"a":1,"b":2,"c":3}', { a: undefined }, '{"b":2,"c":3}'],
    ['{"a":1,"b":2,"c":3}', { b: undefined }, '{"a":1,"c":3}'],
    ['{"a":1,"b":2,"c":3}', { c: undefined }, '{"a":1,"b":2}'],
    ['{"a":1}', { a: undefined, z: true }, '{"z":true}'],
    ['{"a":1,"b":2}', { a: undefined, b: undefined }, '{}'],
    ['{"a":1,"b":2,"c":3}', { b: undefined, c: undefined, d: null }, '{"a":1,"d":null}'],
    ['{"t":"}\\"{,","model":"a"}', { model: 'b' }, '{"t":"}\\"{,","model":"b"}'],
    ['{"mod\\u0065l":"a"}', { model: 'b' }, '{"mod\\u0065l":"b"}'],
  ] as [string, JsonObject, string][]) {
    assert.equal(changeMembers(read(body), changes).toString(), expected)
  }
})

test('any change to any object yields the object with that change', () => {
  const object = fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 6 })
  const change = fc.dictionary(fc.string(), fc.option(fc.jsonValue(), { nil: undefined }), {
    maxKeys: 3,
  })
  fc.assert(
    fc.property(object, change, fc.nat({ max: 3 }), (before, added, indent) => {
      if ('__proto__' in before && Object.hasOwn(before, '__proto__')) return
      const names = Object.keys(before)
      const changes = { ...added, ...(names[1] === undefined ? {} : { [names[1]]: added['x'] }) }
      const body = readJsonBody(Buffer.from(JSON.stringify(before, undefined, indent)))
      const after = JSON.parse(changeMembers(body, changes as JsonObject).toString()) as unknown
      assert.deepEqual(after, JSON.parse(JSON.stringify({ ...before, ...changes })))
    }),
  )
})

test('a body that no endpoint can read is a 400', () => {
  const bodies: Record<string, Buffer> = {
    empty: Buffer.alloc(0),
    'no JSON': Buffer.from('{"a":'),
    'a list': Buffer.from('[]'),
    'a number': Buffer.from('1'),
    'twice the same field': Buffer.from('{"model":"a","x":1,"model":"b"}'),
    'the same field spelled in two ways': Buffer.from('{"model":"a","mod\\u0065l":"b"}'),
    'twice the same field in a message': Buffer.from(
      '{"messages":[{"role":"user","content":"a long text","content":"Hi"}]}',
    ),
    'twice the same field in a tool': Buffer.from(
      '{"tools":[{"type":"web_search","typ\\u0065":"function"}]}',
    ),
    'twice the field __proto__': Buffer.from('{"a":{"__proto__":1,"__proto__":2}}'),
    'invalid UTF-8': Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
    'ten thousand levels': Buffer.from('['.repeat(10_000) + ']'.repeat(10_000)),
    'millions of tiny objects': Buffer.from(`{"a":[${'{},'.repeat(3_000_000)}1]}`),
    'two hundred thousand fields of an object in it': Buffer.from(
      `{"a":{${Array.from({ length: 200_000 }, (_, index) => `"${index}":1`).join(',')}}}`,
    ),
    'two thousand fields of the request itself': Buffer.from(
      `{${Array.from({ length: 2_000 }, (_, index) => `"field_${index}":1`).join(',')}}`,
    ),
    'a hundred thousand objects': Buffer.from(`{"a":[${'{},'.repeat(99_999)}{}]}`),
    'half a million values': Buffer.from(`{"a":[${'1,'.repeat(500_000)}1]}`),
    'three hundred thousand texts': Buffer.from(`{"a":[${'"b",'.repeat(300_000)}1]}`),
    'five million escapes': Buffer.from(`{"a":"${'\\n'.repeat(5_000_000)}"}`),
    'an unfinished string': Buffer.from('{"a":"b'),
    'an unfinished name': Buffer.from('{"a\\'),
  }
  for (const [what, body] of Object.entries(bodies)) {
    assert.throws(
      () => readJsonBody(body),
      (error) => error instanceof GatewayError && error.status === 400,
      what,
    )
  }
})

test('a field that an object has twice is named', () => {
  assert.throws(
    () => read('{"tools":[{"type":"web_search","typ\\u0065":"function"}]}'),
    (error) =>
      error instanceof GatewayError &&
      error.message === 'the body has the field tools[0].type twice' &&
      error.details.param === 'tools[0].type',
  )
})

test('the same field in several objects, and colons in texts, are fine', () => {
  read('{"a":{"a":1,"b":[{"a":1},{"a":1}]},"b":{"__proto__":{"c":":"},"c":"{\\"a\\":1}"},":":[]}')
})

test('the error about invalid JSON quotes none of it', () => {
  for (const text of [
    'my private prompt',
    '{"a":"my private prompt", b}',
    `{"a":tru, "b":"${'my private prompt '.repeat(9)}"}`,
    '{"a":"my private prompt\\q"}',
    '{"a":"my private prompt"}}',
    '["my private prompt",,]',
  ]) {
    assert.throws(
      () => read(text),
      (error) =>
        error instanceof GatewayError &&
        /^the body is not valid JSON: \w/.test(error.message) &&
        !/private|prompt/.test(error.message),
      text,
    )
  }
})

test('long token lists and long texts are accepted', () => {
  const tokens = JSON.stringify({ input: Array.from({ length: 300_000 }, (_, index) => index) })
  assert.equal(readJsonBody(Buffer.from(tokens)).members.size, 1)
  const text = JSON.stringify({ input: 'a"\\'.repeat(2_000_000) })
  assert.equal(readJsonBody(Buffer.from(text)).members.size, 1)
})

// The field that an object has twice is named by its place, however deep and however odd its name.

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

test('an outermost member of a text is replaced, and every other character stays', () => {
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

test('members of a text are set in place, and missing ones are added', () => {
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
