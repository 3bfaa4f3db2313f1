// The simulation's SQLite: the tables, the files of journals beside them, and a node that decides in memory as long as it
// is alone. The model of src/ledger/sqlite: what is decided, recorded and carried out again is the ledger's own code.
import { periodAt, type Period } from '../../src/core/periods.ts'
import type { Batch, BatchResult, Item, Snapshot } from '../../src/ledger/rules/batch.ts'
import { MemoryDatabase, type Faults } from './memory-database.ts'
import type { Random } from './random.ts'
import type { Rules } from './rules.ts'

/** torn = the process or the disk failed in the middle of it. */
type Stored = { readonly text: string; readonly isTorn: boolean }

/** What a batch in the database is told of the journal of its node. */
type Own = {
  readonly nodeId: number
  /** The number of its next record; null = it is over. */
  readonly next: number | null
  readonly doubtfulSeq: number
}

export class SqliteDatabase extends MemoryDatabase {
  /** By node: the record of number n is the nth. */
  readonly files = new Map<number, Stored[]>()
  /** By node, while its journal counts: the first record that is not in the tables. */
  readonly positions = new Map<number, number>()
  /** Nodes whose journals another one has ended: nothing more of them is read. */
  readonly over = new Set<number>()
  readonly rules: Rules
  readonly faults: Faults

  constructor(rules: Rules, faults: Faults) {
    super(rules, faults)
    this.rules = rules
    this.faults = faults
  }

  /** As a reader sees them, who brings in what journals have, without doing so. */
  view(): SqliteDatabase {
    const isBehind = [...this.positions].some(([nodeId, seq]) => this.#nextOf(nodeId, seq))
    if (!isBehind) return this
    const copy = this.copyTo(new SqliteDatabase(this.rules, this.faults))
    for (const [nodeId, file] of this.files) copy.files.set(nodeId, file)
    for (const [nodeId, position] of this.positions) copy.positions.set(nodeId, position)
    for (const nodeId of this.over) copy.over.add(nodeId)
    copy.fold()
    return copy
  }

  /** Brings in what journals have beyond the tables. */
  fold(own?: Own, isGranting = false): void {
    for (const [nodeId, position] of this.positions) {
      const isOwn = nodeId === own?.nodeId
      const texts: string[] = []
      let seq = position
      for (let text = this.#nextOf(nodeId, seq); text !== undefined;) {
        if (!isOwn || seq !== own.doubtfulSeq) texts.push(text)
        text = this.#nextOf(nodeId, ++seq)
      }
      if (texts.length > 0) this.#carryOut(texts)
      const isGone = this.nodes.get(nodeId) !== 'live' || (isOwn && own.next === null)
      const isEnded = !isGone && !isOwn && isGranting && !this.over.has(nodeId)
      if (isGone) this.forget(nodeId)
      else if (this.faults.noPosition !== true) this.positions.set(nodeId, seq)
      if (isEnded) this.over.add(nodeId)
      if (isGone || isEnded || seq !== position) this.countCommit()
      if (texts.length > 0) this.assertBalanced()
    }
  }

  /** Of the main budget; its present one, if it is over, is left to the ledger. */
  setPeriod(id: string, period: Period): void {
    const { periodEndsAt, timezone, weekStart } = this.account(id)
    const isOver = periodEndsAt !== null && periodEndsAt <= this.now
    const { endsAt } = periodAt({ period, timezone, weekStart }, this.now)
    this.change(id, { period, ...(!isOver && { periodEndsAt: endsAt }) })
  }

  isAlone(nodeId: number | null): boolean {
    return [...this.nodes].every(([id, status]) => id === nodeId || status !== 'live')
  }

  /** With the journal of a node, from this record on. */
  goOn(nodeId: number, next: number): void {
    this.over.delete(nodeId)
    this.positions.set(nodeId, next)
  }

  forget(nodeId: number): void {
    this.over.delete(nodeId)
    this.positions.delete(nodeId)
  }

  #nextOf(nodeId: number, seq: number): string | undefined {
    return this.over.has(nodeId) ? undefined : this.#textOf(nodeId, seq)
  }

