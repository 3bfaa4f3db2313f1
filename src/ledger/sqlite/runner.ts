// The serving thread's end of a batch on SQLite. As long as this node is alone with the database, and has everything at
// hand, it decides here, in memory, and a batch is done when it is durable in the node's journal; the database's thread
// brings the journal into the database a little later. All other batches are decided there, in one transaction.
//
// What makes that sound: a batch counts only if, once it is durable, nobody else has committed anything since this node
// last knew everything. Another node commits that it joins before it decides anything, and what it decides first ends
// this journal after bringing it in: so it has seen every batch that counts, and no later one ever will.
import type { WorstCase } from '../../catalog/worst-case.ts'
import { messageOf } from '../../core/errors.ts'
import { moduleBeside } from '../../core/runtime.ts'
import {
  flag,
  integer,
  layout,
  money,
  nullable,
  packAmount,
  text,
  type Packed,
} from '../../store/database/layout.ts'
import { isOutage } from '../../store/database/outage.ts'
import type { SqliteStore } from '../../store/database/store.ts'
import type { HoldId } from '../ledger.ts'
import type {
  Batch,
  BatchResult,
  CheckedAsk,
  HoldChanges,
  Item,
  Outcome,
  Snapshot,
} from '../rules/batch.ts'
import { accountsOf, decideIn, knownHoldOf } from '../rules/decide.ts'
import { isByHand, packRecord, recordOf } from '../rules/replay.ts'
import { CHARGE, type Account, type Hold } from '../rules/rows.ts'
import { BatchCache, WorkingSet } from '../rules/working-set.ts'
import { type BatchRunner, Unavailable } from '../writer/writer.ts'
import { Journal, type JournalPosition } from '../../store/sqlite/journal.ts'

/** To be loaded by the SQLite thread: `openStore(url, { threadModules: [LEDGER_THREAD_MODULE] })`. */
export const LEDGER_THREAD_MODULE = moduleBeside(import.meta.url, 'batch-thread')

/** How long the database may lag behind the journal. */
const FOLD_EVERY_MS = 50
/** After a file could not be made. */
const CREATE_AGAIN_MS = 10_000

/** A batch to be decided in the database. */
type Direct = {
  readonly batch: Batch
  readonly journal: OwnJournal | null
  /** The doubtful record is this batch as a whole. */
  readonly isDecided?: boolean
}

/** As it is sent to another thread: what every request brings as one text, because clones take three times as long. */
type PackedList<Thing> = {
  /** JSON, by thing: null = the next of `others`, which cross as they are. */
  readonly frequent: string
  readonly others: readonly Thing[]
}

export type DirectBatch = Omit<Direct, 'batch'> & {
  readonly batch: Omit<Batch, 'items'>
  readonly items: PackedList<Item>
}

type ReserveList = readonly [holdId: HoldId, ask: Packed[], candidates: readonly Packed[][]]
type ChargeList = readonly Packed[]

const ASK = layout<Omit<CheckedAsk, 'candidates'>>({
  requestId: text('requestId'),
  keyId: text('keyId'),
  groupId: nullable(text('groupId')),
  groupVersion: integer('groupVersion'),
  allowVersion: integer('allowVersion'),
  endpoint: text('endpoint'),
  modelAsked: text('modelAsked'),
  whenTight: text('whenTight'),
  estimatedTokens: integer('estimatedTokens'),
  recounted: flag('recounted'),
  isLastTry: flag('isLastTry'),
})

const CANDIDATE = layout<WorstCase>({
  fixedPicodollars: money('fixedPicodollars'),
  outputTokenPicodollars: money('outputTokenPicodollars'),
  outputTokens: integer('outputTokens'),
  outputTokensFrom: text('outputTokensFrom'),
  outputTokensMinimum: integer('outputTokensMinimum'),
})

function packItem(item: Item): ReserveList | ChargeList | null {
  if (item.kind === 'settle') return CHARGE.pack(item.charge)
  if (item.kind !== 'reserve') return null
  const { holdId, ask } = item
  return [holdId, ASK.pack(ask), ask.candidates.map(CANDIDATE.pack)]
}

function unpackItem(list: ReserveList | ChargeList): Item {
  if (!isReserve(list)) return { kind: 'settle', charge: CHARGE.unpack(list) }
  const [holdId, ask, candidates] = list
  const unpacked = { ...ASK.unpack(ask), candidates: candidates.map(CANDIDATE.unpack) }
  return { kind: 'reserve', holdId, ask: unpacked }
}

