// Reloads the configuration when its file, or a file it took a secret from, changes. A wrong new configuration is
// reported and changes nothing.
import { statSync } from 'node:fs'

import { loadConfig } from './load.ts'
import type { Config } from './load.ts'
import type { ConfigSource } from './written.ts'

/** Looking at dates sees every way of replacing a file: editors, the links of container platforms, vaults. */
const LOOK_EVERY_MS = 500

export type ConfigWatch = {
  readonly source: ConfigSource
  readonly config: Config
  readonly onChange: (config: Config) => void
  /** The new configuration cannot be used, and the old one stays. */
  readonly onError: (error: unknown) => void
}

/** Returns what ends the watching. */
export function watchConfig({ source, config, onChange, onError }: ConfigWatch): () => void {
  let files = config.files
  let loaded = stateOf(files)
  let seen = loaded

  const look = (): void => {
    const state = stateOf(files)
    const isSettled = state === seen
    seen = state
    // A file that has changed since the last look may be half written: it is read at the next one.
    if (state === loaded || !isSettled) return
    loaded = state
    try {
      const changed = loadConfig(source)
      files = changed.files
      loaded = stateOf(files)
      onChange(changed)
    } catch (error) {
      onError(error)
    }
  }
  const timer = setInterval(look, LOOK_EVERY_MS)
  timer.unref()
  return () => clearInterval(timer)
}

function stateOf(files: readonly string[]): string {
  return files.map(stampOf).join('\n')
}

function stampOf(file: string): string {
  try {
    const { ino, size, mtimeMs } = statSync(file)
    return `${ino} ${size} ${mtimeMs}`
  } catch {
    // Reading it will say what is wrong.
    return 'unreadable'
  }
}
