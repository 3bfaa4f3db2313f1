// Finds a free port, for programs that must be given one. A program that can bind port 0 does that instead.
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below the range of ports that the system assigns by itself, so that no other test takes it in between. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000)
    const probe = createServer().listen(port, '127.0.0.1')
    const free = await once(probe, 'listening').then(
      () => true,
      () => false,
    )
    probe.close()
    if (free) return port
  }
}
