// What stands between a client and PostgreSQL as PgBouncer does: it refuses a connection that brings settings of its own,
// or, told to ignore them, passes it on without them.
import type { AddressInfo, Socket } from 'node:net'
import { connect, createServer } from 'node:net'

export type Pooler = AsyncDisposable & { readonly url: string }

/** What PgBouncer keeps of what a connection brings, besides a few that we do not send. */
const KEPT = new Set(['user', 'database', 'application_name', 'client_encoding'])
const VERSION_3 = 196_608

export async function startPooler(
  target: string,
  settings: 'refused' | 'ignored',
): Promise<Pooler> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    sockets.add(client)
    client.on('error', () => {})
    client.once('data', (startup: Buffer) => {
      const brought = parametersOf(startup)
      const foreign = brought.find(([name]) => !KEPT.has(name))
      if (settings === 'refused' && foreign !== undefined) {
        client.end(refusalOf(`unsupported startup parameter: ${foreign[0]}`))
        return
      }
      const behind = connect(Number(port), hostname)
      behind.on('error', () => client.destroy())
      behind.write(startupOf(brought.filter(([name]) => KEPT.has(name))))
      client.pipe(behind).pipe(client)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(target)
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.href,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** After length and version: names and values, each ended by a zero byte. */
function parametersOf(startup: Buffer): (readonly [string, string])[] {
  const words = startup.toString('utf8', 8).split('\0')
  return words.flatMap((word, index) =>
    index % 2 === 0 && word !== '' ? [[word, words[index + 1] ?? ''] as const] : [],
  )
}

function startupOf(parameters: readonly (readonly [string, string])[]): Buffer {
  const body = Buffer.from(`${parameters.flat().join('\0')}\0\0`)
  const head = Buffer.alloc(8)
  head.writeInt32BE(head.length + body.length)
  head.writeInt32BE(VERSION_3, 4)
  return Buffer.concat([head, body])
}

function refusalOf(message: string): Buffer {
  const body = Buffer.from(`SFATAL\0C08P01\0M${message}\0\0`)
  const head = Buffer.alloc(5)
  head.write('E')
  head.writeInt32BE(4 + body.length, 1)
  return Buffer.concat([head, body])
}
