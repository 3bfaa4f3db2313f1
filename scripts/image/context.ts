// The files that an image is made of, in one folder, as the Dockerfile expects them: the packed product, Node for the
// wanted platform, a base of Debian's packages, and the list of all these parts.
import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { nodeFor } from '../../bin/runtime.mjs'
import { listOfParts } from './sbom.ts'

export const PLATFORMS = {
  'linux/amd64': { node: 'linux-x64', debian: 'amd64' },
  'linux/arm64': { node: 'linux-arm64', debian: 'arm64' },
} as const
export type Platform = keyof typeof PLATFORMS

export type Context = {
  readonly folder: string
  /** For the arguments of the Dockerfile. */
  readonly facts: Readonly<Record<'VERSION' | 'REVISION' | 'CREATED' | 'BASE_NAME', string>>
}

const SUITE = 'trixie'
/** What Node links with, and the folders that every Linux has. */
const PACKAGES = ['base-files', 'libatomic1', 'libstdc++6']
const cache = resolve('.cache', 'image')

/** `base`: an image to build on instead of Debian's packages. */
export async function writeContext(
  folder: string,
  { platform, base }: { readonly platform: Platform; readonly base: string | undefined },
): Promise<Context> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(join(folder, 'state', 'data'), { recursive: true })
  copyFileSync('Dockerfile', join(folder, 'Dockerfile'))
  const product = unpackProduct(folder)
  mkdirSync(cache, { recursive: true })
  const node = await nodeFor(PLATFORMS[platform].node, cache)
  copyFileSync(node.binary, join(folder, 'node'))
  // There is no `env` in the image that could look for Node, as the product's own first line asks.
  const launcher = "#!/usr/local/bin/node\nimport '/opt/tollgate/bin/tollgate.mjs'\n"
  writeFileSync(join(folder, 'tollgate'), launcher)
  for (const name of ['node', 'tollgate']) chmodSync(join(folder, name), 0o755)
  const baseFile = join(folder, 'base.tar')
  if (base === undefined) copyFileSync(debianBase(PLATFORMS[platform].debian), baseFile)
  else execFileSync('tar', ['--create', '--file', baseFile, '--files-from', '/dev/null'])
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
  const facts = {
    VERSION: version,
    REVISION: revision(),
    CREATED: committedAt(),
    BASE_NAME: base ?? `debian:${SUITE}`,
  }
  const parts = listOfParts({
    version,
    createdAt: facts.CREATED,
    node: node.version,
    licenseTexts: ['dist', 'web/dist'].map((each) =>
      readFileSync(join(product, each, 'LICENSES.md'), 'utf8'),
    ),
    debianRecords: base === undefined ? recordsIn(baseFile) : [],
    base: base ?? SUITE,
  })
  writeFileSync(join(product, 'sbom.cdx.json'), `${JSON.stringify(parts, null, 2)}\n`)
  openToAll(folder)
  return { folder, facts }
}

/** Whoever builds it may keep their files to themselves; the user of the image must be able to read them. */
function openToAll(folder: string): void {
  chmodSync(folder, 0o755)
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) openToAll(path)
    else chmodSync(path, (statSync(path).mode & 0o100) === 0 ? 0o644 : 0o755)
  }
}

/** The same package that others install with npm. */
function unpackProduct(folder: string): string {
  execFileSync(process.execPath, ['scripts/pack.mjs', '--pack-destination', folder], {
    stdio: ['ignore', 'ignore', 'ignore'],
  })
  const packed = join(folder, readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? '')
  execFileSync('tar', ['--extract', '--no-same-owner', '--file', packed, '--directory', folder])
  rmSync(packed)
  const product = join(folder, 'product')
  renameSync(join(folder, 'package'), product)
  return product
}

/** A few libraries of Debian, without a shell or a package manager; made once, until its file is removed. */
function debianBase(architecture: string): string {
  const file = join(cache, `${SUITE}-${architecture}.tar`)
  if (existsSync(file)) return file
  const args = [
    `--architectures=${architecture}`,
    '--variant=extract',
    `--include=${PACKAGES.join(',')}`,
    '--skip=cleanup,output/dev',
    `--extract-hook=${SLIM}`,
    '--format=tar',
    '--quiet',
    SUITE,
    `${file}.part`,
  ]
  // The same packages give the same file; the image has the time of its commit.
  const env = { ...process.env, SOURCE_DATE_EPOCH: '0' }
  execFileSync('mmdebstrap', args, { env, stdio: ['ignore', 'ignore', 'inherit'] })
  renameSync(`${file}.part`, file)
  return file
}

/**
 * Keeps the record of each package where scanners look for it, and removes what belongs to the machine that built the
 * base or is read by people and package managers alone. A licence stays where its package has it.
 */
const SLIM = `set -e
records="$1/var/lib/dpkg/status.d"
mkdir -p "$records"
for file in "$1"/var/cache/apt/archives/*.deb; do
  dpkg-deb --field "$file" > "$records/$(dpkg-deb --field "$file" Package)"
done
cd "$1"
rm -rf etc/apt etc/fstab etc/hostname etc/resolv.conf tmp/* var/cache/apt var/lib/apt var/log/*
rm -rf usr/lib/*/gconv usr/lib/*/audit usr/share/gcc usr/share/gdb
rm -rf usr/share/lintian usr/share/locale usr/share/man
find usr/share/doc -type f ! -name copyright -delete`

function recordsIn(tar: string): readonly string[] {
  const folder = './var/lib/dpkg/status.d/'
  const names = execFileSync('tar', ['--list', '--file', tar], { encoding: 'utf8' })
    .split('\n')
    .filter((name) => name.startsWith(folder) && name !== folder)
    .toSorted()
  return names.map((name) =>
    execFileSync('tar', ['--extract', '--to-stdout', '--file', tar, name], { encoding: 'utf8' }),
  )
}

function revision(): string {
  const isChanged = git('status', '--porcelain') !== ''
  return `${git('rev-parse', 'HEAD')}${isChanged ? ' with changes' : ''}`
}

/** A build has the time of its commit. */
function committedAt(): string {
  return new Date(Number(git('log', '-1', '--format=%ct')) * 1000).toISOString()
}

function git(...args: string[]): string {
  return execFileSync('git', args, { encoding: 'utf8' }).trim()
}
