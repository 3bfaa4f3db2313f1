// A path that leads nowhere is told apart from a method that it does not take.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findOperation, makeFinder } from './operations.ts'

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

// Operations match by exact path and method, names may contain slashes, and a wrong method differs from a wrong path.

const find = makeFinder([
  { method: 'GET', path: '/v1/models', does: 'list' },
  { method: 'GET', path: '/v1/models/{name}', does: 'show' },
  { method: 'GET', path: '/v1/responses/{id}', does: 'get' },
  { method: 'DELETE', path: '/v1/responses/{id}', does: 'delete' },
  { method: 'GET', path: '/v1/responses/{id}/input_items', does: 'items' },
  { method: 'POST', path: '/v1/chat/completions', does: 'chat' },
])

test('each path and method finds its operation, the other methods or nothing', () => {
  for (const [method, path, expected] of [
    ['GET', '/v1/models', ['list', '']],
    ['GET', '/v1/models/gpt-5', ['show', 'gpt-5']],
    ['GET', '/v1/models/meta%2Fllama@2', ['show', 'meta/llama@2']],
    ['GET', '/v1/models/meta/llama', ['show', 'meta/llama']],
    ['DELETE', '/v1/responses/resp_1', ['delete', 'resp_1']],
    ['GET', '/v1/responses/resp_1/input_items', ['items', 'resp_1']],
    ['POST', '/v1/responses/resp_1', ['GET', 'HEAD', 'DELETE']],
    ['HEAD', '/v1/responses/resp_1', ['get', 'resp_1']],
    ['HEAD', '/v1/chat/completions', ['POST']],
    ['HEAD', '/v1/nothing', []],
    ['POST', '/v1/responses/resp_1/cancel', []],
    ['GET', '/v1/responses/resp_1/cancel', []],
    ['GET', '/v1/responses/a/b/input_items', []],
    ['POST', '/v1/chat/completions', ['chat', '']],
    ['GET', '/v1/chat/completions', ['POST']],
    ['POST', '/v1/models/x', ['GET', 'HEAD']],
    ['GET', '/v1/', []],
    ['GET', '/v1/models/', []],
    ['GET', '/v1/models/%zz', []],
    ['GET', '/v1/Models', []],
    ['POST', '/v1/chat/completions/', []],
  ] as const) {
    const found = find(method, path)
    const actual =
      found === undefined
        ? []
        : 'methods' in found
          ? found.methods
          : [found.operation.does, found.id]
    assert.deepEqual(actual, expected, `${method} ${path}`)
  }
})
