// Loaded before Tollgate (node --import): whoever asks for the ledger gets the one that does nothing.
import { registerHooks } from 'node:module'

registerHooks({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context)
    if (!resolved.url.endsWith('/src/ledger/open.ts')) return resolved
    return { ...resolved, url: new URL('./null-ledger.ts', import.meta.url).href }
  },
})
