// Prints how the sources are laid out, beside what is wanted: files, lines, folders, cycles, and what one warm request
// enters. What can be held without starting a gateway is held by test/tidy.test.ts.
import type { Entered } from './requests-entered.ts'
import { requestsEntered } from './requests-entered.ts'
import { fileCycles, filesByFolder, folderCycles, readSources } from './source-tree.ts'
import type { SourceFile } from './source-tree.ts'

const src = readSources('src')
const lines = src.map((file) => file.lines).toSorted((one, other) => one - other)
const linesAt = (share: number): number =>
  lines[Math.min(lines.length - 1, Math.floor(lines.length * share))] ?? 0
const total = (files: readonly SourceFile[]): number =>
  files.reduce((sum, file) => sum + file.lines, 0)
const [fullest = ['', 0]] = filesByFolder(src)

say('files in src', src.length, '≤ 330')
say('lines of src and web', total(src) + total(readSources('web/src')))
say('lines of a file: median', linesAt(0.5), '110 to 180')
say('lines of a file: p90', linesAt(0.9), '≤ 420')
say('lines of a file: max', linesAt(1), '≤ 650')
say('fullest folder', `${fullest[1]} (${fullest[0]})`, '≤ 16')
sayCycles('cycles of values', fileCycles(src, 'valueImports'))
sayCycles('cycles with types', fileCycles(src, 'imports'))
sayCycles('cycles of folders', folderCycles(src))
for (const { label, wanted, entered } of await requestsEntered()) {
  say(`${label}: files, functions`, `${Object.keys(entered).length}, ${sumOf(entered)}`, wanted)
  if (process.argv.includes('--files'))
    for (const path of Object.keys(entered).toSorted()) console.log(`    ${path}`)
}

function say(label: string, value: number | string, wanted = ''): void {
  const goal = wanted === '' ? '' : `   wanted ${wanted}`
  console.log(`${label.padEnd(52)} ${String(value).padStart(10)}${goal}`)
}

function sayCycles(label: string, cycles: readonly string[][]): void {
  say(label, cycles.length, '0')
  for (const cycle of cycles) console.log(`    ${cycle.join(' ↔ ')}`)
}

function sumOf(entered: Entered): number {
  return Object.values(entered).reduce((sum, count) => sum + count, 0)
}
