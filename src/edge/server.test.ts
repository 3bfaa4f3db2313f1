// The way out waits for handlers, not only for sockets; and a client that leaves is no fault of ours.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { systemClock } from '../core/clock.ts'
import type { Parts } from '../exchange/exchange.ts'
import { Running } from '../exchange/running.ts'
import { jsonLog, type Log } from '../telemetry/log.ts'
import { webFiles, type WebFiles } from './files.ts'
import { Edge } from './server.ts'

test('draining waits for the handler of a client that has gone', async () => {
  const called = Promise.withResolvers<void>()
  const work = Promise.withResolvers<boolean>()
  const serve = (): Promise<boolean> => {
    called.resolve()
    return work.promise
  }
  const edge = edgeWith({ serve }, jsonLog(systemClock))
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

for (const moment of ['before', 'while'] as const)
  test(`a client that leaves ${moment} a page's file is sent is logged as such`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-edge-'))
    // More than sockets take by themselves.
    writeFileSync(join(folder, 'large.js'), '')
    truncateSync(join(folder, 'large.js'), 64 * 1024 * 1024)
    const files = webFiles(folder)
    let text = ''
    const log = jsonLog(systemClock, (written) => (text += written))
    const edge = edgeWith(
      {
        async serve(path, message, response) {
          if (moment === 'before') {
            client.destroy()
            await once(response, 'close')
          }
          return files.serve(path, message, response)
        },
      },
      log,
    )
    const { port } = new URL(await edge.listen({ host: '127.0.0.1', port: 0 }))
    const client = connect(Number(port), '127.0.0.1')
    client.write('GET /large.js HTTP/1.1\r\nhost: a\r\n\r\n')
    client.once('data', () => client.destroy())
    await once(client, 'close')
    await edge.drain(60_000)
    log.flush()

    const { level, status, code, path } = Object(JSON.parse(text))
    const expected = { level: 'info', status: 499, code: undefined, path: '/large.js' }
    assert.deepEqual({ level, status, code, path }, expected)
    rmSync(folder, { recursive: true })
  })

function edgeWith(web: WebFiles, log: Log): Edge {
  return new Edge({
    parts: { clock: systemClock, running: new Running() } as Parts,
    log,
    bodyBytesMax: 0,
    web,
    admin: { handle: async () => {}, close: async () => {} },
    planes: ['data', 'admin'],
    readiness: async () => undefined,
  })
}
