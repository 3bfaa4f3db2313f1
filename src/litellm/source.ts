// A LiteLLM configuration as it is written: a tree of settings that know their lines. LiteLLM reads YAML 1.1, in which
// `yes` is true and a date is no text, so values keep the text they were written as.
import { readFileSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  type Document,
  type YAMLMap,
} from 'yaml'
import { codeOf } from '../core/errors.ts'

/** One value of a configuration, or a section or list of them. */
export type Setting = {
  /** `model_list[2].litellm_params.api_key` */
  readonly path: string
  readonly file: string
  readonly line: number
  /** Of a single value; null where nothing is written. */
  readonly value: string | number | boolean | null
  /** The value as it is written. */
  readonly text: string
  /** By name, if it is a section. */
  readonly members: ReadonlyMap<string, Setting> | null
  /** In order, if it is a list. */
  readonly items: readonly Setting[] | null
  /** Where the same name is written again, which counts instead. */
  readonly overriddenIn?: string
}

/** What keeps anything from being imported: one line per problem. */
export class ImportError extends Error {
  override readonly name = 'ImportError'

  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
  }
}

/** Far more than any configuration has: aliases of aliases can mean billions. */
const SETTINGS_MAX = 200_000

/** The sections by which a configuration of LiteLLM is recognized. */
const SECTIONS = [
  ...['model_list', 'litellm_settings', 'general_settings', 'router_settings'],
  ...['environment_variables', 'include', 'credential_list', 'guardrails', 'mcp_servers'],
]

/** The sections of a file and of those it includes. Throws an ImportError with everything that is wrong. */
export function readSource(path: string): ReadonlyMap<string, Setting> {
  const read = new Set([resolve(path)])
  const sections = new Map(readFile(path, resolve(path)))
  const included = [...listed(sections.get('include'))]
  // Grows while it is read: what an included file includes counts, too, from the folder of the first.
  for (const item of included) {
    const from = resolve(dirname(path), item.text)
    const at = `${item.file}:${item.line}`
    if (read.has(from)) throw new ImportError([`${at} includes ${item.text} again`])
    read.add(from)
    for (const [name, section] of readFile(item.text, from, at)) {
      if (name === 'include') included.push(...listed(section))
      add(sections, name, section)
    }
  }
  if (!SECTIONS.some((name) => sections.has(name))) {
    throw new ImportError([
      `${basename(path)} is no LiteLLM configuration: it has none of ${SECTIONS.slice(0, 4).join(', ')}`,
    ])
  }
  return sections
}

function listed(setting: Setting | undefined): readonly Setting[] {
  return setting?.items ?? (setting === undefined ? [] : [setting])
}

/** As LiteLLM does it: lists grow, anything else replaces what was there. */
function add(sections: Map<string, Setting>, name: string, added: Setting): void {
  const before = sections.get(name)
  if (before !== undefined && (name === 'include' || (before.items && added.items))) {
    sections.set(name, { ...before, items: [...listed(before), ...listed(added)] })
    return
  }
  if (before !== undefined && !isEmpty(before)) {
    const overriddenIn = `${added.file}:${added.line}`
    sections.set(`${name} in ${before.file}:${before.line}`, { ...before, overriddenIn })
  }
  sections.set(name, added)
}

function isEmpty({ value, members, items }: Setting): boolean {
  return value === null && members === null && items === null
}

function readFile(name: string, path: string, namedAt?: string): ReadonlyMap<string, Setting> {
  let text
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const by = namedAt === undefined ? '' : `, which ${namedAt} includes,`
    throw new ImportError([`${name}${by} cannot be read (${codeOf(error) ?? 'unreadable'})`])
  }
  return new TreeReader(basename(name), text).sections()
}

/** Turns a document into settings. */
class TreeReader {
  readonly #file: string
  readonly #lines = new LineCounter()
  readonly #document: Document
  #count = 0

