// Tollgate built as it always is, but for the ledger: whoever asks for it gets the one that does nothing.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildInto } from '../../scripts/build.mjs'

const NULL_LEDGER = fileURLToPath(new URL('./null-ledger.ts', import.meta.url))

/** Returns the file for node. */
export async function buildWithoutLedger(folder: string): Promise<string> {
  await buildInto(folder, [
    {
      name: 'null ledger',
      resolveId: (specifier: string) =>
        specifier.endsWith('/ledger/open.ts') ? NULL_LEDGER : undefined,
    },
  ])
  return join(folder, 'main.js')
}
