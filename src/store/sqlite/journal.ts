// The journal of one node: what it decided, on disk before anybody is told, and in the database a little later. A file of
// a fixed size, because a write that makes none longer is durable with one wait for the disk; records follow one another,
// numbered, and begin again at the front when those that were there are in the database. Below it, what the threads of its
// node tell each other about it.
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  statSync,
  unlinkSync,
  write,
  type Stats,
} from 'node:fs'
import { open, stat, statfs, type FileHandle } from 'node:fs/promises'
import { endianness } from 'node:os'
import { basename, dirname } from 'node:path'
import { crc32 } from 'node:zlib'
import { codeOf } from '../../core/errors.ts'
import { syncFolder } from './files.ts'

const BYTES = 8 * 1024 * 1024
const HALF_BYTES = BYTES / 2
/** The last space of a disk is for the database. */
const FREE_BYTES_MIN = 4 * BYTES
/** Length, checksum, number. */
const HEADER_BYTES = 16
/** As much is read at once: what a busy node writes in a few milliseconds. */
const BLOCK_BYTES = 64 * 1024

/** In `meta`, with the node's number behind it: how far the node's journal is in the database. */
export const JOURNAL_PREFIX = 'journal:'

/** Before a statement that reads nothing of what journals keep: it needs none of them to be brought in first. */
export const WITHOUT_JOURNALS = '/* without journals */ '

/** Where the next record is expected, and which one: there, or at the front. */
export type JournalPosition = { readonly seq: number; readonly offset: number }

export const JOURNAL_START: JournalPosition = { seq: 1, offset: 0 }

/** Beside the database. No two nodes have the same number, so none writes into another's. */
export function journalPath(database: string, nodeId: number): string {
  return `${database}-node-${nodeId}`
}

/** The numbers of all nodes that have a file there. */
export function journalsBeside(database: string): readonly number[] {
  const beginning = basename(journalPath(database, 0)).slice(0, -1)
  return readdirSync(dirname(database))
    .filter((name) => name.startsWith(beginning) && /^\d+$/.test(name.slice(beginning.length)))
    .map((name) => Number(name.slice(beginning.length)))
}

export class Journal {
  readonly nodeId: number
  readonly state: JournalState
  readonly #path: string
  readonly #file: number
  #next = JOURNAL_START
  /** The first record of this round through the file. */
  #roundSeq = JOURNAL_START.seq
  /** The first one in the second half of the file: of the round before, and of this one, if there is one yet. */
  #halfSeqBefore = JOURNAL_START.seq
  #halfSeq: number | undefined

  /** A new file, with its whole size on the disk, beside a database that this process has open. */
  static async create(database: string, nodeId: number): Promise<Journal> {
    const path = journalPath(database, nodeId)
    const { bavail, bsize } = await statfs(dirname(path))
    if (bavail * bsize < FREE_BYTES_MIN) throw new Error('the disk is nearly full')
    const state = new JournalState(new ChangeCounter(database))
    try {
      const file = await open(path, 'w', 0o600)
      try {
        await file.writeFile(Buffer.alloc(BYTES))
        await giveTo(await stat(database), file)
        await file.sync()
      } finally {
        await file.close()
      }
      await syncFolder(dirname(path))
      return new Journal(path, nodeId, state)
    } catch (error) {
      removeJournal(path)
      throw error
    }
  }

  private constructor(path: string, nodeId: number, state: JournalState) {
    this.nodeId = nodeId
    this.state = state
    this.#path = path
    this.#file = openSync(path, constants.O_WRONLY | constants.O_DSYNC)
  }

  /** Otherwise nobody would find it after a crash: it was removed, or replaced. */
  get isInPlace(): boolean {
    return isStillAt(this.#path, this.#file)
  }

  /** Where the next record will be, unless it is at the front. */
  get next(): JournalPosition {
    return this.#next
  }

  /**
   * Resolves when the record is durable; undefined when there is no room for it until more of those before it are in the
   * database. One at a time.
   */
  append(text: string): Promise<void> | undefined {
    const length = Buffer.byteLength(text)
    const { seq, offset } = this.#next
    const bytes = HEADER_BYTES + length
    if (bytes > BYTES) return undefined
    const at = offset + bytes <= BYTES ? offset : 0
    if (at === 0) this.#beginRound(seq)
    // What it overwrites is of the round before, in one half of the file or in both.
    const overwritten = at + bytes > HALF_BYTES ? this.#roundSeq : this.#halfSeqBefore
    if (!this.state.isFolded(overwritten)) return undefined
    if (at >= HALF_BYTES) this.#halfSeq ??= seq
    const record = Buffer.allocUnsafe(HEADER_BYTES + length)
    record.write(text, HEADER_BYTES)
    record.writeUInt32LE(length, 0)
    record.writeDoubleLE(seq, 8)
    record.writeUInt32LE(checksum(record, this.nodeId), 4)
    this.#next = { seq: seq + 1, offset: at + record.length }
    return new Promise((resolve, reject) => {
      write(this.#file, record, 0, record.length, at, (error, written) => {
        if (error !== null) reject(error)
        else if (written < record.length) reject(new Error('the disk took part of a record'))
        else resolve()
      })
    })
  }

