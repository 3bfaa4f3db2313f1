// `npm run matrix`: runs the tests of test/matrix and prints what each client library can do with each format.
import { fileURLToPath } from 'node:url'
import { underRuntime } from '../bin/runtime.mjs'
import { ensureDependencies } from './checkout.mjs'

await underRuntime(fileURLToPath(import.meta.url), async () => {
  await ensureDependencies()
  await import('./matrix.ts')
})
