#!/usr/bin/env node
// The command `tollgate`, for any Node >= 20: finds the runtime, in a checkout also installs the dependencies and
// builds the sources, then becomes the command line. Prints on stderr only.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { SetupError } from './npm.mjs'
import { inCheckout, underRuntime } from './runtime.mjs'

await underRuntime(fileURLToPath(import.meta.url), async () => {
  if (inCheckout) {
    const { ensureBuilt, ensureDependencies, ensureWeb } = await import('../scripts/checkout.mjs')
    await ensureDependencies()
    await ensureBuilt()
    if (process.argv[2] === 'serve') await ensureWeb()
  } else if (!existsSync(new URL('../dist', import.meta.url)))
    throw new SetupError('this package holds no built code: it must be packed with npm run pack.')
  await import('../dist/main.js')
})
