// The way out waits for handlers, not only for sockets.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'

import { systemClock } from '../core/clock.ts'
import type { Parts } from '../exchange/exchange.ts'
import { Running } from '../exchange/running.ts'
import { jsonLog } from '../telemetry/log.ts'
import { Edge } from './server.ts'

test('draining waits for the handler of a client that has gone', async () => {
  const called = Promise.withResolvers<void>()
  const work = Promise.withResolvers<boolean>()
  const serve = (): Promise<boolean> => {
    called.resolve()
    return work.promise
  }
  const edge = new Edge({
    parts: { clock: systemClock, running: new Running() } as Parts,
    log: jsonLog(systemClock),
    bodyBytesMax: 0,
    web: { serve },
    admin: { handle: async () => {}, close: async () => {} },
    planes: ['data', 'admin'],
    readiness: async () => undefined,
  })
  const { port } = new URL(await edge.listen({ host: '127.0.0.1', port: 0 }))
  const client = connect(Number(port), '127.0.0.1').end('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  await called.promise
  client.destroy()
  await once(client, 'close')

  let isDrained = false
  const drained = edge.drain(60_000).then(() => (isDrained = true))
  // Each is a turn in which the server could have noticed that no socket is left.
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setTimeout(resolve, 1))
  assert.equal(isDrained, false)
  work.resolve(true)
  await drained
})
