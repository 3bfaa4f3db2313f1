// The command line as people run it: built from these sources.
import { resolve } from 'node:path'
import { ensureBuilt } from '../../scripts/checkout.mjs'

await ensureBuilt()

/** The file that node runs. What bin/tollgate.mjs does before that is tested separately. */
export const COMMAND = resolve('dist/main.js')
