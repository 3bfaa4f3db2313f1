// Tollgate built as usual, except that imports of some of its modules get others in their place.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildInto } from '../../scripts/build.mjs'

/** By the end of what is imported, the module that takes its place, and may itself import the one it replaces. */
export type Replacements = Readonly<Record<string, URL>>

export const WITHOUT_LEDGER: Replacements = {
  '/ledger/nodes/open.ts': new URL('./null-ledger.ts', import.meta.url),
}

/** Returns the file to run with node. */
export async function buildWith(replacements: Replacements, folder: string): Promise<string> {
  const missing = new Set(Object.keys(replacements))
  await buildInto(folder, [
    {
      name: 'replaced modules',
      enforce: 'pre', // Vite's own resolver would find the real ones first
      resolveId: (specifier: string, importer: string | undefined) => {
        for (const [end, url] of Object.entries(replacements)) {
          const file = fileURLToPath(url)
          if (!specifier.endsWith(end) || importer === file) continue
          missing.delete(end)
          return file
        }
        return undefined
      },
    },
  ])
  if (missing.size > 0) throw new Error(`nothing imports ${[...missing].join(', ')}: not replaced`)
  return join(folder, 'main.js')
}
