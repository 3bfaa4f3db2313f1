// The files of an SQLite database: made for this user alone, watched while they are open, and why one cannot be opened.
import { existsSync, mkdirSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { codeOf } from '../../core/errors.ts'
import { sqliteCodeOf, StoreError } from '../database/errors.ts'

/** For this user alone. Node's recursive mkdir never returns where a file system such as /proc has no such folder. */
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

/** A new file, or a new name, survives a crash only if its folder is synced too. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

const LOOK_EVERY_MS = 1_000

/**
 * Notices when a database file, or one that SQLite keeps beside it, is removed or replaced, as by a restore under a
 * running server, which would keep writing where nobody will ever read. All three must exist by now.
 */
export function watchFiles(file: string, onReplaced: (why: string) => void): () => void {
  const opened = [file, `${file}-wal`, `${file}-shm`].map((path) => ({
    path,
    identity: identityOf(path),
  }))
  const timer = setInterval(() => {
    const why = opened.map(whyReplaced).find((reason) => reason !== undefined)
    if (why === undefined) return
    clearInterval(timer)
    onReplaced(why)
  }, LOOK_EVERY_MS)
  timer.unref()
  return () => clearInterval(timer)
}

type Opened = { readonly path: string; readonly identity: string | undefined }

function whyReplaced({ path, identity }: Opened): string | undefined {
  try {
    const found = identityOf(path)
    if (found === identity) return undefined
    return found === undefined ? `${path} was removed` : `${path} is another file now`
  } catch {
    // A folder that cannot be read for a moment says nothing about the file.
    return undefined
  }
}

/** Undefined when there is none. */
function identityOf(file: string): string | undefined {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false })
  return found && `${found.dev} ${found.ino}`
}

/** SQLite's primary result codes. */
const SQLITE = { BUSY: 5, READONLY: 8, CORRUPT: 11, FULL: 13, CANTOPEN: 14, NOTADB: 26 } as const

/** Why a file could not be opened, in one line for the person who has to fix it. */
export function sqliteError(file: string, error: unknown): unknown {
  if (error instanceof StoreError) return error
  const refuse = (code: StoreError['code'], message: string) =>
    new StoreError(code, `${file} ${message}`, { cause: error })
  switch (sqliteCodeOf(error) ?? codeOf(error) ?? '') {
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
