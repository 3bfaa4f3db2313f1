// The file of a backup. It is written under another name, synced, and renamed when it is whole: whatever ends a backup
// early, no part of one stands where somebody will look for it. Written and read as streams, in little memory.
import { createReadStream, createWriteStream, existsSync, rmSync } from 'node:fs'
import { open, rename, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { codeOf, messageOf } from '../../core/errors.ts'
import { StoreError } from '../database/errors.ts'
import { BackupReader, damaged, unusable, type Head } from './format.ts'
import type { Page } from './rows.ts'

/** The least work: it still makes a backup an eighth as large, and servers on this machine need the processor. */
const GZIP_LEVEL = 1

/** For this user alone, like the database. Returns the size in bytes. An aborted one leaves nothing behind. */
export async function writeBackup(
  file: string,
  lines: AsyncIterable<string>,
  signal: AbortSignal,
): Promise<number> {
  refuseExisting(file)
  const partial = join(dirname(file), `.${basename(file)}.${process.pid}.partial`)
  try {
    const options = { mode: 0o600, flush: true } as const
    const target = createWriteStream(partial, options)
    await pipeline(lines, createGzip({ level: GZIP_LEVEL }), target, { signal })
    const { size } = await stat(partial)
    refuseExisting(file)
    await rename(partial, file)
    await syncFolder(dirname(resolve(file)))
    return size
  } catch (error) {
    rmSync(partial, { force: true })
    throw fileError(file, error)
  }
}

/** Before anything is read: whoever backs up to a file that exists would lose the earlier backup. */
export function refuseExisting(file: string): void {
  if (existsSync(file))
    throw new StoreError('backup_file', `${file} exists: name a file that does not`)
}

/** The new name is durable only with its folder. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Its first line alone; refuses what is no backup, or none for this release. */
export async function readHead(file: string): Promise<Head> {
  for await (const line of linesOf(file, () => {}))
    return named(file, () => new BackupReader().head(line))
  throw unusable(`${file} is empty`)
}

/** All rows. What it has yielded counts only if it comes to its end: the checksum is there. */
export async function* readBackup(
  file: string,
  onRead: (bytes: number) => void = () => {},
): AsyncGenerator<Page> {
  const reader = new BackupReader()
  let isFirst = true
  for await (const line of linesOf(file, onRead)) {
    if (isFirst) named(file, () => reader.head(line))
    else {
      const page = named(file, () => reader.page(line))
      if (page !== undefined) yield page
    }
    isFirst = false
  }
  named(file, () => reader.end())
}

/** Its size in bytes, as `onRead` adds them up. */
export async function sizeOf(file: string): Promise<number> {
  try {
    return (await stat(file)).size
  } catch (error) {
    throw fileError(file, error)
  }
}

/** Complete lines alone: what follows the last one was cut off. */
async function* linesOf(file: string, onRead: (bytes: number) => void): AsyncGenerator<string> {
  const compressed = createReadStream(file)
  compressed.on('data', (chunk) => onRead(chunk.length))
  const plain = createGunzip()
  // Errors of the file end the second stream too, which is the one that is read.
  compressed.on('error', (error) => plain.destroy(error))
  let begun: Buffer[] = []
  try {
    for await (const chunk of compressed.pipe(plain) as AsyncIterable<Buffer>) {
      let start = 0
      for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
        yield Buffer.concat([...begun, chunk.subarray(start, end)]).toString()
        begun = []
        start = end + 1
      }
      begun.push(chunk.subarray(start))
    }
  } catch (error) {
    throw fileError(file, error)
  } finally {
    compressed.destroy()
    plain.destroy()
  }
}

function named<Result>(file: string, read: () => Result): Result {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    throw unusable(`${file} ${error.message}`)
  }
}

/** In one line for the person who has to fix it. */
function fileError(file: string, error: unknown): unknown {
  const refuse = (message: string) =>
    new StoreError('backup_file', `${file} ${message}`, { cause: error })
  switch (codeOf(error) ?? '') {
    case 'ENOSPC':
    case 'EDQUOT':
    case 'EFBIG':
      return refuse('cannot be written: its disk is full, so there is no backup')
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return refuse('cannot be opened: this user has no rights to it or its folder')
    case 'ENOENT':
    case 'ENOTDIR':
      return refuse('cannot be opened: there is no such file or folder')
    case 'EISDIR':
      return refuse('is a folder: name a file')
    case 'EIO':
      return refuse(`failed (${messageOf(error)}): check its disk`)
    case 'ABORT_ERR':
      return new StoreError('backup_file', 'interrupted: there is no backup')
    case 'Z_BUF_ERROR':
      return unusable(`${file} is cut off: its end is missing`)
    case 'Z_DATA_ERROR':
      return unusable(`${file} ${damaged().message}`)
    default:
      return error
  }
}
