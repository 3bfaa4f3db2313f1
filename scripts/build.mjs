// `node scripts/build.mjs FOLDER`: builds src/ into one flat folder of JavaScript that includes all dependencies. A
// process that loads a few large files starts sooner, and is smaller, than one that looks for a thousand small ones.
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

/** The command line, and the modules that threads load by URL (src/core/runtime.ts). */
const entries = [
  'src/cli/main.ts',
  'src/store/sqlite/connection.ts',
  'src/ledger/sqlite/batch-thread.ts',
  'src/access/tokenizer-thread.ts',
]

if (import.meta.main) await buildInto(process.argv[2])

export async function buildInto(folder, plugins = []) {
  await build({
    root: fileURLToPath(new URL('..', import.meta.url)),
    configFile: false,
    logLevel: 'warn',
    plugins,
    ssr: { noExternal: true },
    build: {
      ssr: true,
      target: 'esnext',
      outDir: folder,
      emptyOutDir: false,
      license: { fileName: 'LICENSES.md' },
      rolldownOptions: {
        input: entries,
        output: {
          entryFileNames: '[name].js',
          // Changed chunks get new names: a running gateway may still load old ones that it has not needed so far.
          chunkFileNames: '[name]-[hash].js',
        },
      },
    },
  })
}
