// The configuration as written: the file, overridden by the environment and the command line, not yet checked. What
// cannot be read is reported beside what can, so that a caller that needs little of it can go on.
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { LineCounter, parseDocument, type Document, visit } from 'yaml'
import { codeOf } from '../core/errors.ts'
import { isObject } from '../core/json.ts'
import { sqlitePath } from '../store/database/url.ts'
import { pathOf } from './problems.ts'
import type { Path, Problem } from './problems.ts'

export type ConfigSource = {
  readonly env: Readonly<Record<string, string | undefined>>
  /** The current folder. */
  readonly folder: string
  /** From the command line; it wins over the environment, which wins over the file. */
  readonly options?: {
    readonly config?: string | undefined
    readonly host?: string | undefined
    readonly port?: string | undefined
    readonly workers?: string | undefined
  }
}

export type Written = {
  /** The file; null = there is none. */
  readonly path: string | null
  /** The file and the files it took values from, in the state in which they were read. */
  readonly files: readonly FileState[]
  /** False: the file is missing or not YAML, and the document is what could be read of it. */
  readonly isReadable: boolean
  readonly document: Readonly<Record<string, unknown>>
  readonly problems: readonly Problem[]
  /** Settings of providers whose files cannot be read at the moment. */
  readonly unreadable: readonly LostSetting[]
  /** Which variable or option a value came from, by its path; what is not here came from the file. */
  readonly origins: ReadonlyMap<string, string>
  /** Where a relative path to the database starts. */
  readonly databaseFolder: string
}

export type LostSetting = Problem & { readonly provider: string }

export function readWritten(source: ConfigSource): Written {
  const path = findFile(source)
  const folder = path === null ? source.folder : dirname(path)
  // A file that does not exist yet may be written while the server runs.
  const ownState = fileState(path ?? usualFile(source))
  const read = path === null ? { sections: {}, problems: [] } : readYaml(path)
  const expanded = expand(read.sections, { env: source.env, folder })
  const { document, origins } = override(expanded.value, source)
  const isOfProvider = ({ at }: Unreadable): boolean => at[0] === 'providers' && at.length > 1
  const problemOf = ({ at, message }: Unreadable): Problem => ({ path: pathOf(at), message })
  const { unreadable } = expanded
  return {
    path,
    files: [ownState, ...expanded.files],
    isReadable: read.problems.length === 0,
    document,
    problems: [
      ...read.problems,
      // A problem of a value in the file does not matter if a variable or option overrides it.
      ...[
        ...expanded.problems,
        ...unreadable.filter((each) => !isOfProvider(each)).map(problemOf),
      ].filter((problem) => !origins.has(problem.path)),
    ],
    unreadable: unreadable
      .filter(isOfProvider)
      .map((each) => ({ provider: String(each.at[1]), ...problemOf(each) })),
    origins,
    databaseFolder: origins.has('database') ? source.folder : folder,
  }
}

/** The problems under the names of the variables and options that the values came from. */
export function withOrigins(
  { origins }: Pick<Written, 'origins'>,
  problems: readonly Problem[],
): readonly Problem[] {
  return problems.map(({ path, message }) => ({ path: origins.get(path) ?? path, message }))
}

export function locateDatabase(url: string, { databaseFolder }: Written) {
  const file = sqlitePath(url)
  if (file === undefined) return { database: url, dataFolder: resolve(databaseFolder, 'data') }
  const path = resolve(databaseFolder, file)
  return { database: `sqlite:${path}`, dataFolder: dirname(path) }
}

function findFile(source: ConfigSource): string | null {
  const { env, folder, options } = source
  const named = options?.config ?? env['TOLLGATE_CONFIG']
  if (named !== undefined && named !== '') return resolve(folder, named)
  const usual = usualFile(source)
  return existsSync(usual) ? usual : null
}

function usualFile({ folder }: ConfigSource): string {
  return resolve(folder, 'tollgate.yaml')
}

type Sections = {
  readonly sections: Readonly<Record<string, unknown>>
  readonly problems: readonly Problem[]
}

function readYaml(path: string): Sections {
  let text
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const code = codeOf(error) ?? 'unreadable'
    const message = `cannot be read (${code}): check --config or TOLLGATE_CONFIG`
    return { sections: {}, problems: [{ path, message }] }
  }
  const lineCounter = new LineCounter()
  // The parser's warnings would show parts of the file, secrets included.
  const document = parseDocument(text, { lineCounter, logLevel: 'error' })
  const mistakes = document.errors.map(({ message, linePos }) => ({
    path: `line ${linePos?.[0].line ?? 1}`,
    message: `is not valid YAML: ${message.split('\n')[0]?.replace(/ at line \d+.*$/, '') ?? ''}`,
  }))
  const misled = misledAliases(document, lineCounter)
  // A document with mistakes still yields what could be read; one with such an alias yields nothing.
  const value = misled.length > 0 ? null : valueOf(document)
  if (value === undefined) {
    const message = 'repeats its aliases (*name) too often: write the values out'
    return { sections: {}, problems: [{ path, message }] }
  }
  const problems = [...mistakes, ...misled]
  if (problems.length === 0 && value !== null && !isObject(value)) {
    const message = 'must begin with a section such as `server:`, not a single value'
    return { sections: {}, problems: [{ path: 'line 1', message }] }
  }
  // A section whose lines are all commented out is null, and counts as absent.
  const sections = Object.entries(isObject(value) ? value : {}).filter(([, each]) => each !== null)
  return { sections: Object.fromEntries(sections), problems }
}

