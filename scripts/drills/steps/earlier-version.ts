// The version before this one, built and ready to be started: the last release, or, as long as there is none, the commit
// since which the schema is as it is now. Before the first release a schema changes without a step of its own, so no
// earlier commit could share a database with this one.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkOut } from '../../../bench/checkout.ts'
import { ensureDependencies } from '../../checkout.mjs'

export type EarlierVersion = {
  readonly name: string
  /** What node runs. */
  readonly command: string
}

/** `from`: another commit than the usual one. Undefined: this clone does not have it. */
export async function earlierVersion(from = usualCommit()): Promise<EarlierVersion | undefined> {
  const checkout = from === undefined ? undefined : checkOut(from)
  if (checkout === undefined) return undefined
  const { name, root } = checkout
  const command = join(root, 'dist', 'main.js')
  if (!existsSync(command)) {
    await ensureDependencies(root)
    const words = [join(root, 'scripts', 'build.mjs'), join(root, 'dist')]
    const { status, stderr } = spawnSync(process.execPath, words, { cwd: root, encoding: 'utf8' })
    if (status !== 0) throw new Error(`${name} cannot be built: ${stderr}`)
  }
  return { name, command }
}

/** The file that names the schema of this version by its hash. */
const SCHEMA_RECORD = 'src/store/database/migrations.test.ts'

function usualCommit(): string | undefined {
  const release = git(['describe', '--tags', '--abbrev=0', '--match', 'v*', 'HEAD^'])
  if (release !== undefined) return release
  const [hash = ''] = /\b[0-9a-f]{16}\b/.exec(readFileSync(SCHEMA_RECORD, 'utf8')) ?? []
  return git(['log', '-1', '--format=%H', '-S', hash, '--', SCHEMA_RECORD])
}

/** Undefined where there is nothing to tell. */
function git(words: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync('git', words, { encoding: 'utf8' })
  return status === 0 ? stdout.trim() || undefined : undefined
}