function isReserve(list: ReserveList | ChargeList): list is ReserveList {
  return list.length === 3
}

export function itemsOf({ items }: DirectBatch): readonly Item[] {
  return unpack(items, unpackItem)
}

type Amount = ReturnType<typeof packAmount>
type GrantedList = readonly [holdId: HoldId, amount: Amount, outputTokens: number, capped: boolean]
type SettledList = readonly [found: Settled['found'], cost: Amount, overrun: Amount]
type Settled = Extract<Outcome, { readonly kind: 'settled' }>

function packOutcome(outcome: Outcome): GrantedList | SettledList | null {
  if (outcome.kind === 'settled') {
    return [outcome.found, packAmount(outcome.cost), packAmount(outcome.overrun)]
  }
  if (outcome.kind !== 'judged' || !outcome.answer.reserved) return null
  const { holdId, amountNanodollars, outputTokens, capped, grants } = outcome.answer
  return grants === undefined ? [holdId, packAmount(amountNanodollars), outputTokens, capped] : null
}

function unpackOutcome(list: GrantedList | SettledList): Outcome {
  if (isGranted(list)) {
    const [holdId, amount, outputTokens, capped] = list
    const amountNanodollars = BigInt(amount)
    const answer = { reserved: true, holdId, amountNanodollars, outputTokens, capped } as const
    return { kind: 'judged', answer }
  }
  const [found, cost, overrun] = list
  return { kind: 'settled', found, cost: BigInt(cost), overrun: BigInt(overrun) }
}

function isGranted(list: GrantedList | SettledList): list is GrantedList {
  return list.length === 4
}

function pack<Thing>(
  things: readonly Thing[],
  listOf: (thing: Thing) => readonly unknown[] | null,
): PackedList<Thing> {
  const lists = things.map(listOf)
  return {
    frequent: JSON.stringify(lists),
    others: things.filter((_, index) => lists[index] === null),
  }
}

function unpack<Thing, List>(
  { frequent, others }: PackedList<Thing>,
  thingOf: (list: List) => Thing,
): readonly Thing[] {
  const lists = JSON.parse(frequent) as readonly (List | null)[]
  let taken = 0
  return lists.map((list) => (list === null ? (others[taken++] as Thing) : thingOf(list)))
}

/** What must be in a node's journal: all records before this one were answered. */
export type Answered = { readonly nodeId: number; readonly answeredSeq: number }

/** The journal of the node whose batch it is, which writes nothing meanwhile. */
export type OwnJournal = Answered & {
  readonly memory: Int32Array
  /** Where it will go on. */
  readonly next: JournalPosition
  readonly isOver: boolean
  /** The record of this number does not count, unless it is in the database already: its batch is decided again. */
  readonly doubtfulSeq: number
}

export type DirectResult = {
  readonly result: BatchResult
  /** As they stand after it; nothing where the serving thread cannot decide by itself. */
  readonly accounts: readonly Account[]
  readonly changes: HoldChanges
  /** Nobody else has committed anything since the serving thread last knew everything. */
  readonly isKnown: boolean
  /** The batch was in the database already, as its record says, and nothing was decided. */
  readonly isBroughtIn: boolean
  /** No other node is live. */
  readonly isAlone: boolean
}

type PackedResult = Omit<DirectResult, 'result'> & {
  readonly result:
    | (Omit<Decided, 'outcomes'> & { readonly outcomes: PackedList<Outcome> })
    | Exclude<BatchResult, Decided>
}

type Decided = Extract<BatchResult, { readonly live: true }>

export function packResult(direct: DirectResult): PackedResult {
  const { result } = direct
  if (!result.live) return { ...direct, result }
  return { ...direct, result: { ...result, outcomes: pack(result.outcomes, packOutcome) } }
}

function unpackResult(packed: PackedResult): DirectResult {
  const { result } = packed
  if (!result.live) return { ...packed, result }
  return { ...packed, result: { ...result, outcomes: unpack(result.outcomes, unpackOutcome) } }
}

