// Makes a folder and its parents. Node's recursive mkdir never returns where a file system answers "no such folder"
// below a folder that exists, as /proc does.
import { existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'

export function makeFolder(path: string, mode = 0o777): void {
  if (existsSync(path)) return
  makeFolder(dirname(path), mode)
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    // Another process that starts at the same time may have made it.
    if (!existsSync(path)) throw error
  }
}
