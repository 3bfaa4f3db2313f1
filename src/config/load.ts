// The configuration: file and environment in, one frozen value out. Everything wrong is reported at once, each with
// its path and what to do. Nothing but this and source.ts reads the file or the TOLLGATE_ variables.
import type { ModelEntry } from '../catalog/models.ts'
import { priceFrom } from '../catalog/prices.ts'
import { isObject } from '../core/json.ts'
import { urlOf } from '../core/text.ts'
import { adapterOf, ADAPTERS } from '../providers/adapters.ts'
import type { ProviderSettings } from '../providers/adapters.ts'
import type { Named } from '../providers/upstream/adapter.ts'
import { crossCheck } from './cross-check.ts'
import { ConfigError, problemsOf } from './problems.ts'
import type { Path, Problem } from './problems.ts'
import { file } from './schema.ts'
import type { FileSettings, ModelSettings } from './schema.ts'
import { locateDatabase, expand, readWritten, withOrigins } from './source.ts'
import type { ConfigSource, FileState, LostSetting, Written } from './source.ts'
import { telemetryOf, type Telemetry } from './telemetry.ts'

export type Config = Omit<FileSettings, 'providers' | 'models' | 'telemetry'> & {
  /** The file it was read from; null = there is none. */
  readonly path: string | null
  /** The file and whatever it took values from: a change in any of them is a change of the configuration. */
  readonly files: readonly FileState[]
  /** Which variable or option a value came from, by its path. */
  readonly origins: Written['origins']
  /** The settings of the frame that the file names; the others are only the defaults. */
  readonly frameWritten: readonly string[]
  /** Where Tollgate keeps files of its own: beside the SQLite database, else `data`. */
  readonly dataFolder: string
  /** Seals sessions and stored responses; null = not given. */
  readonly secret: string | null
  readonly providers: readonly Named<ProviderSettings>[]
  /** Providers that are configured and cannot be used, with the reason. */
  readonly leftOut: ReadonlyMap<string, string>
  /** Of those, the ones that lack only their key: what is said about the prices there still counts. */
  readonly keyless: readonly Named<ProviderSettings>[]
  /** Of those, the settings whose files could not be read: a mistake, or a vault that is late. */
  readonly unreadable: readonly LostSetting[]
  readonly telemetry: Telemetry
  /** Null = the main models of each provider. */
  readonly models: readonly ModelEntry[] | null
}

/** Throws a ConfigError with everything that is wrong. */
export function loadConfig(source: ConfigSource): Config {
  const written = readWritten(source)
  const { path, document } = written
  if (!written.isReadable) throw new ConfigError(path, written.problems)
  const given = withCompat(withUsualProviders(document, source.env))
  const { data, problems } = check(given, written)
  const known = new Set(written.problems.map((problem) => problem.path))
  const all = [...written.problems, ...problems.filter((problem) => !known.has(problem.path))]
  if (data === undefined || all.length > 0) {
    // Also reports what by itself would only leave a provider out, so that the file can be fixed in one go.
    throw new ConfigError(path, withOrigins(written, [...all, ...written.unreadable]))
  }
  return freeze({
    ...data,
    path,
    files: written.files,
    origins: written.origins,
    ...locateDatabase(data.database, written),
    frameWritten: Object.keys(document['frame'] ?? {}),
    secret: readSecret(source),
    ...splitProviders(data.providers ?? {}, written),
    unreadable: written.unreadable,
    telemetry: telemetryOf(data.telemetry, source.env),
    models:
      data.models === undefined
        ? null
        : Object.entries(data.models).map(([id, model]) => toEntry(id, model)),
  })
}

/** What a command that works only on the database needs. */
export type DatabaseConfig = Pick<Config, 'database' | 'keys' | 'ledger'> & {
  /** Null: the file is wrong, so nothing in it seeds a database. */
  readonly frame: Config['frame'] | null
}

/** A file that is wrong elsewhere must not keep anyone from revoking a key; `ignored` is what is wrong with it. */
export function loadDatabaseConfig(source: ConfigSource): {
  readonly config: DatabaseConfig
  readonly ignored: ConfigError | null
} {
  try {
    return { config: loadConfig(source), ignored: null }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const written = readWritten(source)
    const { document } = written
    // An unreadable file may well name a database, so the usual one would be a guess.
    const isKnown = written.isReadable || document['database'] !== undefined
    const database = file.shape.database.safeParse(document['database'])
    const isFilled = !written.problems.some(({ path }) => path === 'database')
    if (!isKnown || !isFilled || !database.success) throw error
    const keys =
      file.shape.keys.safeParse(document['keys']).data ?? file.shape.keys.parse(undefined)
    const ledger =
      file.shape.ledger.safeParse(document['ledger']).data ?? file.shape.ledger.parse(undefined)
    const { database: url } = locateDatabase(database.data, written)
    return { config: { database: url, keys, ledger, frame: null }, ignored: error }
  }
}

/** If no providers are configured, uses the keys in the variables that the providers' own tools read. */
function withUsualProviders(
  document: Readonly<Record<string, unknown>>,
  env: ConfigSource['env'],
): Readonly<Record<string, unknown>> {
  if (document['providers'] !== undefined) return document
  const found = ADAPTERS.flatMap(({ kind, variable }) => {
    const key = variable === undefined ? undefined : env[variable]
    return key === undefined || key === '' ? [] : [[kind, { kind, api_key: key }] as const]
  })
  return { ...document, providers: Object.fromEntries(found) }
}

