// Makes a folder and its parents, for this user alone: what Tollgate keeps there is nobody else's business. Node's
// recursive mkdir never returns where a file system answers "no such folder" below a folder that exists, as /proc does.
import { existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'

export function makeFolder(path: string): void {
  if (existsSync(path)) return
  makeFolder(dirname(path))
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    // Another process that starts at the same time may have made it.
    if (!existsSync(path)) throw error
  }
}