/** Undefined if its aliases multiply into something huge. */
function valueOf(document: Document): unknown {
  try {
    return document.toJS() as unknown
  } catch (error) {
    if (error instanceof ReferenceError) return undefined
    throw error
  }
}

/** Aliases of nothing, or of a node around them. An unquoted secret that begins with * is one: it must not be shown. */
function misledAliases(document: Document, lines: LineCounter): readonly Problem[] {
  const problems: Problem[] = []
  visit(document, {
    Alias: (_, alias, around) => {
      const meant = alias.resolve(document)
      if (meant !== undefined && !around.includes(meant)) return
      const { line } = lines.linePos(alias.range?.[0] ?? 0)
      const message = 'is not valid YAML: a text that begins with * needs quotes'
      problems.push({ path: `line ${line}`, message })
    },
  })
  return problems
}

const SERVER_VARIABLES = {
  host: 'TOLLGATE_HOST',
  port: 'TOLLGATE_PORT',
  workers: 'TOLLGATE_WORKERS',
} as const

/** Puts the values of the command line and the environment over the file's, and records where each came from. */
function override(value: unknown, { env, options }: ConfigSource) {
  const document: Record<string, unknown> = isObject(value) ? { ...value } : {}
  const origins = new Map<string, string>()
  const server = isObject(document['server']) ? { ...document['server'] } : undefined
  const changed: Record<string, string> = {}
  for (const name of ['host', 'port', 'workers'] as const) {
    const variable = SERVER_VARIABLES[name]
    const given = options?.[name] ?? (env[variable] || undefined)
    if (given === undefined) continue
    changed[name] = given
    origins.set(`server.${name}`, options?.[name] === undefined ? variable : `--${name}`)
  }
  if (origins.size > 0) document['server'] = { ...server, ...changed }
  const database = env['TOLLGATE_DATABASE']
  if (database !== undefined && database !== '') {
    document['database'] = database
    origins.set('database', 'TOLLGATE_DATABASE')
  }
  return { document, origins }
}

type Expanded = {
  readonly value: unknown
  readonly problems: readonly Problem[]
  /** Values whose files cannot be read at the moment; they are empty here. */
  readonly unreadable: readonly Unreadable[]
  /** The files that values came from; when one changes, so does the configuration. */
  readonly files: readonly FileState[]
}

type Unreadable = { readonly at: Path; readonly message: string }

type Surroundings = {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Relative paths start here. */
  readonly folder: string
}

/** `NAME` or `NAME:-default`. A variable within the default would end it at the wrong brace. */
const VARIABLE = /^([A-Za-z_]\w*)(?::-((?:(?!\$\{).)*))?$/s

/**
 * Fills in what a file takes from elsewhere: `${VAR}` and `${VAR:-default}` from the environment, and a whole value
 * `file:/path` from a file, where vaults and container platforms put secrets. Works on parsed values, so nothing that
 * comes from outside can change the structure.
 */
export function expand(document: unknown, { env, folder }: Surroundings): Expanded {
  const problems: Problem[] = []
  const unreadable: Unreadable[] = []
  const files: FileState[] = []

  const visit = (value: unknown, path: Path): unknown => {
    if (typeof value === 'string') return fill(value, path)
    if (Array.isArray(value)) return value.map((each, index) => visit(each, [...path, index]))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [name, visit(each, [...path, name])]),
    )
  }

  const fill = (text: string, at: Path): string => {
    const path = pathOf(at)
    const filled = text.replaceAll(
      /\$\$\{|\$\{([^}]*)\}/g,
      (whole: string, inside: string | undefined) => {
        if (inside === undefined) return '${'
        const [, name = '', fallback] = VARIABLE.exec(inside) ?? []
        if (name === '') {
          const message = `${whole} is not understood: write \${NAME} or \${NAME:-default}, and $\${ for a literal \${`
          problems.push({ path, message })
          return ''
        }
        // As in a shell, an empty variable counts as unset where there is a default.
        const found = fallback === undefined ? env[name] : env[name] || fallback
        if (found === undefined) {
          const message = `takes \${${name}}, which is not set: set it, or write \${${name}:-} to allow that`
          problems.push({ path, message })
        }
        return found ?? ''
      },
    )
    return filled.startsWith('file:') ? readSecret(filled.slice('file:'.length), at) : filled
  }

  const readSecret = (name: string, at: Path): string => {
    const file = resolve(folder, name)
    files.push(fileState(file))
    try {
      return readFileSync(file, 'utf8').trim()
    } catch (error) {
      const code = codeOf(error) ?? 'unreadable'
      unreadable.push({ at, message: `names the file ${file}, which cannot be read (${code})` })
      return ''
    }
  }

  return { value: visit(document, []), problems, unreadable, files }
}

export type FileState = { readonly path: string; readonly stamp: string }

/** To see later whether the file has changed. Taken before it is read, so that no change in between is missed. */
export function fileState(path: string): FileState {
  try {
    const { ino, size, mtimeMs } = statSync(path)
    return { path, stamp: `${ino} ${size} ${mtimeMs}` }
  } catch {
    // Reading it will say what is wrong.
    return { path, stamp: 'unreadable' }
  }
}
