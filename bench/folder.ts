// The folder for a run's databases and logs: on the checkout's own disk, because a temporary folder may be in memory,
// where a commit costs nothing.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const CACHE = fileURLToPath(new URL('../.cache', import.meta.url))

/** A new folder that is removed when this process ends. */
export function runFolder(): string {
  mkdirSync(CACHE, { recursive: true })
  const folder = mkdtempSync(join(CACHE, 'bench-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
  return folder
}
