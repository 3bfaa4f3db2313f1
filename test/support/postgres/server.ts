// One throw-away PostgreSQL server in its own folder: made, started, and started again after it was killed.
import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { chmodSync, chownSync, cpSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../process.ts'
import { findPostgres, serverUser } from './binaries.ts'

export type PostgresServer = {
  readonly data: string
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

/** `settings` override or extend those that suit the tests. With `primary`, which was made but never ran, its standby. */
export async function makePostgres(
  folder: string,
  settings: Readonly<Record<string, string>> = {},
  primary?: PostgresServer,
): Promise<PostgresServer> {
  if (serverUser) chownSync(folder, serverUser.uid, serverUser.gid)
  const binaries = await findPostgres(folder)
  const data = join(folder, 'data')
  if (primary === undefined) initialise(binaries, folder, data)
  else copyAsStandby(primary.data, data)
  const port = await freePort()
  const command = [join(binaries, 'postgres'), '-D', data, '-p', String(port)]
  const options = Object.entries({ ...SETTINGS, ...settings }).map(
    ([name, value]) => `--${name}=${value}`,
  )
  return {
    data,
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    start: () => startServer(folder, [...command, ...options]),
  }
}

function initialise(binaries: string, folder: string, data: string): void {
  const words = ['-U', 'postgres', '--auth=trust', '-E', 'UTF8', '--no-locale', '--no-sync']
  const { status, stderr, error } = spawnSync(join(binaries, 'initdb'), ['-D', data, ...words], {
    ...serverUser,
    cwd: folder,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`initdb failed: ${error?.message ?? stderr}`)
}

/** A copy of a server that never ran is as good as a base backup of it. */
function copyAsStandby(from: string, data: string): void {
  cpSync(from, data, { recursive: true, preserveTimestamps: true })
  writeFileSync(join(data, 'standby.signal'), '')
  for (const path of ['', ...readdirSync(data, { recursive: true, encoding: 'utf8' })]) {
    if (serverUser) chownSync(join(data, path), serverUser.uid, serverUser.gid)
  }
  chmodSync(data, 0o700)
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
    // A standby takes only reads at first.
    if (/ready to accept (read-only )?connections/.test(log)) resolve()
  })
  server.on('error', reject)
  server.on('exit', () => reject(new Error(`PostgreSQL did not start: ${log}`)))
  await ready
  return server
}
