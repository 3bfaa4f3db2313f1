// `node scripts/build.mjs FOLDER`: makes what runs from src/, one flat folder of JavaScript with all dependencies inside.
// A process that loads a few large files starts sooner, and is smaller, than one that looks for a thousand small ones.
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

/** The command line, and what threads load by its address (src/core/module-beside.ts). */
const entries = [
  'src/cli/main.ts',
  'src/store/sqlite-worker.ts',
  'src/ledger/sqlite-batch.ts',
  'src/access/tokenizer-worker.ts',
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
          // Whatever changes gets another name: a gateway that runs may still load what it has not needed so far.
          chunkFileNames: '[name]-[hash].js',
        },
      },
    },
  })
}
