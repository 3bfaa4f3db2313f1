// The file of a backup: lines of JSON under gzip, the same for both databases. The first line says what it is of and what
// is in it, each further one holds some rows of one table, and the last has the checksum of all before it: a file without
// that line, or with another checksum, is not taken for a backup. Written and read as streams, in little memory.
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream, existsSync, rmSync } from 'node:fs'
import { rename, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { z } from 'zod'
import { codeOf, messageOf } from '../../core/errors.ts'
import { isObject } from '../../core/json.ts'
import { StoreError } from '../database/errors.ts'
import { SCHEMA } from '../database/migrations.ts'
import { syncFolder } from '../sqlite/files.ts'
import {
  columnsOf,
  isMoney,
  TABLE_NAMES,
  type Page,
  type Row,
  type TableName,
  type Tallies,
  typesOf,
} from './rows.ts'

// Its lines.

const FORMAT = 'tollgate backup'
/** Of the format, not of the schema. */
const VERSION = 1
const OWN_SCHEMA = `${SCHEMA.major}.${SCHEMA.minor}`

const headLine = z.object({
  format: z.literal(FORMAT),
  version: z.number(),
  /** Which release made it, of which kind of database, and the moment that it shows. */
  tollgate: z.string(),
  schema: z.string(),
  database: z.enum(['sqlite', 'postgres']),
  taken_at: z.iso.datetime(),
  tables: z.record(
    z.string(),
    z.object({
      columns: z.array(z.string()),
      rows: z.int(),
      sums: z.record(z.string(), z.string().regex(/^-?\d+$/)),
    }),
  ),
})
const lastLine = z.object({ sha256: z.string() })

export type Head = Pick<z.infer<typeof headLine>, 'tollgate' | 'database'> & {
  readonly takenAt: number
  readonly tallies: Tallies
}

/** Every line of a backup, in the order of the file. */
export async function* writeLines(head: Head, pages: AsyncIterable<Page>): AsyncGenerator<string> {
  const hash = createHash('sha256')
  const hashed = (value: unknown): string => {
    const line = `${JSON.stringify(value, inJson)}\n`
    hash.update(line)
    return line
  }
  yield hashed(headJson(head))
  for await (const page of pages) yield hashed({ table: page.table, rows: page.rows.map(encode) })
  yield `${JSON.stringify({ sha256: hash.digest('hex') })}\n`
}

function headJson({ tollgate, database, takenAt, tallies }: Head): z.infer<typeof headLine> {
  const tables = TABLE_NAMES.map((table) => {
    const { rows, sums } = tallies[table]
    const texts = Object.entries(sums).map(([name, sum]) => [name, String(sum)])
    return [table, { columns: [...columnsOf(table)], rows, sums: Object.fromEntries(texts) }]
  })
  return {
    format: FORMAT,
    version: VERSION,
    tollgate,
    schema: OWN_SCHEMA,
    database,
    taken_at: new Date(takenAt).toISOString(),
    tables: Object.fromEntries(tables),
  }
}

/** Amounts as texts, because a number of JSON is not exact beyond 2^53. */
function inJson(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}

function encode(row: Row): readonly unknown[] {
  return row.map((value) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value,
  )
}

/** Reads lines one after the other; whoever has read them all has a whole backup. */
class BackupReader {
  readonly #hash = createHash('sha256')
  readonly #counts = new Map<TableName, number>()
  #head: Head | undefined
  #isOver = false

  /** The first line of a file. */
  head(line: string): Head {
    const parsed = headLine.safeParse(jsonOf(line))
    if (!parsed.success) throw unusable('is not a backup of Tollgate')
    const { tollgate, version, schema, tables, database, taken_at } = parsed.data
    const by = `was made by Tollgate ${tollgate} (schema ${schema}, format ${version})`
    if (version !== VERSION || schema !== OWN_SCHEMA || !hasOurColumns(tables))
      throw unusable(
        `${by}, and this one reads schema ${OWN_SCHEMA}, format ${VERSION}: restore it with the Tollgate that made it, then start this one on the database`,
      )
    const tallies = Object.entries(tables).map(([table, { rows, sums }]) => {
      const exact = Object.entries(sums).map(([name, text]) => [name, BigInt(text)])
      return [table, { rows, sums: Object.fromEntries(exact) }]
    })
    this.#hash.update(`${line}\n`)
    this.#head = {
      tollgate,
      database,
      takenAt: Date.parse(taken_at),
      tallies: Object.fromEntries(tallies) as Tallies,
    }
    return this.#head
  }

  /** Any other line: its rows, or undefined for the last one. */
  page(line: string): Page | undefined {
    const parsed = jsonOf(line)
    const last = lastLine.safeParse(parsed)
    if (last.success) return this.#end(last.data.sha256)
    const page = pageOf(parsed)
    if (this.#isOver || page === undefined) throw damaged()
    const { table, rows } = page
    this.#hash.update(`${line}\n`)
    this.#counts.set(table, (this.#counts.get(table) ?? 0) + rows.length)
    return page
  }

  /** To be called when there are no more lines. */
  end(): void {
    if (!this.#isOver) throw unusable('is cut off: its end is missing')
  }

  #end(sha256: string): undefined {
    const tallies = this.#head?.tallies
    if (tallies === undefined || this.#hash.digest('hex') !== sha256) throw damaged()
    for (const table of TABLE_NAMES)
      if ((this.#counts.get(table) ?? 0) !== tallies[table].rows) throw damaged()
    this.#isOver = true
  }
}

/** Before the first release a schema changes without its version. */
function hasOurColumns(tables: z.infer<typeof headLine>['tables']): boolean {
  const theirs = Object.entries(tables).map(([table, { columns }]) => [table, columns])
  const ours = TABLE_NAMES.map((table) => [table, columnsOf(table)])
  return JSON.stringify(theirs) === JSON.stringify(ours)
}

/** By hand: a schema would look at every value of every row, and so does the decoder. */
function pageOf(parsed: unknown): Page | undefined {
  if (!isObject(parsed)) return undefined
  const { table: named, rows } = parsed
  const table = TABLE_NAMES.find((each) => each === named)
  if (table === undefined || !Array.isArray(rows)) return undefined
  return { table, rows: rows.map(decoderOf(table)) }
}

type Decoder = (values: unknown) => Row

function decoderOf(table: TableName): Decoder {
  const types = typesOf(table)
  const columns = columnsOf(table)
  const readers = columns.map((name, index) => {
    if (types[index] === 'BLOB') return (text: string) => Buffer.from(text, 'base64')
    return isMoney(name) ? BigInt : undefined
  })
  return (values) => {
    if (!Array.isArray(values) || values.length !== columns.length) throw damaged()
    return values.map((value: unknown, index) => {
      const read = readers[index]
      if (value === null) return null
      if (read !== undefined && typeof value === 'string') return read(value)
      if (read !== undefined || (typeof value !== 'string' && typeof value !== 'number'))
        throw damaged()
      return value
    })
  }
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

/** The message follows the name of the file. */
function unusable(message: string): StoreError {
  return new StoreError('unusable_backup', message)
}

function damaged(): StoreError {
  return unusable('is damaged: its contents do not have their checksum; use another backup')
}

// The file itself. It is written under another name, synced, and renamed when it is whole: whatever ends a backup early,
// no part of one stands where somebody will look for it.

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