/** For a caller that writes only this one batch. */
export async function runInDatabase(
  store: SqliteStore,
  { batch: { items, ...batch }, ...more }: Direct,
): Promise<DirectResult> {
  const direct: DirectBatch = { ...more, batch, items: pack(items, packItem) }
  try {
    return unpackResult((await store.inThread('ledger.batch', direct)) as PackedResult)
  } catch (error) {
    // This includes errors of the handler itself: retrying those would hold up all other batches forever.
    if (!isOutage(error)) throw error
    throw new Unavailable(`SQLite could not commit: ${error.message}`, { cause: error })
  }
}

/** What was decided in memory: its answer, and the record without which it does not count. */
type InMemory = { readonly result: BatchResult; readonly record: string | undefined }

/** No record has this number. */
const NO_RECORD = 0

export class SqliteRunner implements BatchRunner {
  readonly #store: SqliteStore
  readonly #cache = new BatchCache()
  /** Every account that a record has moved which is not in the database yet is remembered. */
  #isComplete = false
  #journal: Journal | undefined
  #isBroken = false
  /** As of the last batch in the database; beside other nodes a journal is of no use. */
  #isAlone = false
  /** On the clock of this process. */
  #createNotBeforeMs = 0
  /** Of a record that may be in the journal, though its batch has no answer yet. */
  #doubtfulSeq = NO_RECORD
  #appending: Promise<void> | undefined
  #folding: NodeJS.Timeout | undefined

  constructor(store: SqliteStore) {
    this.#store = store
  }

