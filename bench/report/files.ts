// Where the results of the last runs are kept (bench/results, not in git), and how they get into the document.
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const RESULTS = fileURLToPath(new URL('../results', import.meta.url))
const DOCS = fileURLToPath(new URL('../../docs', import.meta.url))
const SCALE_FILE = join(RESULTS, 'scale.md')
const TABLE_FILE = join(RESULTS, 'table.md')
const DOCUMENT = join(DOCS, 'performance.md')

export type ResultFiles = {
  readonly json: Readonly<Record<string, unknown>> & { readonly effort: number }
  readonly table: string
  readonly plot: string
}

export function writeResults({ json, table, plot }: ResultFiles): void {
  mkdirSync(RESULTS, { recursive: true })
  writeFileSync(join(RESULTS, 'results.json'), `${JSON.stringify(json, null, 2)}\n`)
  writeFileSync(TABLE_FILE, table)
  writeFileSync(join(RESULTS, 'plot.svg'), plot)
}

/** The results of a run with a full database, which is a separate command. */
export function writeScale(table: string): void {
  mkdirSync(RESULTS, { recursive: true })
  writeFileSync(SCALE_FILE, table)
}

/** Writes the last runs into docs/performance.md, each between its two markers. */
export function publishResults(): number {
  const hasTable = existsSync(TABLE_FILE)
  const hasScale = existsSync(SCALE_FILE)
  if (!hasTable && !hasScale) throw new Error('there is no run to publish yet: npm run bench')
  if (hasTable) publishTable()
  if (hasScale) putBetweenMarks('scale', readFileSync(SCALE_FILE, 'utf8'))
  return 0
}

function publishTable(): void {
  const json = readFileSync(join(RESULTS, 'results.json'), 'utf8')
  const { effort } = JSON.parse(json) as ResultFiles['json']
  if (effort < 1) throw new Error('the last run was a trial (BENCH_EFFORT): npm run bench')
  const plot = '![Requests and events per second, as shares of a bare proxy](performance.svg)'
  putBetweenMarks('bench', `${readFileSync(TABLE_FILE, 'utf8')}\n${plot}\n`)
  copyFileSync(join(RESULTS, 'plot.svg'), join(DOCS, 'performance.svg'))
}

function putBetweenMarks(name: 'bench' | 'scale', text: string): void {
  const [begin, end] = [`<!-- ${name}: begin -->`, `<!-- ${name}: end -->`]
  const document = readFileSync(DOCUMENT, 'utf8')
  const [from, to] = [document.indexOf(begin), document.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`docs/performance.md lacks ${begin} and ${end}`)
  writeFileSync(DOCUMENT, `${document.slice(0, from)}${begin}\n\n${text}\n${document.slice(to)}`)
}
