// `npm test [-- PATTERN…]`: everything, or the test files whose path contains a pattern.
import { fileURLToPath } from 'node:url'
import { underRuntime } from '../bin/runtime.mjs'
import { ensureDependencies } from './checkout.mjs'

await underRuntime(fileURLToPath(import.meta.url), async () => {
  await ensureDependencies()
  process.argv.splice(2, 0, 'all')
  await import('./suite.ts')
})
