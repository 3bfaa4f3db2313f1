// What the serving thread and the database's thread tell each other about a journal, in shared memory: which count of
// commits the database will have if nobody else writes, and how much of the journal is in it.
import type { ChangeCounter } from './change-counter.ts'

/** The slots of the memory. */
const EXPECTED = 0
const IS_WRITING = 1
const FOLDED = 2
const SLOTS = 3

/** No count is as expected: the serving thread must ask the database. */
const NONE = -1

/** The serving thread's end. */
export class JournalState {
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

  /** Whether all records before this one are in the database. */
  isFolded(seq: number): boolean {
    return Atomics.load(this.memory, FOLDED) === (seq | 0)
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
    Atomics.store(this.#memory, IS_WRITING, 0)
  }

  rolledBack(): void {
    Atomics.store(this.#memory, IS_WRITING, 0)
  }
}
