// A path that leads nowhere is told apart from a method that it does not take.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findRoute } from './find-route.ts'

test('a wrong method on a response is not allowed, and a path that is no response is not found', () => {
  assert.throws(() => findRoute('POST', '/v1/responses/resp_1'), {
    code: 'method_not_allowed',
    message: '/v1/responses/resp_1 accepts GET and DELETE, not POST',
  })
  assert.throws(() => findRoute('POST', '/v1/responses/compact'), {
    code: 'not_found',
    message: 'there is nothing at /v1/responses/compact',
  })
  assert.throws(() => findRoute('GET', '/v1/responses/input_tokens'), {
    code: 'method_not_allowed',
    message: '/v1/responses/input_tokens accepts POST, not GET',
  })
  assert.equal(findRoute('GET', '/v1/responses/mistyped').id, 'mistyped')
})
