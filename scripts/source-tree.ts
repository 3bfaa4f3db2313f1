// The sources as a tree of files that import each other: read once, for test/tidy.test.ts and `npm run shape`.
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export type SourceFile = {
  readonly path: string
  readonly text: string
  readonly lines: number
  /** Files it imports, for values or for types. */
  readonly imports: readonly string[]
  /** Files it imports for values: those that exist at run time. */
  readonly valueImports: readonly string[]
}

/** The product: tests and their shared samples are not part of it. */
export function readSources(root = 'src'): readonly SourceFile[] {
  return globSync(`${root}/**/*.{ts,tsx}`)
    .filter((path) => !/(\.test|\/sample-[\w-]+)\.tsx?$/.test(path))
    .toSorted()
    .map((path) => {
      const text = readFileSync(path, 'utf8')
      const imports = importsOf(path, text)
      return {
        path,
        text,
        lines: text.split('\n').length - 1,
        imports: imports.map(({ target }) => target),
        valueImports: imports.filter(({ isType }) => !isType).map(({ target }) => target),
      }
    })
}

const IMPORT =
  /^(?<words>import|export)(?<type> type)? (?<names>[^'"]*?from )?'(?<specifier>\.[^']+\.tsx?)'|import\('(?<lazy>\.[^']+\.tsx?)'\)/gm

function importsOf(path: string, text: string): { target: string; isType: boolean }[] {
  return [...text.matchAll(IMPORT)].map(({ groups = {} }) => ({
    target: join(dirname(path), groups['specifier'] ?? groups['lazy'] ?? ''),
    isType:
      groups['type'] !== undefined ||
      /^\{(\s*type \w+( as \w+)?,?)+\s*\} from $/.test(groups['names'] ?? ''),
  }))
}

/** Source files per folder, the fullest first. */
export function filesByFolder(
  files: readonly SourceFile[],
): readonly [folder: string, files: number][] {
  const counts = new Map<string, number>()
  for (const { path } of files) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1)
  return [...counts].toSorted(([, one], [, other]) => other - one)
}

/** Groups of files that import each other in a circle. */
export function fileCycles(
  files: readonly SourceFile[],
  kind: 'imports' | 'valueImports',
): readonly string[][] {
  return cycles(new Map(files.map((file) => [file.path, new Set(file[kind])])))
}

/** Groups of folders that import each other in a circle, of values or types. */
export function folderCycles(files: readonly SourceFile[]): readonly string[][] {
  const graph = new Map<string, Set<string>>()
  for (const { path, imports } of files) {
    const targets = graph.get(dirname(path)) ?? new Set()
    graph.set(dirname(path), targets)
    for (const target of imports)
      if (dirname(target) !== dirname(path)) targets.add(dirname(target))
  }
  return cycles(graph)
}

/** The strongly connected parts of more than one node (Tarjan). */
function cycles(graph: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const found: string[][] = []
  const order = new Map<string, number>()
  const path: string[] = []
  const visit = (node: string): number => {
    const own = order.size
    order.set(node, own)
    let low = own
    path.push(node)
    for (const next of graph.get(node) ?? []) {
      if (!graph.has(next)) continue
      if (!order.has(next)) low = Math.min(low, visit(next))
      else if (path.includes(next)) low = Math.min(low, order.get(next) ?? own)
    }
    if (low === own) {
      const part = path.splice(path.indexOf(node))
      if (part.length > 1) found.push(part.toSorted())
    }
    return low
  }
  for (const node of graph.keys()) if (!order.has(node)) visit(node)
  return found
}