  async run(batch: Batch): Promise<BatchResult> {
    const mayDecide = this.#mayDecide(batch)
    let decided = mayDecide ? this.#decide(batch) : undefined
    if (mayDecide && decided === undefined && (await this.#readAccounts(batch)))
      decided = this.#decide(batch)
    if (decided === undefined) return this.#runInDatabase(batch)
    const { result, record } = decided
    const written = record === undefined ? 'nothing' : await this.#append(record)
    if (written !== 'full' && written !== 'failed' && (await this.#isStillCurrent())) return result
    this.#forget()
    if (written !== 'durable' && written !== 'failed') return this.#runInDatabase(batch)
    const again = await this.#runAgain({ ...batch, isRetry: true }, result)
    // Whoever took this node for dead may have brought the record in first: its holds must be voided under the new number.
    if (!again.live) throw new Unavailable('this node was taken for dead meanwhile')
    return again
  }

  /** What fails here may be in the books all the same: others bring in its record, which only a next batch rules out. */
  async #runAgain(batch: Batch, decided: BatchResult): Promise<BatchResult> {
    try {
      return await this.#runInDatabase(batch, decided)
    } catch (error) {
      if (error instanceof Unavailable) throw error
      throw new Unavailable(`SQLite did not take what is in the journal: ${messageOf(error)}`, {
        cause: error,
      })
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.#folding)
    // The file must not be closed under a write: its number may be another file's by then.
    await this.#appending?.catch(() => {})
    this.#endJournal()
    await this.#fold()
  }

  #mayDecide(batch: Batch): boolean {
    const { items, nodeId, isRetry } = batch
    if (isRetry || items.some(isByHand)) return false
    return nodeId === this.#journal?.nodeId && this.#journal?.state.isCurrent === true
  }

  /**
   * Those that are not at hand; false if there are none, or none can be had. The rows of accounts that no new record has
   * moved are as they should be, or somebody has changed them just now, and then what is decided with them does not count.
   */
  async #readAccounts({ items }: Batch): Promise<boolean> {
    const { accounts } = this.#cache
    if (this.#cache.isFull) {
      accounts.clear()
      this.#isComplete = false
    }
    const unknown = accountsOf(items).filter((id) => !accounts.has(id))
    if (!this.#isComplete || unknown.length === 0) return false
    try {
      const found = (await this.#store.inThread('ledger.accounts', unknown)) as readonly Account[]
      for (const account of found) accounts.set(account.id, account)
      return true
    } catch {
      // The batch goes to the database then, and finds out why.
      return false
    }
  }

  /** In memory; undefined if not everything is at hand. */
  #decide(batch: Batch): InMemory | undefined {
    const { items } = batch
    const snapshot = this.#snapshot(items)
    if (snapshot === undefined) return undefined
    try {
      const work = new WorkingSet(snapshot)
      const { outcomes, balances } = decideIn(work, items)
      const record = recordOf(batch, outcomes, work)
      this.#cache.rememberHolds(work.holdChanges())
      const result = { live: true, outcomes, balances } as const
      return { result, record: record && packRecord(record) }
    } catch (error) {
      // What is in memory is half changed. In the database the item that cannot be decided fails alone.
      this.#forget()
      throw error
    }
  }

  #snapshot(items: readonly Item[]): Snapshot | undefined {
    const accounts: Account[] = []
    for (const id of accountsOf(items)) {
      const account = this.#cache.accounts.get(id)
      if (account === undefined) return undefined
      accounts.push(account)
    }
    const holds: Hold[] = []
    for (const item of items) {
      const id = knownHoldOf(item, false)
      if (id === undefined) continue
      const hold = this.#cache.holds.get(id)
      if (hold === undefined) return undefined
      holds.push(hold)
    }
    return { now: this.#store.clock.now(), accounts, holds, usage: [] }
  }

  async #append(record: string): Promise<'durable' | 'failed' | 'full'> {
    const journal = this.#journal
    const seq = journal?.next.seq ?? NO_RECORD
    const written = journal?.append(record)
    if (written === undefined) return 'full'
    this.#doubtfulSeq = seq
    this.#appending = written
    try {
      await written
      return 'durable'
    } catch {
      this.#isBroken = true
      return 'failed'
    }
  }

  /** Whether nobody has committed anything up to now; then what was decided counts. */
  async #isStillCurrent(): Promise<boolean> {
    const state = this.#journal?.state
    if (state === undefined) return false
    if (!state.isCurrent) {
      // It may be a moment between a commit of the database's thread and its word about it.
      while (!state.isCurrent && state.isWriting) await state.untilSaid()
      if (!state.isCurrent) return false
    }
    this.#doubtfulSeq = NO_RECORD
    this.#folding ??= setTimeout(() => void this.#fold(), FOLD_EVERY_MS)
    return true
  }

  /** If it fails, the next batches have to ask the database, and find out. */
  async #fold(): Promise<void> {
    this.#folding = undefined
    try {
      await this.#store.inThread(
        'ledger.fold',
        this.#journal ? this.#answeredIn(this.#journal) : null,
      )
    } catch {
      this.#journal?.state.doubt()
    }
  }

  /** `decided` = what the record of this batch says; it counts if somebody has brought that into the database. */
  async #runInDatabase(batch: Batch, decided?: BatchResult): Promise<BatchResult> {
    const journal = await this.#journalOf(batch.nodeId)
    if (journal?.isInPlace === false) this.#isBroken = true
    const direct = await runInDatabase(this.#store, {
      batch,
      isDecided: decided !== undefined,
      journal: journal && {
        ...this.#answeredIn(journal),
        memory: journal.state.memory,
        next: journal.next,
        isOver: this.#isBroken,
        doubtfulSeq: this.#doubtfulSeq,
      },
    })
    this.#doubtfulSeq = NO_RECORD
    this.#isAlone = direct.isAlone
    if (this.#isBroken || !direct.isAlone) this.#endJournal()
    if (!direct.isKnown) this.#cache.forget()
    this.#cache.remember(direct.accounts, direct.changes)
    this.#isComplete = true
    return (direct.isBroughtIn && decided) || direct.result
  }

  /** That of this node, a new one for a new number; null where none can be made. */
  async #journalOf(nodeId: number | null): Promise<Journal | null> {
    if (nodeId === null) return null
    if (nodeId === this.#journal?.nodeId) return this.#journal
    this.#endJournal()
    const { clock, file } = this.#store
    if (!this.#isAlone || clock.monotonicMs() < this.#createNotBeforeMs) return null
    try {
      this.#journal = await Journal.create(file, nodeId)
      return this.#journal
    } catch {
      this.#createNotBeforeMs = clock.monotonicMs() + CREATE_AGAIN_MS
      return null
    }
  }

  #answeredIn({ nodeId, next }: Journal): Answered {
    const isDoubtful = this.#doubtfulSeq !== NO_RECORD
    return { nodeId, answeredSeq: isDoubtful ? this.#doubtfulSeq : next.seq }
  }

  #forget(): void {
    this.#cache.forget()
    this.#isComplete = false
  }

  #endJournal(): void {
    this.#journal?.close()
    this.#journal = undefined
    this.#isBroken = false
  }
}
