// A problem the gateway reports shows in one place: beside its field if there is one, else above the form.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError, unplaced } from './api.ts'

const refused = (...fields: readonly string[]): ApiError => {
  const problems = fields.map((field) => ({ field, message: 'this is wrong' }))
  const json = { code: 'invalid_value', message: '…', request_id: 'req_1', problems } as const
  return new ApiError('invalid_value', 400, json)
}

for (const { what, error, isTold } of [
  { what: 'a problem of a visible field', error: refused('name'), isTold: false },
  { what: 'a problem of a part of a visible field', error: refused('role.id'), isTold: false },
  {
    what: 'a problem of each of two visible fields',
    error: refused('name', 'role'),
    isTold: false,
  },
  {
    what: 'another problem, of a field that is not on the form,',
    error: refused('name', 'x'),
    isTold: true,
  },
  { what: 'a problem without a field', error: new ApiError('unreachable', 0), isTold: true },
  { what: 'a fault in the page', error: new Error('broken'), isTold: true },
])
  test(`${what} is ${isTold ? '' : 'not '}shown above the form`, () => {
    assert.equal(unplaced(error, ['name', 'role']), isTold ? error : null)
  })
