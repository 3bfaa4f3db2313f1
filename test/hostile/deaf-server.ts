// A server whose queue of connections is full and never emptied: whoever connects waits until it gives up.
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { connect } from 'node:net'

import { start } from '../support/process.ts'

export type DeafServer = AsyncDisposable & { readonly url: string }

/** Listens, says where, and never again takes a turn of its event loop. */
const DEAF = `
  const server = require('node:net').createServer()
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    require('node:fs').writeSync(1, 'port ' + server.address().port + '\\n')
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  })`
/** More than the queue takes; the last of them wait already. */
const CALLERS = 4

export async function startDeafServer(): Promise<DeafServer> {
  const server = start(process.execPath, ['-e', DEAF])
  const [, port = ''] = await server.printed(/port (\d+)\n/)
  const callers: Socket[] = []
  for (let caller = 0; caller < CALLERS; caller++) {
    const socket = connect(Number(port), '127.0.0.1').on('error', () => {})
    callers.push(socket)
    // The first ones are let into the queue, one after the other; nobody knows how many.
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
