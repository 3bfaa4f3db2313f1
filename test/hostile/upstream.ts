// A provider that misbehaves in every way a provider can, byte by byte, over plain sockets. The requested model names
// the behaviour.
import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { createServer } from 'node:net'

import type { JsonObject } from '../../src/core/json.ts'

/** What happens to one request. The socket stays open afterwards unless the behaviour closes it. */
export type Behaviour = (socket: Socket, request: HostileRequest) => void | Promise<void>

export type HostileRequest = {
  readonly path: string
  readonly headers: ReadonlyMap<string, string>
  readonly body: JsonObject
  /** Resolves when the other side has closed the connection. */
  readonly closed: Promise<void>
}

export type HostileUpstream = AsyncDisposable & {
  /** http://127.0.0.1:PORT/v1 */
  readonly url: string
  /** Every request it received, in order. */
  readonly requests: readonly HostileRequest[]
  /** How many of them were for this model. */
  asked(model: string): number
}

export async function startUpstream(
  behaviours: Readonly<Record<string, Behaviour>>,
): Promise<HostileUpstream> {
  const requests: HostileRequest[] = []
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    const { promise: closed, resolve } = Promise.withResolvers<void>()
    socket.once('close', () => {
      sockets.delete(socket)
      resolve()
    })
    // A peer that gives up resets the connection, which many of these tests provoke.
    socket.on('error', () => resolve())
    readRequests(socket, (request) => {
      const known = { ...request, closed }
      requests.push(known)
      const behave = behaviours[String(request.body['model'])]
      if (behave === undefined) throw new Error(`no behaviour for ${String(request.body['model'])}`)
      void behave(socket, known)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    asked: (model) => requests.filter(({ body }) => body['model'] === model).length,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Parses the requests on one connection, as the gateway writes them: a length, and JSON. */
function readRequests(
  socket: Socket,
  take: (request: Omit<HostileRequest, 'closed'>) => void,
): void {
  let bytes = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk])
    for (;;) {
      const headEnd = bytes.indexOf('\r\n\r\n')
      if (headEnd < 0) return
      const [first = '', ...lines] = bytes.subarray(0, headEnd).toString('latin1').split('\r\n')
      const headers = new Map(
        lines.map((line) => {
          const colon = line.indexOf(':')
          return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const
        }),
      )
      const end = headEnd + 4 + Number(headers.get('content-length') ?? 0)
      if (bytes.length < end) return
      const text = bytes.subarray(headEnd + 4, end).toString()
      bytes = bytes.subarray(end)
      const body = (text === '' ? {} : JSON.parse(text)) as JsonObject
      take({ path: first.split(' ')[1] ?? '', headers, body })
    }
  })
}
