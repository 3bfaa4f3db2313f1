// A server whose connection queue is full and never drained: clients wait until they give up.
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { connect } from 'node:net'

import { start } from '../support/process.ts'

export type DeafServer = AsyncDisposable & { readonly url: string }

/** Listens, prints its port, and then blocks its event loop forever. */
const DEAF = `
  const server = require('node:net').createServer()
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    require('node:fs').writeSync(1, 'port ' + server.address().port + '\\n')
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  })`
/** More than the queue takes, so the last of them are already waiting. */
const CALLERS = 4

export async function startDeafServer(): Promise<DeafServer> {
  const server = start(process.execPath, ['-e', DEAF])
  const [, port = ''] = await server.printed(/port (\d+)\n/)
  const callers: Socket[] = []
  for (let caller = 0; caller < CALLERS; caller++) {
    const socket = connect(Number(port), '127.0.0.1').on('error', () => {})
    callers.push(socket)
    // The kernel accepts the first ones into the queue, one after the other; how many is unspecified.
    if (caller < 2) await once(socket, 'connect')
  }
  return {
    url: `http://127.0.0.1:${port}/v1`,
    [Symbol.asyncDispose]: async () => {
      for (const socket of callers) socket.destroy()
      await server.stop('SIGKILL')
    },
  }
}
