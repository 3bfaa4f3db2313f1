// `npm run pack`: JavaScript into dist/, because Node strips no types below node_modules, and web/dist; then npm packs
// them. Not a `prepack` script: `.npmrc` lets npm run none. A checkout runs src/ itself and needs no dist/.
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { fileURLToPath } from 'node:url'
import { SetupError } from '../bin/npm.mjs'
import { underRuntime } from '../bin/runtime.mjs'
import { ensureDependencies, ensureWeb } from './checkout.mjs'

await underRuntime(fileURLToPath(import.meta.url), async () => {
  await ensureDependencies()
  fs.rmSync('dist', { recursive: true, force: true })
  const compiler = ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json']
  const { status, stdout } = spawnSync(process.execPath, compiler, { encoding: 'utf8' })
  if (status !== 0) throw new SetupError(`could not compile src/:\n${stdout}`)
  await ensureWeb()
  const { error, status: packed } = spawnSync('npm', ['pack', ...process.argv.slice(2)], {
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
  if (error !== undefined) throw new SetupError(`npm cannot be started: ${error.message}`)
  process.exitCode = packed ?? 1
})
