// The gateway's OpenAPI document is read in full: every route is there, and schemas become lists of fields.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contract } from '../../../../src/admin/contract/contract.ts'
import { openApi } from '../../../../src/admin/http/openapi.ts'
import { documentShape, fieldsOf, operationsOf, typeOf } from './document.ts'

const document = documentShape.parse(
  openApi(contract, { version: '1.2.3', url: 'https://tollgate.example.com' }),
)
const operations = operationsOf(document)

test('every route of the contract is an operation', () => {
  assert.deepEqual(operations.map(({ id }) => id).toSorted(), Object.keys(contract).toSorted())
})

test('an operation lists its permission, its parameters and its answer', () => {
  const topUp = operations.find(({ id }) => id === 'topUpKey')
  assert.equal(topUp?.permission, 'configuration:manage')
  assert.deepEqual(
    topUp?.sent.map(({ place, name, isRequired }) => [place, name, isRequired]),
    [
      ['path', 'id', true],
      ['header', 'Idempotency-Key', false],
      ['body', 'amount', true],
      ['body', 'reason', true],
      ['body', 'window', false],
    ],
  )
  assert.ok(topUp?.answer.some(({ name }) => name === 'history[].spent'))
})

test('a body with several shapes lists the fields of all of them', () => {
  const create = operations.find(({ id }) => id === 'createDestination')
  const names = create?.sent.filter(({ place }) => place === 'body').map(({ name }) => name)
  const taken = ['kinds', 'groups', 'tags', 'environments']
  assert.deepEqual(names, ['kind', 'name', 'url', ...taken, 'to'])
})

test('types are described in words', () => {
  assert.equal(typeOf({ type: 'array', items: { type: 'string' } }), 'array of string')
  assert.equal(typeOf({ anyOf: [{ type: 'string' }, { type: 'null' }] }), 'string | null')
  assert.equal(typeOf({ enum: ['a', 'b'] }), '"a" | "b"')
  assert.deepEqual(fieldsOf({}, 'body'), [])
})
