#!/usr/bin/env node
// The command `tollgate`, for any Node >= 20: finds the runtime, in a checkout also the dependencies and (to serve) the
// built web interface, then becomes the command line of src/cli. Prints on stderr only.
import { fileURLToPath } from 'node:url'
import { inCheckout, underRuntime } from './runtime.mjs'

await underRuntime(fileURLToPath(import.meta.url), async () => {
  if (inCheckout) {
    const { ensureDependencies, ensureWeb } = await import('../scripts/checkout.mjs')
    await ensureDependencies()
    if (process.argv[2] === 'serve') await ensureWeb()
  }
  await import(inCheckout ? '../src/cli/main.ts' : '../dist/cli/main.js')
})
