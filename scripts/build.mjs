// `node scripts/build.mjs FOLDER`: makes what runs from src/, one flat folder of JavaScript with all dependencies inside.
// A process that loads a few large files starts sooner, and is smaller, than one that looks for a thousand small ones.
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const root = fileURLToPath(new URL('..', import.meta.url))

/** The command line, and what threads load by its address (src/core/module-beside.ts). */
const entries = [
  'src/cli/main.ts',
  'src/store/sqlite-worker.ts',
  'src/ledger/sqlite-batch.ts',
  'src/access/tokenizer-worker.ts',
]

if (import.meta.main) await buildInto(process.argv[2])

export async function buildInto(folder, plugins = []) {
  const bundle = await rolldown({ cwd: root, input: entries, platform: 'node', plugins })
  const { output } = await bundle.write({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name].js',
    // Whatever changes gets another name: a gateway that runs may still load what it has not needed so far.
    chunkFileNames: '[name]-[hash].js',
  })
  await bundle.close()
  const files = output.flatMap((chunk) => chunk.moduleIds ?? [])
  fs.writeFileSync(path.join(folder, 'LICENSES.md'), licencesOf(files))
}

/** Whoever gives the work of others away says whose it is, and on what terms. */
function licencesOf(files) {
  const folders = files.map(
    (file) => /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(file)?.[0],
  )
  const packages = [...new Set(folders)].filter((folder) => folder !== undefined).toSorted()
  const sections = packages.map((folder) => {
    const { name, version, license } = JSON.parse(
      fs.readFileSync(path.join(folder, 'package.json'), 'utf8'),
    )
    const file = fs.readdirSync(folder).find((each) => /^(licen[cs]e|copying)/i.test(each))
    const terms = file === undefined ? '' : fs.readFileSync(path.join(folder, file), 'utf8').trim()
    return `## ${name} ${version}: ${license}\n\n${terms}`.trimEnd()
  })
  return `# Works of others inside Tollgate\n\n${sections.join('\n\n')}\n`
}