  /** Again if there was no room. */
  #beginRound(seq: number): void {
    if (this.#roundSeq === seq) return
    this.#halfSeqBefore = this.#halfSeq ?? seq
    this.#roundSeq = seq
    this.#halfSeq = undefined
  }

  close(): void {
    closeSync(this.#file)
  }
}

/** Whoever may use the database must be able to bring the journal in, as SQLite does with the files of its own. */
async function giveTo({ mode, uid, gid }: Stats, file: FileHandle): Promise<void> {
  await file.chmod(mode & 0o666)
  if (process.getuid?.() === 0) await file.chown(uid, gid)
}

type Found = { readonly text: string; readonly seq: number; readonly next: JournalPosition }

/** Reads the journal of any node, also while it is written. */
export class JournalReader {
  readonly #nodeId: number
  readonly #file: number

  /** Undefined when there is no such file. One that cannot be opened is no empty one, and fails. */
  static open(path: string, nodeId: number): JournalReader | undefined {
    try {
      return new JournalReader(openSync(path, 'r'), nodeId)
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined
      throw error
    }
  }

  private constructor(file: number, nodeId: number) {
    this.#file = file
    this.#nodeId = nodeId
  }

  /** Whether this is still the file of that name: a node whose journal broke begins another one. */
  isAt(path: string): boolean {
    return isStillAt(path, this.#file)
  }

  /** The record at this position, or at the front; undefined when it is not there, or not whole. */
  next({ seq, offset }: JournalPosition): Found | undefined {
    return this.#recordAt({ seq, offset }) ?? this.#recordAt({ seq, offset: 0 })
  }

  /** All whole records from this position on, read many at a time. */
  all(from: JournalPosition): readonly Found[] {
    const found: Found[] = []
    for (let at = from; ;) {
      const { offset } = at
      const block = this.#bytes(offset, BLOCK_BYTES)
      for (let record = this.#wholeIn(block, at); record !== undefined;) {
        found.push(record)
        at = record.next
        record = this.#wholeIn(block.subarray(at.offset - offset), at)
      }
      if (at.offset !== offset) continue
      // Longer than a block, or at the front, or not there.
      const next = this.next(at)
      if (next === undefined) return found
      found.push(next)
      at = next.next
    }
  }

  #recordAt(position: JournalPosition): Found | undefined {
    const { seq, offset } = position
    const header = this.#bytes(offset, HEADER_BYTES)
    if (header.length < HEADER_BYTES || header.readDoubleLE(8) !== seq) return undefined
    const end = HEADER_BYTES + header.readUInt32LE(0)
    return offset + end > BYTES ? undefined : this.#wholeIn(this.#bytes(offset, end), position)
  }

