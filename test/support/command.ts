// The command line as it runs for people: built from these sources.
import { resolve } from 'node:path'
import { ensureBuilt } from '../../scripts/checkout.mjs'

await ensureBuilt()

/** The file that node is given. What bin/tollgate.mjs does before is tested apart. */
export const COMMAND = resolve('dist/main.js')
