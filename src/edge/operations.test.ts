// A path that leads nowhere is told apart from a method that it does not take.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GatewayError } from '../core/errors.ts'
import { findOperation } from './operations.ts'

test('a wrong method on a response is not allowed, and a path that is no response is not found', () => {
  assert.throws(() => findOperation('POST', '/v1/responses/resp_1'), {
    code: 'method_not_allowed',
    message: '/v1/responses/resp_1 accepts GET and DELETE, not POST',
  })
  assert.throws(() => findOperation('POST', '/v1/responses/compact'), {
    code: 'not_found',
    message: 'there is nothing at /v1/responses/compact',
  })
  assert.throws(() => findOperation('GET', '/v1/responses/input_tokens'), {
    code: 'method_not_allowed',
    message: '/v1/responses/input_tokens accepts POST, not GET',
  })
  assert.equal(findOperation('GET', '/v1/responses/mistyped').id, 'mistyped')
})

test('each path and method finds its operation, the other methods or nothing', () => {
  for (const [method, path, expected] of [
    ['GET', '/v1/models', ['/v1/models', '']],
    ['GET', '/v1/models/gpt-5', ['/v1/models/{name}', 'gpt-5']],
    ['GET', '/v1/models/meta%2Fllama@2', ['/v1/models/{name}', 'meta/llama@2']],
    ['GET', '/v1/models/meta/llama', ['/v1/models/{name}', 'meta/llama']],
    ['DELETE', '/v1/responses/resp_1', ['/v1/responses/{id}', 'resp_1']],
    ['GET', '/v1/responses/resp_1/input_items', ['/v1/responses/{id}/input_items', 'resp_1']],
    ['POST', '/v1/responses/resp_1', ['GET', 'HEAD', 'DELETE']],
    ['HEAD', '/v1/responses/resp_1', ['/v1/responses/{id}', 'resp_1']],
    ['HEAD', '/v1/chat/completions', ['POST']],
    ['HEAD', '/v1/nothing', []],
    ['POST', '/v1/responses/resp_1/cancel', []],
    ['GET', '/v1/responses/resp_1/cancel', []],
    ['GET', '/v1/responses/a/b/input_items', []],
    ['POST', '/v1/chat/completions', ['/v1/chat/completions', '']],
    ['GET', '/v1/chat/completions', ['POST']],
    ['POST', '/v1/models/x', ['GET', 'HEAD']],
    ['GET', '/v1/', []],
    ['GET', '/v1/models/', []],
    ['GET', '/v1/models/%zz', []],
    ['GET', '/v1/Models', []],
    ['POST', '/v1/chat/completions/', []],
  ] as const)
    assert.deepEqual(foundAt(method, path), expected, `${method} ${path}`)
})

function foundAt(method: string, path: string): readonly string[] {
  try {
    const { operation, id } = findOperation(method, path)
    return [operation.path, id]
  } catch (thrown) {
    assert.ok(thrown instanceof GatewayError)
    return thrown.details.allow ?? []
  }
}
