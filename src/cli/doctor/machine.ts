// What `tollgate doctor` finds out about this machine alone: the versions, the disk and the secret. Changes nothing.
import { accessSync, constants, existsSync, readFileSync, statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { secretFile, secretProblems } from '../../config/secret.ts'
import type { Config } from '../../config/load.ts'
import { messageOf } from '../../core/errors.ts'

/** One line of the report. */
export type Finding = {
  readonly check: string
  /** Unknown: it could not be looked at, because of something else that is wrong, or that is not there. */
  readonly outcome: 'ok' | 'wrong' | 'unknown'
  readonly found: string
  /** What to do; null if there is nothing to do. */
  readonly todo: string | null
}

export function fine(check: string, found: string): Finding {
  return { check, outcome: 'ok', found, todo: null }
}

export function wrong(check: string, found: string, todo: string): Finding {
  return { check, outcome: 'wrong', found, todo }
}

export function unknown(check: string, found: string): Finding {
  return { check, outcome: 'unknown', found, todo: null }
}

/** `database`: its name and version, as far as it is known. */
export function versions(tollgate: string, database: string | undefined): Finding {
  const all = [`Tollgate ${tollgate}`, `Node ${process.versions.node}`, database]
  return fine('versions', all.filter((each) => each !== undefined).join(', '))
}

/** Its own, and the one to a provider. */
const FILES_PER_CONNECTION = 2
const OPEN_FILES = /^Max open files +\d+ +(\d+|unlimited)/m

/** `limits`: what the system lets a process of this user have, as Linux writes it. Node takes as many as it can get. */
export function connections(
  { server: { connectionsMax } }: { readonly server: Pick<Config['server'], 'connectionsMax'> },
  limits = readLimits(),
): Finding {
  const [, most = 'unlimited'] = OPEN_FILES.exec(limits) ?? []
  if (most === 'unlimited' || Number(most) >= FILES_PER_CONNECTION * connectionsMax) {
    return fine('connections', `${connectionsMax} at most, and as many files may be open`)
  }
  const found = `${connectionsMax} at most, but no more than ${most} files may be open`
  const todo =
    'raise the limit of open files (LimitNOFILE=, ulimit -n), or lower server.connections_max'
  return wrong('connections', found, todo)
}

function readLimits(): string {
  const file = '/proc/self/limits'
  return existsSync(file) ? readFileSync(file, 'utf8') : ''
}

/** Days of books and logs on a busy machine: time enough to act. */
const FREE_BYTES_MIN = 1e9

type Room = { readonly freeBytes: number; readonly totalBytes: number }

/** Where the database is, or, with PostgreSQL, where costs are kept while it is away. */
export function disk({ dataFolder }: Pick<Config, 'dataFolder'>, room?: Room): Finding {
  const folder = existingPart(dataFolder)
  try {
    accessSync(folder, constants.W_OK)
    const { freeBytes, totalBytes } = room ?? roomIn(folder)
    const found = `${gigabytes(freeBytes)} of ${gigabytes(totalBytes)} are free in ${folder}`
    if (freeBytes >= FREE_BYTES_MIN) return fine('disk', found)
    return wrong('disk', found, 'make room: calls are refused when the disk is full')
  } catch (error) {
    const todo = 'give it to the user who runs Tollgate, and run this as that user'
    return wrong('disk', `${folder} cannot be written (${messageOf(error)})`, todo)
  }
}

/** The first start makes what is missing. */
function existingPart(folder: string): string {
  return existsSync(folder) || folder === dirname(folder) ? folder : existingPart(dirname(folder))
}

function roomIn(folder: string): Room {
  const { bavail, blocks, bsize } = statfsSync(folder)
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize }
}

function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(1)} GB`
}

const FOR_OTHERS = 0o077

/** What can be said of it without the database: whether there is one, and whether only its user can read it. */
export function secret(config: Pick<Config, 'secret' | 'database' | 'dataFolder'>): Finding {
  const [problem] = secretProblems(config)
  if (problem !== undefined)
    return wrong('secret', 'cannot be used', `TOLLGATE_SECRET ${problem.message}`)
  if (config.secret !== null) return fine('secret', 'from TOLLGATE_SECRET')
  const file = secretFile(config)
  if (!existsSync(file)) return fine('secret', `none yet: the first start writes ${file}`)
  const isOpen = (statSync(file).mode & FOR_OTHERS) !== 0
  if (!isOpen) return fine('secret', `in ${file}`)
  return wrong('secret', `${file} can be read by others`, `chmod 600 ${file}`)
}
