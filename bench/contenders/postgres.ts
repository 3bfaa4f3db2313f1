// The benchmark's own PostgreSQL, on the checkout's disk, with settings that make commits durable across crashes. It
// shares a core with load and upstream, because a real database would not share the gateway's.
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { makePostgres } from '../../test/support/postgres/server.ts'

let server: ChildProcess | undefined
// PostgreSQL's immediate shutdown, which also ends its other processes.
process.once('exit', () => server?.kill('SIGQUIT'))

/** Returns the connection URL. */
export async function startPostgres(folder: string): Promise<string> {
  const own = join(folder, 'postgres')
  mkdirSync(own, { recursive: true })
  // Under root the server runs as another user, who must be able to enter this folder.
  chmodSync(folder, 0o755)
  const { url, start } = await makePostgres(own, {
    full_page_writes: 'on',
    autovacuum: 'on',
    shared_buffers: '256MB',
    max_wal_size: '4GB',
  })
  server = await start()
  return url
}

/** Call before the run's folder is removed: the server writes until it has exited. */
export async function stopPostgres(): Promise<void> {
  if (server === undefined || server.exitCode !== null) return
  const ended = once(server, 'exit')
  server.kill('SIGINT') // PostgreSQL's fast shutdown
  await ended
}
