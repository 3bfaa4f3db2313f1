// `npm run pack`: copies the contents of the package into a separate folder, builds dist/ there, and runs npm pack.
// Not a `prepack` script, because `.npmrc` forbids npm to run scripts.
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { SetupError } from '../bin/npm.mjs'
import { underRuntime } from '../bin/runtime.mjs'
import { buildGateway, ensureDependencies, ensureWeb } from './checkout.mjs'

await underRuntime(fileURLToPath(import.meta.url), async () => {
  await ensureDependencies()
  await ensureWeb()
  const folder = fs.mkdtempSync(path.resolve('.cache', 'package-'))
  try {
    fill(folder)
    buildGateway(path.join(folder, 'dist'))
    process.exitCode = pack(folder)
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
})

function fill(folder) {
  const manifest = JSON.parse(fs.readFileSync('package.json', 'utf8'))
  const names = ['README.md', 'LICENSE', ...manifest.files].filter((name) => name !== 'dist')
  for (const name of names) fs.cpSync(name, path.join(folder, name), { recursive: true })
  // No dependencies either: dist/ includes them.
  for (const part of ['scripts', 'dependencies', 'devDependencies', 'overrides'])
    delete manifest[part]
  fs.writeFileSync(path.join(folder, 'package.json'), JSON.stringify(manifest, null, 2))
}

function pack(folder) {
  const { error, status } = spawnSync('npm', ['pack', folder, ...process.argv.slice(2)], {
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
  if (error !== undefined) throw new SetupError(`npm cannot be started: ${error.message}`)
  return status ?? 1
}
