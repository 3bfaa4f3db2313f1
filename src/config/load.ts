// The configuration: file and environment in, one frozen value out. Everything wrong is reported at once, each with
// its path and what to do. Nothing else reads the file or the TOLLGATE_ variables.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

import { parseDocument } from 'yaml'

import type { ModelEntry } from '../catalog/models.ts'
import { FREE, makePrice } from '../catalog/prices.ts'
import type { Price } from '../catalog/prices.ts'
import { isObject } from '../core/json.ts'
import { pricePerMillion } from '../core/money.ts'
import { crossCheck } from './cross-check.ts'
import { expand } from './expand.ts'
import { ConfigError, problemsOf } from './problems.ts'
import type { Problem } from './problems.ts'
import { whatIsMissing, WITHOUT_ADAPTER } from './providers.ts'
import type { ProviderSettings } from './providers.ts'
import { file } from './schema.ts'
import type { FileSettings, ModelSettings } from './schema.ts'

export type Config = Omit<FileSettings, 'providers' | 'models' | 'admin'> & {
  /** The file it was read from; null = there is none. */
  readonly path: string | null
  /** The file and whatever it took values from: a change in any of them is a change of the configuration. */
  readonly files: readonly string[]
  readonly admin: FileSettings['admin'] & { readonly publicUrl: string }
  /** Whether the file says anything of the frame, or these are only the defaults. */
  readonly frameIsWritten: boolean
  /** Where Tollgate keeps files of its own: beside the SQLite database, else `data`. */
  readonly dataFolder: string
  /** Seals sessions and stored responses; null = not given. */
  readonly secret: string | null
  /** Nothing is to be fetched from a registry. */
  readonly offline: boolean
  readonly providers: readonly Provider[]
  /** Providers that are configured and cannot be used, with the reason. */
  readonly leftOut: ReadonlyMap<string, string>
  /** Null = the main models of each provider. */
  readonly models: readonly ModelEntry[] | null
}

export type Provider = ProviderSettings & { readonly name: string }

export type ConfigSource = {
  readonly env: Readonly<Record<string, string | undefined>>
  /** The current folder. */
  readonly folder: string
  /** What the command line said; it wins over the environment, which wins over the file. */
  readonly options?: {
    readonly config?: string | undefined
    readonly host?: string | undefined
    readonly port?: string | undefined
    readonly workers?: string | undefined
  }
}

/** The only variables that are read by name; a file may take any other with ${NAME}. */
export const VARIABLES = [
  'TOLLGATE_CONFIG',
  'TOLLGATE_HOST',
  'TOLLGATE_PORT',
  'TOLLGATE_WORKERS',
  'TOLLGATE_DATABASE',
  'TOLLGATE_SECRET',
  'TOLLGATE_OFFLINE',
] as const

/** Where providers' own tools look for the key: what is set there is used when nobody configured providers. */
const USUAL_VARIABLES = {
  openai: 'OPENAI_API_KEY',
  anthropic: 'ANTHROPIC_API_KEY',
  gemini: 'GEMINI_API_KEY',
} as const

/** Throws a ConfigError with everything that is wrong. */
export function loadConfig(source: ConfigSource): Config {
  const path = findFile(source)
  const folder = path === null ? source.folder : dirname(path)
  const expanded = expand(path === null ? {} : readYaml(path), { env: source.env, folder })
  const { document, origins } = override(expanded.value, source)
  const { data, problems } = check(withUsualProviders(document, source.env))
  const known = new Set(expanded.problems.map((problem) => problem.path))
  const all = [...expanded.problems, ...problems.filter((problem) => !known.has(problem.path))]
  if (data === undefined || all.length > 0) {
    throw new ConfigError(
      path ?? 'configuration',
      all.map(({ path, message }) => ({ path: origins.get(path) ?? path, message })),
    )
  }
  const place = origins.has('database') ? source.folder : folder
  return freeze({
    ...data,
    path,
    files: path === null ? [] : [path, ...expanded.files],
    ...databasePlace(data.database, place),
    admin: { ...data.admin, publicUrl: data.admin.publicUrl ?? localUrl(data.server) },
    frameIsWritten: document['frame'] !== undefined,
    secret: readSecret(source),
    offline: ['1', 'true'].includes(source.env['TOLLGATE_OFFLINE'] ?? ''),
    ...splitProviders(data.providers ?? {}),
    models:
      data.models === undefined
        ? null
        : Object.entries(data.models).map(([id, model]) => toEntry(id, model)),
  })
}

function findFile({ env, folder, options }: ConfigSource): string | null {
  const named = options?.config ?? env['TOLLGATE_CONFIG']
  if (named !== undefined && named !== '') return resolve(folder, named)
  const usual = resolve(folder, 'tollgate.yaml')
  return existsSync(usual) ? usual : null
}

