// A request whose client has left is over: whoever waits for its end, as a shutdown does, is not kept waiting.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { test } from 'node:test'

import { systemClock as clock } from '../core/clock.ts'
import type { Store } from '../store/open.ts'
import type { Log } from '../telemetry/log.ts'
import { API_PREFIX } from './contract/route.ts'
import { makeAdminServer } from './server.ts'

const log: Log = { info: () => {}, warn: () => {}, error: () => {}, flush: () => {} }

test('a client that left before the plane was loaded is not waited for', async () => {
  const listener = createServer().listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const socket = connect((listener.address() as AddressInfo).port, '127.0.0.1')
  socket.write(`GET ${API_PREFIX}/session HTTP/1.1\r\nhost: tollgate\r\n\r\n`)
  const [message, response] = (await once(listener, 'request')) as [IncomingMessage, ServerResponse]
  socket.resetAndDestroy()
  await once(response, 'close')
  listener.close()

  let asked = 0
  const identity = { find: async () => void (asked += 1) }
  const publicUrl = 'http://127.0.0.1:4000'
  // Nobody is there to be refused, so nothing is recorded.
  const store = {} as Store
  const metrics = async () => ({ type: 'text/plain', text: '' })
  const options = { identity, handlers: {}, metrics, publicUrl, clock, log, store }
  const server = await makeAdminServer(options)
  await server.handle(message, response, 'req_1')
  assert.equal(asked, 0)
  await server.close()
})
