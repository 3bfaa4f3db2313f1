// `npm run bench`: sets up the runtime and the checkout's dependencies, then runs the requested benchmark.
import { fileURLToPath } from 'node:url'
import { underRuntime } from '../bin/runtime.mjs'
import { ensureDependencies } from '../scripts/checkout.mjs'

await underRuntime(fileURLToPath(import.meta.url), async () => {
  await ensureDependencies()
  await import('./main.ts')
})