  #textOf(nodeId: number, seq: number): string | undefined {
    const found = this.files.get(nodeId)?.[seq - 1]
    if (found === undefined || !found.isTorn) return found?.text
    if (this.faults.readTorn !== true) return undefined
    const record = this.rules.unpackRecord(found.text)
    return this.rules.packRecord({ ...record, items: record.items.slice(1) })
  }

  #carryOut(texts: readonly string[]): void {
    const { unpackRecord, concernedBy, replay, WorkingSet } = this.rules
    const records = texts.map(unpackRecord)
    const { accountIds, holdIds } = concernedBy(records)
    const last = Math.max(this.now, ...records.map(({ now }) => now))
    const work = new WorkingSet(this.read({ now: records[0]?.now ?? 0, accountIds, holdIds }))
    replay(work, records)
    this.apply(work.writes(), { now: last, isReplay: true })
  }
}

/** What was decided in memory, and the record without which it does not count. */
export type InMemory = {
  readonly result: Extract<BatchResult, { live: true }>
  readonly record: string | undefined
  readonly at: number
  isWritten: boolean
}

/** How a write to the journal ends: one that fails may have written nothing, a part, or all of it. */
type Written = 'durable' | (typeof FAILURES)[number]

const FAILURES = ['failed', 'failed in part', 'failed in part', 'failed at the end'] as const

export function howWritten(random: Random, failing: number): Written {
  return random.chance(failing) ? (random.pick(FAILURES) ?? 'failed') : 'durable'
}

const NO_RECORD = 0

/** A process with a journal, as `SqliteRunner` is one. */
export class SqliteNode {
  readonly #books: SqliteDatabase
  readonly #cache: InstanceType<Rules['BatchCache']>
  /** Every account that a record has moved which is not in the tables is remembered. */
  #isComplete = false
  #journal: { readonly nodeId: number; next: number } | undefined
  /** The count of commits, if nobody else commits. */
  #expected: number | undefined
  #doubtfulSeq = NO_RECORD
  #isBroken = false
  #isAlone = false

  constructor(books: SqliteDatabase) {
    this.#books = books
    this.#cache = new books.rules.BatchCache()
  }

  get #isCurrent(): boolean {
    if (this.#books.faults.noCount === true) return this.#expected !== undefined
    return this.#expected === this.#books.commits
  }

