// The checkouts that can be measured: this one, or another commit of this repository beside it. Another commit has other
// files, tables and functions, so it is only spoken to as its users do: by its command, its configuration, HTTP, and the
// one program that each commit brings for its own ledger (bench/pairs/tollgate.ts).
import { execFile, execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

export type Checkout = {
  readonly name: string
  readonly root: string
}

const ROOT = fileURLToPath(new URL('..', import.meta.url))

export const THIS_CHECKOUT: Checkout = { name: 'this checkout', root: ROOT }

/** Kept between runs, by commit: a commit does not change. Undefined if there is no such commit. */
export function checkOut(revision: string): Checkout | undefined {
  const commit = commitOf(revision)
  if (commit === undefined) return undefined
  const name = commit.slice(0, 8)
  const root = join(ROOT, '.cache', `commit-${name}`)
  const finished = join(root, '.git', 'checked-out')
  if (!existsSync(finished)) {
    rmSync(root, { recursive: true, force: true })
    mkdirSync(join(ROOT, '.cache'), { recursive: true })
    git(['clone', '--quiet', '--shared', '--no-checkout', ROOT, root])
    git(['-C', root, 'checkout', '--quiet', commit])
    linkDependencies(root)
    mkdirSync(finished)
  }
  return { name, root }
}

/** Runs a command of a checkout; what it prints as JSON. */
export async function tollgate(
  { root }: Checkout,
  words: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<unknown> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [launcherOf(root), ...words, '--json'],
    { env: { ...process.env, ...env } },
  )
  return JSON.parse(stdout)
}

export function launcherOf(root: string): string {
  return join(root, 'bin', 'tollgate.mjs')
}

function commitOf(revision: string): string | undefined {
  try {
    return git(['-C', ROOT, 'rev-parse', '--verify', '--end-of-options', `${revision}^{commit}`])
  } catch {
    return undefined
  }
}

function git(words: readonly string[]): string {
  return execFileSync('git', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()
}

/** The same lockfile means the same dependencies; with another one, its launcher installs its own. */
function linkDependencies(root: string): void {
  const lockfile = (folder: string): string =>
    readFileSync(join(folder, 'package-lock.json'), 'utf8')
  if (lockfile(root) !== lockfile(ROOT)) return
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'))
}
