// The benchmark's own PostgreSQL, on the checkout's disk, with settings that make commits durable across crashes. It
// shares a core with load and upstream, because a real database would not share the gateway's.
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { makePostgres } from '../../test/support/postgres/server.ts'
import { cpuNsOfAll } from '../processes.ts'

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

/** Another database of that server; returns its connection URL. */
export async function makeDatabase(server: string, name: string): Promise<string> {
  const client = new pg.Client({ connectionString: server })
  await client.connect()
  await client.query(`CREATE DATABASE ${name}`)
  await client.end()
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

/** CPU time of the server and of all its connections, in nanoseconds. */
export function postgresCpuNs(): number {
  return server?.pid === undefined ? 0 : cpuNsOfAll(server.pid)
}

/** Call before the run's folder is removed: the server writes until it has exited. */
export async function stopPostgres(): Promise<void> {
  if (server === undefined || server.exitCode !== null) return
  const ended = once(server, 'exit')
  server.kill('SIGINT') // PostgreSQL's fast shutdown
  await ended
}