  /** The record at this position, if these bytes, which begin there, have all of it. */
  #wholeIn(bytes: Buffer, { seq, offset }: JournalPosition): Found | undefined {
    if (bytes.length < HEADER_BYTES || bytes.readDoubleLE(8) !== seq) return undefined
    const end = HEADER_BYTES + bytes.readUInt32LE(0)
    if (offset + end > BYTES || end > bytes.length) return undefined
    const record = bytes.subarray(0, end)
    if (checksum(record, this.#nodeId) !== record.readUInt32LE(4)) return undefined
    const text = record.toString('utf8', HEADER_BYTES)
    return { text, seq, next: { seq: seq + 1, offset: offset + end } }
  }

  #bytes(at: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length)
    return bytes.subarray(0, readSync(this.#file, bytes, 0, length, at))
  }

  close(): void {
    closeSync(this.#file)
  }
}

/** False also where nothing can be found out about the name. */
function isStillAt(path: string, file: number): boolean {
  const { dev, ino } = fstatSync(file)
  try {
    const found = statSync(path)
    return found.dev === dev && found.ino === ino
  } catch {
    return false
  }
}

/** A zombie may write on after it was fenced, so whoever has taken over removes the file. */
export function removeJournal(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // Somebody else was faster.
  }
}

function checksum(record: Buffer, nodeId: number): number {
  return crc32(record.subarray(8), nodeId >>> 0)
}

// What the serving thread and the database's thread tell each other about a journal, in shared memory: which count of
// commits the database will have if nobody else writes, and how much of the journal is in it.

/** The slots of the memory. */
const EXPECTED = 0
const IS_WRITING = 1
const FOLDED = 2
const HAS_TELLER = 3
const SLOTS = 4

/** No count is as expected: the serving thread must ask the database. */
const NONE = -1

const SAID_WITHIN_MS = 5

/** The serving thread's end. */
class JournalState {
  readonly memory = new Int32Array(new SharedArrayBuffer(SLOTS * Int32Array.BYTES_PER_ELEMENT))
  readonly #counter: ChangeCounter

  constructor(counter: ChangeCounter) {
    this.#counter = counter
    this.doubt()
  }

  /** Whether nobody else has committed anything since the last answer of the database's thread. */
  get isCurrent(): boolean {
    const expected = Atomics.load(this.memory, EXPECTED)
    return expected !== NONE && expected === this.#counter.read()
  }

  /** Whether the database's thread is about to commit, or has committed and not said so yet. */
  get isWriting(): boolean {
    return Atomics.load(this.memory, IS_WRITING) === 1
  }

  /** Resolves when that thread has said so, or after a moment: it may have ended meanwhile. */
  async untilSaid(): Promise<void> {
    await Atomics.waitAsync(this.memory, IS_WRITING, 1, SAID_WITHIN_MS).value
  }

  /** Whether all records before this one are in the database. */
  isFolded(seq: number): boolean {
    // The memory has 32 bits for a number, which begin again.
    return ((Atomics.load(this.memory, FOLDED) - seq) | 0) >= 0
  }

  doubt(): void {
    Atomics.store(this.memory, EXPECTED, NONE)
  }
}

/** The end of the database's thread: what it says of each of its transactions that writes. */
export class JournalTeller {
  readonly nodeId: number
  readonly #memory: Int32Array
  readonly #counter: ChangeCounter
  #expected = NONE
  #folded = 0

  constructor(nodeId: number, memory: Int32Array, counter: ChangeCounter) {
    this.nodeId = nodeId
    this.#memory = memory
    this.#counter = counter
    Atomics.store(memory, HAS_TELLER, 1)
  }

  /** False for the memory of a new journal, which may be of the same node as the one before. */
  static isOf(memory: Int32Array): boolean {
    return Atomics.load(memory, HAS_TELLER) === 1
  }

  /** Whether the serving thread knows of every commit before this transaction. */
  get isKnown(): boolean {
    return Atomics.load(this.#memory, EXPECTED) === this.#counter.read()
  }

  /**
   * Before the commit of a transaction that writes. `isUsable` = the serving thread knows all about the database then,
   * and may decide by itself.
   */
  beginCommit({ isUsable, foldedSeq }: { isUsable: boolean; foldedSeq: number }): void {
    this.#expected = isUsable ? this.nextCount : NONE
    this.#folded = foldedSeq | 0
    Atomics.store(this.#memory, IS_WRITING, 1)
  }

  /** What the count of commits will be after this transaction. */
  get nextCount(): number {
    return (this.#counter.read() + 1) | 0
  }

  committed(): void {
    if (Atomics.load(this.#memory, IS_WRITING) === 0) return
    Atomics.store(this.#memory, FOLDED, this.#folded)
    Atomics.store(this.#memory, EXPECTED, this.#expected)
    this.rolledBack()
  }

  rolledBack(): void {
    Atomics.store(this.#memory, IS_WRITING, 0)
    Atomics.notify(this.#memory, IS_WRITING)
  }
}

// How often an SQLite database was committed to, read without SQLite: the counter in the header of the log's index, the
// file whose name ends in -shm, which everybody who has the database open shares as memory. Reading it takes about two
// microseconds and waits for nobody. https://sqlite.org/walformat.html#walidxfmt ("iChange").

const COUNTER_AT = 8

/** Never closed: closing a file gives up all locks that this process has on it, and SQLite's are among them. */
const opened = new Map<string, number>()

export class ChangeCounter {
  readonly #file: number
  readonly #buffer = Buffer.alloc(4)

  /** Of a database that this process has open. */
  constructor(database: string) {
    const path = `${database}-shm`
    const { dev, ino } = statSync(path, { bigint: true })
    const identity = `${dev} ${ino}`
    this.#file = opened.get(identity) ?? openSync(path, 'r')
    opened.set(identity, this.#file)
  }

  /** Grows by one with each commit that changes anything, whoever makes it. */
  read(): number {
    // Equal to no count: what was read before says nothing about now.
    if (readSync(this.#file, this.#buffer, 0, 4, COUNTER_AT) < 4) return NaN
    return endianness() === 'LE' ? this.#buffer.readInt32LE() : this.#buffer.readInt32BE()
  }
}
