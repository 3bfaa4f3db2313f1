// The version of this Tollgate, as its package says.
import { readFileSync } from 'node:fs'

export function version(): string {
  const file = new URL('../../package.json', import.meta.url)
  return String(Object(JSON.parse(readFileSync(file, 'utf8'))).version)
}
