// `npm run check`: types, lint, format and unit tests; the quick part for every commit.
import { fileURLToPath } from 'node:url'
import { underRuntime } from '../bin/runtime.mjs'
import { ensureDependencies } from './checkout.mjs'

await underRuntime(fileURLToPath(import.meta.url), async () => {
  await ensureDependencies()
  process.argv.splice(2, Infinity, 'quick')
  await import('./suite.ts')
})
