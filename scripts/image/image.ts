// `npm run image`: builds the image of Tollgate with buildah and writes it as a file that docker and podman load.
// Nothing of the machine's own images is used or changed. With --try, it is built twice, compared, and run.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { PLATFORMS, writeContext, type Context, type Platform } from './context.ts'
import { tryImage } from './trial.ts'

const { values: options } = parseArgs({
  options: {
    platform: { type: 'string', default: process.arch === 'arm64' ? 'linux/arm64' : 'linux/amd64' },
    base: { type: 'string' },
    context: { type: 'string' },
    output: { type: 'string', default: '.' },
    try: { type: 'boolean', default: false },
  },
})
const platform = readPlatform(options.platform)
const cache = resolve('.cache', 'image')

if (options.context === undefined) await make()
else await writeContext(resolve(options.context), { platform, base: options.base })

async function make(): Promise<void> {
  const image = await build('image')
  console.log(`image     ${image.file} (${megabytes(statSync(image.file).size)} unpacked)`)
  console.log(`parts     ${image.parts}`)
  console.log(`platform  ${platform}`)
  console.log(`digest    ${image.digest}`)
  console.log(`download  ${megabytes(image.packedBytes)}`)
  if (!options.try) return
  const again = await build('again')
  rmSync(again.file)
  if (again.digest !== image.digest) throw new Error(`the second build is ${again.digest}`)
  console.log('again     the same digest')
  for await (const line of tryImage(image.file)) console.log(`ok        ${line}`)
}

type Image = {
  readonly file: string
  readonly parts: string
  /** What a registry would call it: that of the manifest, with packed layers. */
  readonly digest: string
  readonly packedBytes: number
}

async function build(name: string): Promise<Image> {
  mkdirSync(cache, { recursive: true })
  const work = mkdtempSync(join(cache, 'building-'))
  try {
    const context = await writeContext(join(work, 'context'), { platform, base: options.base })
    return pack(name, { work, context })
  } finally {
    // The files of an image belong to the users in it, and are removed by who could make them.
    buildah(work, 'rm', '--all')
    buildah(work, 'rmi', '--all', '--force')
    rmSync(work, { recursive: true, force: true })
  }
}

function pack(
  name: string,
  { work, context }: { readonly work: string; readonly context: Context },
): Image {
  const { folder, facts } = context
  const tag = `tollgate:${facts.VERSION}`
  const args = Object.entries(facts).map(([key, value]) => `--build-arg=${key}=${value}`)
  buildah(
    work,
    'build',
    // Docker's own format: OCI's has no health check.
    ...['--format=docker', '--layers', '--no-cache', '--quiet', `--platform=${platform}`],
    // All files are as old as the commit.
    ...[`--timestamp=${Date.parse(facts.CREATED) / 1000}`, `--tag=${tag}`, ...args],
    ...(options.base === undefined ? [] : [`--build-arg=BASE=${options.base}`]),
    folder,
  )
  const packed = join(work, 'packed')
  buildah(work, 'push', '--quiet', '--compression-format=gzip', tag, `dir:${packed}`)
  const { digest, packedBytes } = withoutChance(packed)
  const stem = `tollgate-${facts.VERSION}-${platform.replace('/', '-')}`
  const file = resolve(options.output, name === 'image' ? `${stem}.tar` : `${stem}-${name}.tar`)
  rmSync(file, { force: true })
  const id = buildah(work, 'pull', '--quiet', `dir:${packed}`)
  buildah(work, 'push', '--quiet', id, `docker-archive:${file}:${tag}`)
  const parts = resolve(options.output, `${stem}.cdx.json`)
  copyFileSync(join(folder, 'product', 'sbom.cdx.json'), parts)
  return { file, parts, digest, packedBytes }
}

type Settings = {
  readonly config: Readonly<Record<string, unknown>>
  readonly history: readonly Readonly<Record<string, unknown>>[]
}
type Manifest = {
  readonly config: { readonly digest: string }
  readonly layers: readonly { readonly size: number }[]
}

/** Removes what differs from build to build: the random names of the containers that buildah built in. */
function withoutChance(folder: string): Pick<Image, 'digest' | 'packedBytes'> {
  const read = (name: string): unknown => JSON.parse(readFileSync(join(folder, name), 'utf8'))
  const manifest = read('manifest.json') as Manifest
  const settings = read(manifest.config.digest.replace('sha256:', '')) as Settings
  const text = JSON.stringify({
    ...settings,
    ...{ container: undefined, container_config: undefined, parent: undefined },
    config: { ...settings.config, Hostname: undefined },
    history: settings.history.map((step) => ({ ...step, comment: undefined })),
  })
  writeFileSync(join(folder, sha256(text)), text)
  const config = { ...manifest.config, size: text.length, digest: `sha256:${sha256(text)}` }
  const changed = JSON.stringify({ ...manifest, config })
  writeFileSync(join(folder, 'manifest.json'), changed)
  const packedBytes = manifest.layers.reduce((sum, { size }) => sum + size, 0)
  return { digest: `sha256:${sha256(changed)}`, packedBytes }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** In a storage of its own, and with nothing but files: it works in a container, too. */
function buildah(work: string, command: string, ...args: string[]): string {
  const storage = [`--root=${join(work, 'root')}`, `--runroot=${join(work, 'run')}`]
  const all = [...storage, '--storage-driver=vfs', command, ...args]
  return execFileSync('buildah', all, {
    encoding: 'utf8',
    env: { ...process.env, BUILDAH_ISOLATION: 'chroot' },
    stdio: ['ignore', 'pipe', 'inherit'],
  }).trim()
}

function readPlatform(given: string): Platform {
  const found = Object.keys(PLATFORMS).find((name): name is Platform => name === given)
  if (found !== undefined) return found
  throw new Error(`--platform is one of ${Object.keys(PLATFORMS).join(', ')}`)
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`
}