  /** Undefined if not everything is at hand. */
  decide(batch: Batch): InMemory | undefined {
    const { items, nodeId, isRetry } = batch
    if (isRetry || nodeId !== this.#journal?.nodeId || !this.#isCurrent) return undefined
    if (this.#isComplete) this.#readAccounts(items)
    const snapshot = this.#snapshot(items)
    if (snapshot === undefined) return undefined
    const { WorkingSet, decideIn, recordOf, packRecord } = this.#books.rules
    const work = new WorkingSet(snapshot)
    const { outcomes, balances } = decideIn(work, items)
    const record = recordOf(batch, outcomes, work)
    this.#cache.rememberHolds(work.holdChanges())
    return {
      result: { live: true, outcomes, balances },
      record: record && packRecord(record),
      at: snapshot.now,
      isWritten: false,
    }
  }

  #readAccounts(items: readonly Item[]): void {
    const { accounts } = this.#cache
    const accountIds = this.#books.rules.accountsOf(items).filter((id) => !accounts.has(id))
    const found = this.#books.read({ now: this.#books.now, accountIds, holdIds: [] })
    for (const account of found.accounts) accounts.set(account.id, account)
  }

  /** As when it remembers too many. */
  forgetAccounts(): void {
    this.#cache.accounts.clear()
    if (this.#books.faults.readBehind !== true) this.#isComplete = false
  }

  #snapshot(items: readonly Item[]): Snapshot | undefined {
    const { accountsOf, knownHoldOf } = this.#books.rules
    const holdIds = items.flatMap((item) => knownHoldOf(item, false) ?? [])
    const accounts = accountsOf(items).map((id) => this.#cache.accounts.get(id))
    const holds = holdIds.map((id) => this.#cache.holds.get(id))
    if ([...accounts, ...holds].includes(undefined)) return undefined
    return {
      now: this.#books.now,
      accounts: accounts.filter((account) => account !== undefined),
      holds: holds.filter((hold) => hold !== undefined),
      usage: [],
    }
  }

  write(decided: InMemory, how: Written): void {
    decided.isWritten = true
    const journal = this.#journal
    if (decided.record === undefined || journal === undefined) return
    this.#doubtfulSeq = journal.next++
    if (how !== 'durable') this.#isBroken = true
    if (how === 'failed') return
    const stored = { text: decided.record, isTorn: how === 'failed in part' }
    this.#books.files.get(journal.nodeId)?.push(stored)
  }

  /** Whether nobody has committed anything up to now. */
  counts(): boolean {
    if (this.#isBroken || !this.#isCurrent) {
      this.#cache.forget()
      this.#isComplete = false
      return false
    }
    this.#doubtfulSeq = NO_RECORD
    return true
  }

  /** `decided` = what its record says; it counts if somebody has brought that in. */
  run(batch: Batch, decided?: InMemory): { result: BatchResult; isBroughtIn: boolean } {
    const books = this.#books
    const own = this.#own(batch.nodeId)
    const wasCurrent = this.#isCurrent
    const isDecided = decided?.record !== undefined
    const position = books.positions.get(own?.nodeId ?? 0)
    const isBroughtIn = isDecided && position !== undefined && position > this.#doubtfulSeq
    const isFenced = batch.nodeId !== null && books.nodes.get(batch.nodeId) !== 'live'
    books.fold(own, batch.nodeId !== null && !isFenced)
    if (isFenced) return { result: { live: false }, isBroughtIn: false }
    this.#isAlone = books.isAlone(batch.nodeId)
    if (own !== undefined) {
      if (this.#isAlone && own.next !== null) books.goOn(own.nodeId, own.next)
      else books.forget(own.nodeId)
    }
    const retried = { ...batch, isRetry: batch.isRetry || isDecided }
    const ran = isBroughtIn ? undefined : books.runTold(retried)
    if (ran === undefined) books.countCommit()
    const isUsable = own !== undefined && own.next !== null && this.#isAlone
    this.#expected = isUsable ? books.commits : undefined
    this.#doubtfulSeq = NO_RECORD
    if (this.#isBroken || !this.#isAlone) this.#endJournal()
    if (!wasCurrent || decided !== undefined || ran === undefined) this.#cache.forget()
    if (ran !== undefined) this.#cache.remember(ran.accounts, ran.writes)
    this.#isComplete = true
    return { result: ran?.result ?? { live: false }, isBroughtIn }
  }

  /** Its database's thread does, every now and then. */
  fold(): void {
    const wasCurrent = this.#isCurrent
    this.#books.fold()
    if (wasCurrent) this.#expected = this.#books.commits
  }

  #own(nodeId: number | null): Own | undefined {
    if (nodeId === null) return undefined
    if (nodeId !== this.#journal?.nodeId) {
      this.#endJournal()
      if (!this.#isAlone) return undefined
      this.#journal = { nodeId, next: 1 }
      this.#books.files.set(nodeId, [])
    }
    const next = this.#isBroken ? null : this.#journal.next
    return { nodeId, next, doubtfulSeq: this.#doubtfulSeq }
  }

  #endJournal(): void {
    this.#journal = undefined
    this.#isBroken = false
  }
}
