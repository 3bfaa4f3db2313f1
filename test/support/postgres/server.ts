// One throw-away PostgreSQL server in its own folder: made, started, and started again after it was killed.
import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { chownSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../process.ts'
import { findPostgres, serverUser } from './binaries.ts'

export type PostgresServer = {
  /** postgres://postgres@127.0.0.1:PORT/postgres, the same after every start. */
  readonly url: string
  /** Resolves when the server takes connections; after a kill it recovers first. */
  readonly start: () => Promise<ChildProcess>
}

/** The variable that says otherwise to a server of the tests. */
export const FSYNC = 'TOLLGATE_TEST_POSTGRES_FSYNC'

// Durable like a real server, because the tests rely on commits; sized for many short-lived databases.
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '64MB',
  fsync: process.env[FSYNC] ?? 'on',
  synchronous_commit: 'on',
  full_page_writes: 'off',
  autovacuum: 'off',
}

/** `settings` override or extend those that suit the tests. */
export async function makePostgres(
  folder: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<PostgresServer> {
  if (serverUser) chownSync(folder, serverUser.uid, serverUser.gid)
  const binaries = await findPostgres(folder)
  const data = join(folder, 'data')
  const words = ['-U', 'postgres', '--auth=trust', '-E', 'UTF8', '--no-locale', '--no-sync']
  const { status, stderr, error } = spawnSync(join(binaries, 'initdb'), ['-D', data, ...words], {
    ...serverUser,
    cwd: folder,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`initdb failed: ${error?.message ?? stderr}`)
  const port = await freePort()
  const command = [join(binaries, 'postgres'), '-D', data, '-p', String(port)]
  const options = Object.entries({ ...SETTINGS, ...settings }).map(
    ([name, value]) => `--${name}=${value}`,
  )
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    start: () => startServer(folder, [...command, ...options]),
  }
}

async function startServer(
  folder: string,
  [program = '', ...words]: readonly string[],
): Promise<ChildProcess> {
  const server = spawn(program, words, {
    ...serverUser,
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let log = ''
  const { promise: ready, resolve, reject } = Promise.withResolvers<void>()
  server.stderr.on('data', (chunk: Buffer) => {
    log = (log + chunk.toString()).slice(-4000)
    if (log.includes('ready to accept connections')) resolve()
  })
  server.on('error', reject)
  server.on('exit', () => reject(new Error(`PostgreSQL did not start: ${log}`)))
  await ready
  return server
}
