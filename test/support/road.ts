// A proxy to a database that can be blocked: then connections stay open, but nothing comes through.
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

export type Road = AsyncDisposable & { readonly url: string; block(): void }

export async function openRoad(url: string): Promise<Road> {
  const { hostname, port } = new URL(url)
  const sockets = new Set<Socket>()
  let isBlocked = false
  const server = createServer((near) => {
    const far = connect(Number(port), hostname)
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {})
    }
    near.on('data', (bytes) => isBlocked || far.write(bytes))
    far.on('data', (bytes) => isBlocked || near.write(bytes))
    near.on('close', () => far.destroy())
    far.on('close', () => near.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const road = new URL(url)
  road.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: road.href,
    block: () => void (isBlocked = true),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