  constructor(file: string, text: string) {
    this.#file = file
    this.#document = parseDocument(text, {
      version: '1.1',
      lineCounter: this.#lines,
      // The parser's warnings would show parts of the file, secrets included.
      logLevel: 'error',
      // Python's parser takes the last one.
      uniqueKeys: false,
    })
  }

  sections(): ReadonlyMap<string, Setting> {
    const { errors, contents } = this.#document
    if (errors.length > 0) {
      throw new ImportError(
        errors.map(({ message, linePos }) => {
          const what = message.split('\n')[0]?.replace(/ at line \d+.*$/, '') ?? ''
          return `${this.#file}:${linePos?.[0].line ?? 1} is not valid YAML: ${what}`
        }),
      )
    }
    if (!isMap(contents)) {
      throw new ImportError([
        `${this.#file} is no LiteLLM configuration: it must begin with a section such as model_list`,
      ])
    }
    return this.#members(contents, { path: '', around: [] })
  }

  #members(map: YAMLMap, at: YamlPlace): ReadonlyMap<string, Setting> {
    const members = new Map<string, Setting>()
    for (const { key, value } of map.items) {
      const name = isScalar(key) ? (key.source ?? String(key.value)) : String(key)
      const line = this.#lineOf(key)
      if (name === '<<') {
        for (const [inner, setting] of this.#merged(value, at)) {
          if (!members.has(inner)) members.set(inner, setting)
        }
        continue
      }
      const path = at.path === '' ? name : `${at.path}.${name}`
      const before = members.get(name)
      if (before !== undefined) {
        members.set(`${name} in line ${before.line}`, { ...before, overriddenIn: `line ${line}` })
      }
      members.set(name, this.#read(value, { path, line, around: at.around }))
    }
    return members
  }

  /** `<<: *name` or a list of them: what the section itself says wins. */
  #merged(value: unknown, at: YamlPlace): ReadonlyMap<string, Setting> {
    const { members, items } = this.#read(value, { ...at, line: this.#lineOf(value) })
    const all = items?.map((each) => each.members ?? new Map<string, Setting>()) ?? []
    return members ?? new Map(all.toReversed().flatMap((each) => [...each]))
  }

  #read(node: unknown, { path, line, around }: YamlPlace & { readonly line: number }): Setting {
    this.#count++
    const meant = isAlias(node) ? node.resolve(this.#document) : node
    if (this.#count > SETTINGS_MAX || (isAlias(node) && around.includes(meant))) {
      throw new ImportError([
        `${this.#file}:${line} repeats its aliases (*name) without end: write the values out`,
      ])
    }
    if (meant === undefined && isAlias(node)) {
      throw new ImportError([`${this.#file}:${line} has an alias (*name) of nothing in the file`])
    }
    const inside = { path, around: [...around, meant] }
    const setting = { path, file: this.#file, line, value: null, text: '' }
    if (isMap(meant)) {
      return { ...setting, members: this.#members(meant, inside), items: null }
    }
    if (isSeq(meant)) {
      const items = meant.items.map((item, index) =>
        this.#read(item, {
          ...inside,
          path: `${path}[${index}]`,
          line: this.#lineOf(item) ?? line,
        }),
      )
      return { ...setting, members: null, items }
    }
    if (!isScalar(meant)) return { ...setting, members: null, items: null }
    const { value, source = '' } = meant
    const text = typeof value === 'string' ? value : source
    const isPlain = typeof value === 'number' || typeof value === 'boolean'
    return {
      ...setting,
      value: value === null ? null : isPlain ? value : text,
      text,
      members: null,
      items: null,
    }
  }

  #lineOf(node: unknown): number {
    const start = isScalar(node) || isMap(node) || isSeq(node) || isAlias(node) ? node.range : null
    return this.#lines.linePos(start?.[0] ?? 0).line
  }
}

type YamlPlace = {
  readonly path: string
  /** The nodes around it: an alias of one of them has no end. */
  readonly around: readonly unknown[]
}

/** The number that is written there, as a number or as text that looks like one. */
export function numberIn({ value, text }: Setting): number | undefined {
  if (typeof value === 'number') return value
  const number = value === null || text.trim() === '' ? NaN : Number(text)
  return Number.isNaN(number) ? undefined : number
}

/** Where it is written, for a person. */
export function placeOf({ file, line, path }: Setting): string {
  return `${file}:${line} ${path}`
}
