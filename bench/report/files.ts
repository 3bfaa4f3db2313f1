// Where the results of a whole run are kept (bench/results, not in git), and how they get into the document.
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const RESULTS = fileURLToPath(new URL('../results', import.meta.url))
const DOCS = fileURLToPath(new URL('../../docs', import.meta.url))
const SCALE_FILE = join(RESULTS, 'scale.md')
const BEGIN = '<!-- bench: begin -->'
const END = '<!-- bench: end -->'

export type ResultFiles = {
  readonly json: Readonly<Record<string, unknown>> & { readonly effort: number }
  readonly table: string
  readonly plot: string
}

export function writeResults({ json, table, plot }: ResultFiles): void {
  mkdirSync(RESULTS, { recursive: true })
  writeFileSync(join(RESULTS, 'results.json'), `${JSON.stringify(json, null, 2)}\n`)
  writeFileSync(join(RESULTS, 'table.md'), table)
  writeFileSync(join(RESULTS, 'plot.svg'), plot)
}

/** Of a run with a full database, which is a command of its own. */
export function writeScale(table: string): void {
  mkdirSync(RESULTS, { recursive: true })
  writeFileSync(SCALE_FILE, table)
}

/** Puts the last runs into docs/performance.md, between its two marks. */
export function publishResults(): number {
  const tableFile = join(RESULTS, 'table.md')
  if (!existsSync(tableFile)) throw new Error('there is no run to publish yet: npm run bench')
  const { effort } = JSON.parse(
    readFileSync(join(RESULTS, 'results.json'), 'utf8'),
  ) as ResultFiles['json']
  if (effort < 1) throw new Error('the last run was a trial (BENCH_EFFORT): npm run bench')
  const file = join(DOCS, 'performance.md')
  const document = readFileSync(file, 'utf8')
  const begin = document.indexOf(BEGIN)
  const end = document.indexOf(END)
  if (begin < 0 || end < begin) throw new Error(`docs/performance.md lacks ${BEGIN} and ${END}`)
  const plot = '![Requests and events per second, as shares of a bare proxy](performance.svg)'
  const scale = existsSync(SCALE_FILE)
    ? `### A full database\n\n${readFileSync(SCALE_FILE, 'utf8')}\n`
    : ''
  const results = `${BEGIN}\n\n${readFileSync(tableFile, 'utf8')}\n${plot}\n\n${scale}`
  writeFileSync(file, document.slice(0, begin) + results + document.slice(end))
  copyFileSync(join(RESULTS, 'plot.svg'), join(DOCS, 'performance.svg'))
  return 0
}
