// Makes a folder and its parents, for this user alone: what Tollgate keeps there is nobody else's business. Node's
// recursive mkdir never returns where a file system answers "no such folder" below a folder that exists, as /proc does.
import { existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'

import { codeOf } from '../core/errors.ts'
import { sqliteCodeOf, StoreError } from './errors.ts'

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

/** SQLite's primary result codes. */
const SQLITE = { BUSY: 5, READONLY: 8, CORRUPT: 11, FULL: 13, CANTOPEN: 14, NOTADB: 26 } as const

export function sqliteError(file: string, error: unknown): unknown {
  if (error instanceof StoreError) return error
  const refuse = (code: StoreError['code'], message: string) =>
    new StoreError(code, `${file} ${message}`, { cause: error })
  switch (sqliteCodeOf(error) ?? codeOf(error)) {
    case SQLITE.NOTADB:
    case SQLITE.CORRUPT:
      return refuse(
        'not_a_database',
        'is not a usable SQLite database: name another file, or restore this one',
      )
    case SQLITE.READONLY:
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return refuse(
        'read_only',
        'cannot be written: Tollgate must be able to write this file and its folder',
      )
    case SQLITE.BUSY:
      return refuse('unreachable', 'is locked by another process: end that process and try again')
    case SQLITE.FULL:
    case 'ENOSPC':
      return refuse('unreachable', 'cannot be opened: the disk is full')
    case SQLITE.CANTOPEN:
    case 'ENOENT':
    case 'ENOTDIR':
    case 'EISDIR':
    case 'EEXIST':
      return refuse(
        'unreachable',
        'cannot be opened: Tollgate must be able to read and write this file and its folder',
      )
    default:
      return error
  }
}
