// A real PgBouncer in front of a PostgreSQL: an installed one, else from the system's packages, else none.
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { installWithApt } from '../apt.ts'
import { freePort, start } from '../process.ts'
import { serverUser } from './binaries.ts'

export type Pooler = AsyncDisposable & { readonly url: string }

export function findPgbouncer(): string | undefined {
  const installed = fromSystem()
  if (installed !== undefined) return installed
  installWithApt('pgbouncer')
  return fromSystem()
}

/** `settings` as in pgbouncer.ini, in addition to those that let everyone in. */
export async function startPgbouncer(
  program: string,
  target: string,
  settings: Readonly<Record<string, string>>,
): Promise<Pooler> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-pgbouncer-'))
  const file = join(folder, 'pgbouncer.ini')
  const usersFile = join(folder, 'users')
  const url = new URL(target)
  const { hostname, port, username, password } = url
  url.port = String(await freePort())
  const lines = Object.entries({
    listen_addr: '127.0.0.1',
    listen_port: url.port,
    unix_socket_dir: '',
    auth_type: 'any',
    auth_file: usersFile,
    ...settings,
  }).map(([name, value]) => `${name} = ${value}`)
  const behind = `* = host=${hostname} port=${port} user=${username}`
  writeFileSync(file, ['[databases]', behind, '[pgbouncer]', ...lines, ''].join('\n'))
  writeFileSync(usersFile, `"${username}" "${password}"\n`)
  // Like PostgreSQL, it refuses to run as root.
  if (serverUser) chownSync(folder, serverUser.uid, serverUser.gid)
  const pooler = start(program, [file], { cwd: folder, ...serverUser })
  await pooler.printed(/process up/)
  return {
    url: url.href,
    async [Symbol.asyncDispose]() {
      await pooler.stop('SIGKILL')
      rmSync(folder, { recursive: true })
    },
  }
}

function fromSystem(): string | undefined {
  const folders = ['/usr/sbin', ...(process.env['PATH'] ?? '').split(':')]
  return folders.map((folder) => join(folder, 'pgbouncer')).find((path) => existsSync(path))
}
