// The programs that check deploy/, at versions that are written down: those in Go are built once into .cache, the others
// come from the system's packages. Each runs to its end, and what it printed is its reason if it fails.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { installWithApt } from '../../test/support/apt.ts'

const cache = resolve('.cache', 'deploy')

const GO_PROGRAMS = {
  helm: { package: 'helm.sh/helm/v3/cmd/helm', version: 'v3.22.0' },
  compose: { package: 'github.com/compose-spec/compose-go/v2/cmd', version: 'v2.16.2' },
} as const

/** The path of a program in Go, built the first time, which takes minutes. */
export function goProgram(name: keyof typeof GO_PROGRAMS): string {
  const { package: from, version } = GO_PROGRAMS[name]
  const file = join(cache, `${name}-${version}`)
  if (existsSync(file)) return file
  console.log(`building ${name} ${version} with Go, once`)
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, 'building-'))
  try {
    runTool('go', ['install', `${from}@${version}`], { env: { GOBIN: folder } })
    const [made = ''] = readdirSync(folder)
    renameSync(join(folder, made), file)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return file
}

/** Installs the package of a program that is not there. */
export function systemProgram(name: string, debianPackage = name): string {
  const path = `${process.env['PATH']}:/usr/sbin:/sbin`
  const isThere = (): boolean => path.split(':').some((folder) => existsSync(join(folder, name)))
  if (!isThere()) installWithApt(debianPackage)
  if (isThere()) return name
  throw new Error(`${name} is not installed: install the package ${debianPackage}`)
}

export type ToolOptions = {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
}

/** What it printed on standard output; throws what it printed if it fails. */
export function runTool(
  program: string,
  args: readonly string[],
  { cwd, env = {} }: ToolOptions = {},
): string {
  const path = `${process.env['PATH']}:/usr/sbin:/sbin`
  const ended = spawnSync(program, args, {
    ...(cwd === undefined ? {} : { cwd }),
    env: { ...process.env, PATH: path, ...env },
    encoding: 'utf8',
  })
  if (ended.error !== undefined) throw ended.error
  if (ended.status === 0) return ended.stdout
  throw new Error(
    `${program} ${args[0]} ended with ${ended.status}:\n${ended.stdout}${ended.stderr}`,
  )
}
