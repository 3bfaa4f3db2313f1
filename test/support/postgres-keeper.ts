// A process of its own (started by postgres.ts) that owns one throw-away PostgreSQL server: prints its address as JSON,
// closes standard output, and stops the server and removes its data when standard input ends.
import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, closeSync, mkdtempSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './port.ts'
import { findPostgres, serverUser } from './postgres-binaries.ts'

export type Answer = { readonly url: string } | { readonly error: string }

// Durable like a real one, because the tests rely on commits; sized for many short test databases.
const settings = Object.entries({
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '64MB',
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'off',
  autovacuum: 'off',
}).flatMap(([name, value]) => ['-c', `${name}=${value}`])

const folder = mkdtempSync(join(tmpdir(), 'tollgate-postgres-'))
if (serverUser) chownSync(folder, serverUser.uid, serverUser.gid)
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
try {
  const { url, server } = await start(folder)
  answer({ url })
  process.stdin.resume()
  await Promise.race([once(process.stdin, 'close'), once(server, 'exit')])
  if (server.exitCode === null) {
    server.kill('SIGINT') // PostgreSQL's fast shutdown
    await once(server, 'exit')
  }
} catch (error) {
  answer({ error: error instanceof Error ? error.message : String(error) })
  process.exit(1)
}
process.exit(0)

function answer(value: Answer): void {
  try {
    writeSync(1, JSON.stringify(value))
    closeSync(1)
  } catch {
    // The owner is gone already; standard input says so too.
  }
}

async function start(folder: string): Promise<{ url: string; server: ChildProcess }> {
  const binaries = await findPostgres(folder)
  const data = join(folder, 'data')
  const init = [
    '-D',
    data,
    '-U',
    'postgres',
    '--auth=trust',
    '-E',
    'UTF8',
    '--no-locale',
    '--no-sync',
  ]
  const { status, stderr, error } = spawnSync(join(binaries, 'initdb'), init, {
    ...serverUser,
    cwd: folder,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`initdb failed: ${error?.message ?? stderr}`)
  const port = await freePort()
  const server = spawn(join(binaries, 'postgres'), ['-D', data, '-p', String(port), ...settings], {
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
  return { url: `postgres://postgres@127.0.0.1:${port}/postgres`, server }
}
