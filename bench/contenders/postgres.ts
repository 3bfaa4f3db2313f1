// A PostgreSQL of the benchmark's own, on the checkout's disk, with the settings that commits and crashes are real with.
// Shares a core with load and upstream, as a database elsewhere would not be on the gateway's.
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { makePostgres } from '../../test/support/postgres-server.ts'

let server: ChildProcess | undefined
// Its immediate shutdown, which takes its other processes along.
process.once('exit', () => server?.kill('SIGQUIT'))

/** Returns its address. */
export async function startPostgres(folder: string): Promise<string> {
  const own = join(folder, 'postgres')
  mkdirSync(own, { recursive: true })
  // Under root the server runs as another user, who must find the way here.
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

/** Before the run's folder is removed: it writes until it has ended. */
export async function stopPostgres(): Promise<void> {
  if (server === undefined || server.exitCode !== null) return
  const ended = once(server, 'exit')
  server.kill('SIGINT') // PostgreSQL's fast shutdown
  await ended
}
