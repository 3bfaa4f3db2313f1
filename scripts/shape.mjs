// `npm run shape`: how the sources are laid out, and how many of them one request enters.
import { fileURLToPath } from 'node:url'
import { underRuntime } from '../bin/runtime.mjs'
import { ensureDependencies } from './checkout.mjs'

await underRuntime(fileURLToPath(import.meta.url), async () => {
  await ensureDependencies()
  await import('./shape.ts')
})