/** What `compat.litellm` switches on. A setting that the file itself makes stays as it is. */
const LITELLM = {
  server: { bare_paths: true },
  keys: { foreign: true },
  auth: { headers: 'either' },
} as const

function withCompat(
  document: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const compat = document['compat']
  if (!isObject(compat) || !['true', true].includes(compat['litellm'] as boolean)) return document
  const switched = Object.entries(LITELLM).map(([name, settings]) => {
    const section = document[name] ?? {}
    return [name, isObject(section) ? { ...settings, ...section } : section] as const
  })
  return { ...document, ...Object.fromEntries(switched) }
}

/** A wrong part must not hide problems in the others: it is removed before the cross-check. */
function check(
  document: Readonly<Record<string, unknown>>,
  { unreadable }: Pick<Written, 'unreadable'>,
): { readonly data?: FileSettings; readonly problems: readonly Problem[] } {
  const names = new Set(Object.keys(isObject(document['providers']) ? document['providers'] : {}))
  const judged = structuredClone(document)
  // A provider that is left out because its settings are incomplete cannot be checked.
  for (const { provider } of unreadable) remove(judged, ['providers', provider])
  const { data, error } = file.safeParse(judged)
  if (data !== undefined) return { data, problems: crossCheck(data, names) }
  const rest = soundPart(judged)
  return {
    problems: [
      ...problemsOf(error, Object.keys(file.shape)),
      ...(rest === undefined ? [] : crossCheck(rest, names)),
    ],
  }
}

/**
 * The document without the wrong values alone if that is enough, else without their entries, else without their
 * sections. A provider with a wrong value is removed whole: what else it lacks follows from that value.
 */
function soundPart(document: Readonly<Record<string, unknown>>): FileSettings | undefined {
  const sound = structuredClone(document)
  for (const depth of [Infinity, 2, 1]) {
    const { data, error } = file.safeParse(sound)
    if (data !== undefined) return data
    for (const issue of error.issues) {
      const paths =
        issue.code === 'unrecognized_keys'
          ? issue.keys.map((key) => [...issue.path, key])
          : [issue.path[0] === 'providers' ? issue.path.slice(0, 2) : issue.path]
      for (const path of paths) remove(sound, path.slice(0, depth))
    }
  }
  return file.safeParse(sound).data
}

function remove(from: unknown, path: Path): void {
  const [step, ...rest] = path
  // Removing an element of a list would move the others, and their problems would name the wrong place.
  if (step === undefined || !isObject(from)) return
  if (rest.length === 0) Reflect.deleteProperty(from, step)
  else remove(from[String(step)], rest)
}

function readSecret({ env, folder }: ConfigSource): string | null {
  const given = env['TOLLGATE_SECRET']
  if (given === undefined || given === '') return null
  if (!given.startsWith('file:')) return given
  const { value, problems, unreadable } = expand(given, { env: {}, folder })
  const wrong = [...problems, ...unreadable]
  if (wrong.length === 0) return String(value)
  throw new ConfigError(
    null,
    wrong.map(({ message }) => ({ path: 'TOLLGATE_SECRET', message })),
  )
}

function splitProviders(
  providers: Readonly<Record<string, ProviderSettings>>,
  { unreadable }: Pick<Written, 'unreadable'>,
) {
  const usable: Named<ProviderSettings>[] = []
  const keyless: Named<ProviderSettings>[] = []
  const leftOut = new Map(
    unreadable.map(({ provider, path, message }) => [provider, `${path} ${message}`]),
  )
  for (const [name, settings] of Object.entries(providers)) {
    const missing = adapterOf(settings).missing(settings)
    const reason = missing?.is === 'empty' ? `its ${missing.setting} is empty` : undefined
    ;(reason === undefined ? usable : keyless).push({ ...settings, name })
    if (reason !== undefined) leftOut.set(name, reason)
  }
  return { providers: usable, leftOut, keyless }
}

export function toEntry(id: string, { price, ...model }: ModelSettings): ModelEntry {
  return { id, ...model, price: price && priceFrom(price) }
}

function freeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    for (const each of Object.values(Object.freeze(value))) freeze(each)
  }
  return value
}

/**
 * Where people reach the administration interface: what the file says, else where it listens. `listening` is where the server listens, with the port that the system chose if 0 was requested.
 */
export function adminUrlOf({ admin }: Pick<Config, 'admin'>, listening: string): string {
  if (admin.publicUrl !== undefined) return admin.publicUrl
  const url = new URL(admin.listen === 'same' ? listening : urlOf(admin.listen))
  // An address that means all interfaces can be listened on, but not visited.
  if (url.hostname === '0.0.0.0' || url.hostname === '[::]') url.hostname = '127.0.0.1'
  return url.origin
}

/** Whether only this machine reaches it, where a password crosses no network. */
export function isAdminLocal({ admin, server }: Pick<Config, 'admin' | 'server'>): boolean {
  const listening = urlOf(admin.listen === 'same' ? server : admin.listen)
  const hosts = [listening, admin.publicUrl ?? listening].map((url) => new URL(url).hostname)
  return hosts.every((host) => /^(localhost|127\.[\d.]+|\[::1\])$/.test(host))
}
