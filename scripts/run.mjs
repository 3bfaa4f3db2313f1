// `node scripts/run.mjs PROGRAM [OPTION…]`: a TypeScript program of this checkout, such as scripts/suite.ts, once the
// runtime and the dependencies are there. The npm commands are written in its terms (package.json).
import { fileURLToPath } from 'node:url'
import { underRuntime } from '../bin/runtime.mjs'
import { ensureDependencies } from './checkout.mjs'

await underRuntime(fileURLToPath(import.meta.url), async () => {
  await ensureDependencies()
  const [program] = process.argv.splice(2, 1)
  await import(new URL(`../${program}`, import.meta.url))
})
