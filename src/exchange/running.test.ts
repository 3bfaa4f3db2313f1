// What runs can be cut by key, and a client that leaves ends only its own exchange.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { GatewayError } from '../core/errors.ts'
import { Running } from './running.ts'

test('a revoked key’s exchanges are cut, and no others', () => {
  const running = new Running()
  const here = new AbortController().signal
  const [one, two, other] = ['a', 'a', 'b'].map((keyId) => running.begin(keyId, here))
  assert.deepEqual(running.keyIds(), ['a', 'b'])
  running.cutRevoked(['a'])
  assert.ok(one?.signal.aborted && two?.signal.aborted && !other?.signal.aborted)
  assert.equal((one.signal.reason as GatewayError).code, 'revoked_api_key')
})

test('a client that leaves ends its exchange', () => {
  const running = new Running()
  const client = new AbortController()
  const exchange = running.begin('a', client.signal)
  client.abort(new Error('left'))
  assert.equal((exchange.signal.reason as Error).message, 'left')
  assert.ok(running.begin('a', client.signal).signal.aborted)
})

test('what has ended is not cut any more', () => {
  const running = new Running()
  const exchange = running.begin('a', new AbortController().signal)
  exchange.end()
  running.cutAll(new GatewayError('draining', ''))
  assert.ok(!exchange.signal.aborted)
})
