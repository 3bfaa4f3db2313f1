// The answer to each of node's codes for a bad connection. Node's own timeouts are too long to wait for.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noRequestOf, writeNoRequest } from './connection.ts'

for (const [problem, status, code, retry, message] of [
  ['ERR_HTTP_REQUEST_TIMEOUT', 408, 'request_timeout', true, /too long to arrive: send it again/],
  ['HPE_HEADER_OVERFLOW', 431, 'invalid_request', false, /larger than 64 KB/],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 413, 'invalid_request', false, /extensions/],
  ['HPE_INVALID_METHOD', 400, 'invalid_request', false, /not an HTTP request/],
  [undefined, 400, 'invalid_request', false, /not an HTTP request/],
] as const)
  test(`${problem} is ${status} ${code}`, () => {
    const refusal = noRequestOf(problem, 100)
    assert.ok(refusal)
    const [head = '', body = ''] = writeNoRequest(refusal, 'req_1').split('\r\n\r\n')
    const [first = '', ...headers] = head.split('\r\n')
    assert.match(first, new RegExp(`^HTTP/1.1 ${status} [A-Z]`))
    assert.ok(headers.includes('x-request-id: req_1'))
    assert.ok(headers.includes(`x-should-retry: ${retry}`))
    assert.ok(headers.includes('connection: close'))
    assert.ok(headers.includes(`content-length: ${Buffer.byteLength(body)}`))
    const { error } = Object(JSON.parse(body))
    assert.equal(error.code, code)
    assert.match(error.message, message)
  })

test('a client that has left, or has sent nothing at all, gets no answer', () => {
  assert.equal(noRequestOf('ECONNRESET', 100), undefined)
  assert.equal(noRequestOf('ERR_HTTP_REQUEST_TIMEOUT', 0), undefined)
})
