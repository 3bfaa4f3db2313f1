// Reloads the configuration when its file, or a file it took a secret from, changes. A wrong new configuration is
// reported and changes nothing; settings that a process is bound to from its start change only with the next start.
import { isDeepStrictEqual } from 'node:util'
import { loadConfig } from './load.ts'
import type { Config } from './load.ts'
import { ConfigError } from './problems.ts'
import type { ConfigSource, FileState } from './source.ts'
import { fileState, readWritten } from './source.ts'

/** Polling file dates notices every way of replacing a file: editors, the links of container platforms, vaults. */
const LOOK_EVERY_MS = 500

type ConfigWatch = {
  readonly source: ConfigSource
  readonly config: Config
  /** `waiting`: changed sections of the file that take effect only after a restart. */
  readonly onChange: (config: Config, waiting: readonly string[]) => void
  /** The new configuration cannot be used, and the old one stays. */
  readonly onError: (error: unknown) => void
}

/** Returns a function that stops watching. */
export function watchConfig({ source, config, onChange, onError }: ConfigWatch): () => void {
  let current = config
  let read = current.files
  let seen = read

  const look = (): void => {
    const now = read.map(({ path }) => fileState(path))
    const isSettled = isSame(now, seen)
    seen = now
    // A file that has changed since the last look may be half written: it is read once it stays the same.
    if (isSame(now, read) || !isSettled) return
    read = now
    try {
      // Also for a configuration that is refused: the files it lacks may come later.
      read = readWritten(source).files
      const written = loadConfig(source)
      const changed = { ...written, ...boundBy(config), dataFolder: config.dataFolder }
      refuseLostFile(current, changed)
      refuseLostSecrets(current, changed)
      onChange(changed, waitingIn(written, config))
      current = changed
    } catch (error) {
      onError(error)
    }
  }
  const timer = setInterval(look, LOOK_EVERY_MS)
  timer.unref()
  return () => clearInterval(timer)
}

type Bound = Pick<
  Config,
  'server' | 'admin' | 'people' | 'database' | 'ledger' | 'metrics' | 'telemetry'
>

function boundBy(config: Config): Bound {
  const { server, admin, people, database, ledger, metrics, telemetry } = config
  return { server, admin, people, database, ledger, metrics, telemetry }
}

function waitingIn(written: Bound, started: Config): readonly string[] {
  return Object.entries(boundBy(started))
    .filter(([section, value]) => !isDeepStrictEqual(value, written[section as keyof Bound]))
    .map(([section]) => section)
}

/** A missing file is being replaced, or was removed by mistake: it is not how one removes all providers. */
function refuseLostFile(before: Config, { path }: Config): void {
  if (before.path === null || path !== null) return
  const message = 'is gone: restore it, or restart to run without it'
  throw new ConfigError(null, [{ path: before.path, message }])
}

/** A secret that cannot be read at the moment is being replaced; until then the known one still works. */
function refuseLostSecrets(before: Config, { path, unreadable }: Config): void {
  const served = new Set(before.providers.map(({ name }) => name))
  const lost = unreadable.filter(({ provider }) => served.has(provider))
  if (lost.length > 0) throw new ConfigError(path, lost)
}

function isSame(one: readonly FileState[], other: readonly FileState[]): boolean {
  return one.every(({ stamp }, index) => stamp === other[index]?.stamp)
}
