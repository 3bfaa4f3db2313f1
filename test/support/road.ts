// A proxy to a database that can be blocked: then connections stay open, but nothing comes through. Or only those that
// are open now: as if their server had been replaced by another at the same address, without closing them. Or cut: then
// connections are closed, and so are new ones until it is mended. Or led to another database.
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

export type Road = AsyncDisposable & {
  readonly url: string
  block(): void
  silence(): void
  cut(): void
  mend(): void
  /** New connections go to this one from now on. */
  lead(url: string): void
}

export async function openRoad(url: string): Promise<Road> {
  let to = new URL(url)
  const sockets = new Set<Socket>()
  let isBlocked = false
  let isCut = false
  let age = 0
  const server = createServer((near) => {
    if (isCut) return void near.destroy()
    const ownAge = age
    const isSilent = (): boolean => isBlocked || ownAge < age
    const far = connect(Number(to.port), to.hostname)
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {})
    }
    near.on('data', (bytes) => isSilent() || far.write(bytes))
    far.on('data', (bytes) => isSilent() || near.write(bytes))
    near.on('close', () => far.destroy())
    far.on('close', () => near.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const road = new URL(url)
  road.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: road.href,
    block: () => void (isBlocked = true),
    silence: () => void age++,
    cut: () => {
      isCut = true
      for (const socket of sockets) socket.destroy()
      sockets.clear()
    },
    mend: () => void (isCut = false),
    lead: (other) => void (to = new URL(other)),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