function readYaml(path: string): unknown {
  let text
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable'
    const message = `cannot be read (${code}): check --config or TOLLGATE_CONFIG`
    throw new ConfigError('configuration', [{ path, message }])
  }
  const document = parseDocument(text)
  const problems = document.errors.map(({ message, linePos }) => ({
    path: `line ${linePos?.[0].line ?? 1}`,
    message: `is not valid YAML: ${message.split('\n')[0]?.replace(/ at line \d+.*$/, '') ?? ''}`,
  }))
  if (problems.length > 0) throw new ConfigError(path, problems)
  const value: unknown = document.toJS()
  if (value !== null && !isObject(value)) {
    throw new ConfigError(path, [
      {
        path: 'line 1',
        message: 'must begin a section such as `server:`, not hold a single value',
      },
    ])
  }
  // A section whose lines are all commented out is null, and says nothing.
  return Object.fromEntries(Object.entries(value ?? {}).filter(([, section]) => section !== null))
}

/** Puts what command line and environment say over the file, and keeps where each value came from. */
function override(value: unknown, { env, options }: ConfigSource) {
  const document: Record<string, unknown> = isObject(value) ? { ...value } : {}
  const origins = new Map<string, string>()
  const server = isObject(document['server']) ? { ...document['server'] } : undefined
  const changed: Record<string, string> = {}
  for (const name of ['host', 'port', 'workers'] as const) {
    const variable = `TOLLGATE_${name.toUpperCase()}`
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

function withUsualProviders(
  document: Readonly<Record<string, unknown>>,
  env: ConfigSource['env'],
): Readonly<Record<string, unknown>> {
  if (document['providers'] !== undefined) return document
  const found = Object.entries(USUAL_VARIABLES).flatMap(([kind, variable]) => {
    const key = env[variable]
    return key === undefined || key === '' ? [] : [[kind, { kind, api_key: key }] as const]
  })
  return { ...document, providers: Object.fromEntries(found) }
}

/** A wrong part hides nothing about the others: what does not fit the schema is taken out for the cross-check. */
function check(document: Readonly<Record<string, unknown>>): {
  readonly data?: FileSettings
  readonly problems: readonly Problem[]
} {
  const names = new Set(Object.keys(isObject(document['providers']) ? document['providers'] : {}))
  const { data, error } = file.safeParse(document)
  if (data !== undefined) return { data, problems: crossCheck(data, names) }
  const sound = structuredClone(document) as Record<string, Record<string, unknown>>
  for (const { path } of error.issues) {
    const [section = '', name = ''] = path.map(String)
    if ((section === 'models' || section === 'providers') && name !== '')
      delete sound[section]?.[name]
    else delete sound[section]
  }
  const rest = file.safeParse(sound).data
  return {
    problems: [...problemsOf(error), ...(rest === undefined ? [] : crossCheck(rest, names))],
  }
}

function databasePlace(url: string, folder: string) {
  if (!url.startsWith('sqlite:')) return { database: url, dataFolder: resolve(folder, 'data') }
  const path = resolve(folder, url.slice('sqlite:'.length))
  return { database: `sqlite:${path}`, dataFolder: dirname(path) }
}

function localUrl({ host, port }: FileSettings['server']): string {
  const everywhere = host === '0.0.0.0' || host === '::'
  const name = everywhere ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host
  return `http://${name}:${port}`
}

function readSecret({ env, folder }: ConfigSource): string | null {
  const given = env['TOLLGATE_SECRET']
  if (given === undefined || given === '') return null
  if (!given.startsWith('file:')) return given
  const { value, problems } = expand(given, { env: {}, folder })
  if (problems.length === 0) return String(value)
  throw new ConfigError(
    'environment',
    problems.map(({ message }) => ({ path: 'TOLLGATE_SECRET', message })),
  )
}

function splitProviders(providers: Readonly<Record<string, ProviderSettings>>) {
  const usable: Provider[] = []
  const leftOut = new Map<string, string>()
  for (const [name, settings] of Object.entries(providers)) {
    const reason = whyLeftOut(settings)
    if (reason === undefined) usable.push({ ...settings, name })
    else leftOut.set(name, reason)
  }
  return { providers: usable, leftOut }
}

function whyLeftOut(settings: ProviderSettings): string | undefined {
  if (whatIsMissing(settings) === 'empty') return 'its api_key is empty'
  if (WITHOUT_ADAPTER.includes(settings.kind)) {
    return `this release has no adapter for the kind ${settings.kind} yet`
  }
  return undefined
}

function toEntry(id: string, { price, ...model }: ModelSettings): ModelEntry {
  return { id, ...model, price: price === undefined ? undefined : toPrice(price) }
}

/** What is not written costs what plain input costs. */
function toPrice(price: NonNullable<ModelSettings['price']>): Price {
  if (price === 'free') return FREE
  const { input, output = 0, cached = input, cache_write = input } = price
  return makePrice({
    rates: {
      input: pricePerMillion(input),
      cached: pricePerMillion(cached),
      cacheWriteShort: pricePerMillion(cache_write),
      cacheWriteLong: pricePerMillion(price.cache_write_long ?? cache_write),
      output: pricePerMillion(output),
    },
    tiers: [],
    fees: { request: 0n, webSearch: null },
  })
}

function freeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    for (const each of Object.values(Object.freeze(value))) freeze(each)
  }
  return value
}
