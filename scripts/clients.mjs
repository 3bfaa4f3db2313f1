// `npm run clients [-- WORD…]`: what real clients in all languages can do with each upstream format, as a table.
import { fileURLToPath } from 'node:url'
import { underRuntime } from '../bin/runtime.mjs'
import { ensureDependencies } from './checkout.mjs'

await underRuntime(fileURLToPath(import.meta.url), async () => {
  await ensureDependencies()
  await import('./clients.ts')
})
