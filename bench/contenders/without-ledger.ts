// Tollgate built as usual, except that imports of the ledger get the one that does nothing.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildInto } from '../../scripts/build.mjs'

const NULL_LEDGER = fileURLToPath(new URL('./null-ledger.ts', import.meta.url))

/** Returns the file to run with node. */
export async function buildWithoutLedger(folder: string): Promise<string> {
  let isReplaced = false
  await buildInto(folder, [
    {
      name: 'null ledger',
      enforce: 'pre', // Vite's own resolver would find the real one first
      resolveId: (specifier: string) => {
        if (!specifier.endsWith('/ledger/nodes/open.ts')) return undefined
        isReplaced = true
        return NULL_LEDGER
      },
    },
  ])
  if (!isReplaced)
    throw new Error('nothing imports ledger/nodes/open.ts: the ledger was not taken out')
  return join(folder, 'main.js')
}
