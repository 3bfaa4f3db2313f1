// One transaction of the ledger on SQLite, run inside the database's own thread: it brings in what journals say, then
// reads, decides and writes a batch, if there is one. One message in, one out, one wait for the disk.
import { systemClock } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import { isOutage } from '../../store/database/outage.ts'
import type { ThreadHandler, ThreadHandlers } from '../../store/sqlite/connection.ts'
import type { HoldId } from '../ledger.ts'
import type { Batch, Snapshot, Writes } from '../rules/batch.ts'
import { accountsOf, decide, knownHoldOf } from '../rules/decide.ts'
import { concernedBy, replay, unpackRecord, type JournalRecord } from '../rules/replay.ts'
import type { Account, Hold, UsageRow } from '../rules/rows.ts'
import {
  ACCOUNT,
  ACCOUNT_CHANGE,
  CLOSED_PERIOD,
  ENTRY,
  HOLD,
  HOLD_CHANGE,
  KEY_DAY,
  KEY_DAY_KEYS,
  PERIOD_DELTA,
  PRICE,
  ROLLUP,
  ROLLUP_KEYS,
  USAGE,
} from '../rules/rows.ts'
import { BatchCache, WorkingSet } from '../rules/working-set.ts'
import {
  ChangeCounter,
  JOURNAL_PREFIX,
  journalPath,
  JournalReader,
  journalsBeside,
  JournalTeller,
  removeJournal,
  type JournalPosition,
} from '../../store/sqlite/journal.ts'
import {
  itemsOf,
  packResult,
  type Answered,
  type DirectBatch,
  type DirectResult,
  type OwnJournal,
} from './runner.ts'

/** Loaded by the SQLite thread (store/sqlite/connection.ts). */
export const handlers: ThreadHandlers = {
  'ledger.batch': (db, direct: DirectBatch) => packResult(runBatch(db, direct)),
  'ledger.accounts': readAccounts,
  'ledger.fold': fold,
}

/** The handler to be called before anything is read: a journal has what the database has not. */
export function isBehind(db: Connection): string | undefined {
  const rows = prepared(db).journals.all()
  const isAny = rows.map(journalOf).some(({ nodeId, position, isOver }) => {
    return !isOver && readerOf(db, nodeId)?.next(position) !== undefined
  })
  return isAny ? 'ledger.fold' : undefined
}

/** Called by that thread when something other than a batch may have changed the books, or a batch was rolled back. */
export function onForeignWrite(): void {
  cache.forget()
  teller?.rolledBack()
  finished.clear()
  if (looked === 'in this transaction') looked = 'not yet'
}

/** Called by that thread when what a handler wrote is durable. */
export function onCommit(): void {
  teller?.committed()
  if (looked === 'in this transaction') looked = 'yes'
  for (const path of finished) {
    readers.get(path)?.close()
    readers.delete(path)
    removeJournal(path)
  }
  finished.clear()
}

/** The connection, as typed by its owner: only store/sqlite/connection.ts imports node:sqlite. */
type Connection = Parameters<ThreadHandler>[0]

const cache = new BatchCache()
/** SQLite's data_version: it changes when another connection commits. */
let version: unknown
/** Of this process's own journal, once it has one. */
let teller: JournalTeller | undefined
const readers = new Map<string, JournalReader>()
/** Files of journals that nobody needs once this transaction is committed. */
const finished = new Set<string>()
/** For files that killed processes left. */
let looked: 'not yet' | 'in this transaction' | 'yes' = 'not yet'

function runBatch(db: Connection, direct: DirectBatch): DirectResult {
  const { journal, isDecided } = direct
  const batch: Batch = { ...direct.batch, items: itemsOf(direct) }
  const statements = prepared(db)
  dropStale(statements)
  if (journal !== null && !JournalTeller.isOf(journal.memory)) {
    teller = new JournalTeller(journal.nodeId, journal.memory, new ChangeCounter(pathOf(db)))
  }
  const isKnown = teller?.isKnown === true
  const isBroughtIn = isDecided === true && isDoubtfulIn(statements, journal)
  const isFenced = batch.nodeId !== null && !isLive(statements, batch.nodeId)
  // Only who is live may end journals: since it joined, nothing new in them counts. Since a node was fenced, others write on.
  const isGranting = batch.nodeId !== null && !isFenced
  foldJournals(db, { own: journal, answered: journal, isGranting })
  if (isFenced) return FENCED
  if (batch.nodeId !== null) findLeftFiles(db)
  const isAlone = statements.otherNode.get(batch.nodeId) === undefined
  if (journal !== null) beginJournal(db, journal, isAlone)
  if (isBroughtIn) return { ...NOTHING_DECIDED, isBroughtIn, isAlone }
  const snapshot = readSnapshot(statements, batch)
  const { outcomes, balances, writes } = decide(batch, snapshot)
  write(statements, writes)
  cache.remember(snapshot.accounts, writes)
  for (const price of batch.prices) statements.insertPrice.run(...PRICE.write(price))
  const result = { live: true, outcomes, balances } as const
  if (journal === null || !isAlone) return { ...NOTHING_DECIDED, result, isBroughtIn, isAlone }
  const { holdsInserted, holdsChanged, holdsDeleted } = writes
  const changes = { holdsInserted, holdsChanged, holdsDeleted }
  return { result, accounts: snapshot.accounts, changes, isKnown, isBroughtIn, isAlone }
}

const NOTHING_DECIDED: Omit<DirectResult, 'isBroughtIn' | 'isAlone'> = {
  result: { live: false },
  accounts: [],
  changes: { holdsInserted: [], holdsChanged: [], holdsDeleted: [] },
  isKnown: false,
}

const FENCED: DirectResult = { ...NOTHING_DECIDED, isBroughtIn: false, isAlone: false }

/** Whether somebody has brought in the record that does not count otherwise. */
function isDoubtfulIn(statements: Statements, own: OwnJournal | null): boolean {
  const rows = own === null ? [] : statements.journals.all().map(journalOf)
  const found = rows.find(({ nodeId }) => nodeId === own?.nodeId)
  return found !== undefined && own !== null && found.position.seq > own.doubtfulSeq
}

/** Without what journals have beyond the database. */
function readAccounts(db: Connection, accountIds: readonly string[]): readonly Account[] {
  const statements = prepared(db)
  dropStale(statements)
  const { accounts } = readRows(statements, { now: systemClock.now(), accountIds, holdIds: [] })
  cache.remember(accounts, NOTHING_DECIDED.changes)
  return accounts
}

/** Null: by who only looks, and knows no more of a journal than what it finds. */
function fold(db: Connection, answered: Answered | null): void {
  dropStale(prepared(db))
  const wasKnown = teller?.isKnown === true
  const position = foldJournals(db, { own: null, answered, isGranting: false })
  if (position === undefined) return
  const isUsable = wasKnown && isOwnInPlace(db)
  teller?.beginCommit({ isUsable, foldedSeq: position.seq })
}

/** Otherwise the batches to come would be in a file that nobody finds after a crash. */
function isOwnInPlace(db: Connection): boolean {
  const path = teller && journalPath(pathOf(db), teller.nodeId)
  return path !== undefined && readers.get(path)?.isAt(path) === true
}

/** A node may decide by itself only while it is alone: others would not see what it holds. */
function beginJournal(db: Connection, own: OwnJournal, isAlone: boolean): void {
  const { nodeId, next, isOver } = own
  if (isOver) return
  const statements = prepared(db)
  const isUsable = isAlone && isReadable(db, nodeId)
  if (isUsable) setPosition(statements, nameOf(nodeId), next)
  else {
    statements.deleteJournal.get(nameOf(nodeId))
    finished.add(journalPath(pathOf(db), nodeId))
  }
  teller?.beginCommit({ isUsable, foldedSeq: next.seq })
}

/** Opens it before anything is in it, so that it can be read from then on, whatever becomes of its name. */
function isReadable(db: Connection, nodeId: number): boolean {
  try {
    return readerOf(db, nodeId) !== undefined
  } catch {
    return false
  }
}

type Folding = {
  /** The journal of the node whose batch follows; it is told where that goes on. */
  readonly own: OwnJournal | null
  readonly answered: Answered | null
  /** A node decides next, and what others write to their journals from now on must not count. */
  readonly isGranting: boolean
}

/** Brings in what journals have beyond what the database has. Returns how far this process's own is in it, if it moved. */
function foldJournals(
  db: Connection,
  { own, answered, isGranting }: Folding,
): JournalPosition | undefined {
  const statements = prepared(db)
  let ownPosition: JournalPosition | undefined
  for (const row of statements.journals.all()) {
    const { name, nodeId, isNodeLive, position, isOver } = journalOf(row)
    const isOwn = nodeId === own?.nodeId
    let reached = position
    const records: JournalRecord[] = []
    const reader = isOver ? undefined : readerOf(db, nodeId)
    for (const { text, seq, next } of reader?.all(position) ?? []) {
      reached = next
      if (!isOwn || seq !== own.doubtfulSeq) records.push(unpackRecord(text))
    }
    try {
      if (records.length > 0) carryOut(statements, records)
    } catch (error) {
      if (isOutage(error)) throw error
      throw unusable(journalPath(pathOf(db), nodeId), error)
    }
    if (nodeId === answered?.nodeId && !isOver && reached.seq < answered.answeredSeq)
      throw incomplete(journalPath(pathOf(db), nodeId), reached.seq)
    if (!isNodeLive || (isOwn && own.isOver)) {
      finished.add(journalPath(pathOf(db), nodeId))
      statements.deleteJournal.get(name)
    } else if (isGranting && !isOwn && !isOver) {
      // Its row stays until its node decides in the database again, and finds there what of it was brought in.
      statements.setJournal.get(name, `${reached.seq} ${reached.offset} ${OVER}`)
    } else if (reached !== position) {
      setPosition(statements, name, reached)
      if (nodeId === teller?.nodeId) ownPosition = reached
    }
  }
  return ownPosition
}

/**
 * A process that is killed may leave the file of a journal that has no row any more, or has none yet. Once for each
 * process: no node joins or is fenced while this transaction lasts.
 */
function findLeftFiles(db: Connection): void {
  if (looked !== 'not yet') return
  looked = 'in this transaction'
  const statements = prepared(db)
  const named = new Set(statements.journals.all().map((row) => journalOf(row).nodeId))
  for (const nodeId of journalsBeside(pathOf(db))) {
    const isLeft = !named.has(nodeId) && statements.liveNode.get(nodeId) === undefined
    if (isLeft) finished.add(journalPath(pathOf(db), nodeId))
  }
}

function unusable(path: string, cause: unknown): Error {
  const message = `${path} has decisions that the database does not take (${messageOf(cause)}): nothing is granted until it does. To go on without them, stop the server and move that file away; the costs of the last calls are then missing`
  return new Error(message, { cause })
}

/** Damaged: one that was replaced is read from the file that this process still has open. */
function incomplete(path: string, seq: number): Error {
  return new Error(
    `${path} has lost decisions that were answered, from number ${seq} on: nothing is granted any more. To go on without them, start the server again; the costs of the last calls are then missing`,
  )
}

function carryOut(statements: Statements, records: readonly JournalRecord[]): void {
  const { accountIds, holdIds } = concernedBy(records)
  const snapshot = readRows(statements, { now: records[0]?.now ?? 0, accountIds, holdIds })
  const work = new WorkingSet(snapshot)
  replay(work, records)
  const writes = work.writes()
  for (const price of records.flatMap(({ prices }) => prices)) {
    statements.insertPrice.get(...PRICE.write(price))
  }
  for (const { accountId, budget, seq } of writes.periodDeltas) {
    const isClosedNow = writes.closedPeriods.some((closed) => {
      return closed.accountId === accountId && closed.budget === budget && closed.seq === seq
    })
    if (!isClosedNow) statements.insertNextPeriod.get(accountId, budget, seq)
  }
  write(statements, writes)
  for (const { accountId, budget, seq, spent, held, overrun } of writes.periodDeltas) {
    if (spent + held > overrun) statements.raiseGranted.get(accountId, budget, seq)
  }
  cache.remember(snapshot.accounts, writes)
}

/** Another process may have written since the last transaction. */
function dropStale(statements: Statements): void {
  const current = statements.version.get()?.['data_version']
  if (current !== version) cache.forget()
  version = current
}

/**
 * SQLite commits nothing, and counts nothing, where a row stays as it is: so the row says which commit this will be, and
 * is another one each time.
 */
function setPosition(statements: Statements, name: string, position: JournalPosition): void {
  const { seq, offset } = position
  statements.setJournal.get(name, `${seq} ${offset} ${teller?.nextCount ?? 0}`)
}

/** In the place of the count. */
const OVER = 'over'

function nameOf(nodeId: number): string {
  return `${JOURNAL_PREFIX}${nodeId}`
}

function journalOf({ name, value, status }: Record<string, unknown>) {
  const [seq, offset, count] = String(value).split(' ')
  return {
    name: String(name),
    nodeId: Number(String(name).slice(JOURNAL_PREFIX.length)),
    isNodeLive: status === 'live',
    position: { seq: Number(seq), offset: Number(offset) },
    /** Another node has ended it: what its own writes from then on does not count. */
    isOver: count === OVER,
  }
}

function readerOf(db: Connection, nodeId: number): JournalReader | undefined {
  const path = journalPath(pathOf(db), nodeId)
  const known = readers.get(path)
  // This process's own can be read though it was removed or replaced; another node may have begun another one.
  const isOwn = nodeId === teller?.nodeId
  if (known !== undefined && (isOwn || known.isAt(path))) return known
  known?.close()
  readers.delete(path)
  const reader = JournalReader.open(path, nodeId)
  if (reader !== undefined) readers.set(path, reader)
  return reader
}

function pathOf(db: Connection): string {
  return db.location() ?? ''
}

type Statements = ReturnType<typeof prepare>

const preparedByDatabase = new WeakMap<Connection, Statements>()

function prepared(db: Connection): Statements {
  let statements = preparedByDatabase.get(db)
  if (statements === undefined) {
    statements = prepare(db)
    preparedByDatabase.set(db, statements)
  }
  return statements
}

function prepare(db: Connection) {
  const insert = (table: string, { names }: { readonly names: readonly string[] }): string =>
    `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`
  const add = (table: string, { names }: { readonly names: readonly string[] }, keys: number) => {
    const sums = names.slice(keys).map((name) => `${name} = ${name} + excluded.${name}`)
    return `${insert(table, { names })} ON CONFLICT (${names.slice(0, keys).join(', ')}) DO UPDATE SET ${sums.join(', ')}`
  }
  const changes = ACCOUNT_CHANGE.names.map((name, index) => `${name} = ?${index + 1}`)
  const statement = (sql: string) => db.prepare(sql)
  return {
    version: statement('PRAGMA data_version'),
    journals: statement(
      `SELECT meta.name, meta.value, nodes.status FROM meta
       LEFT JOIN nodes ON nodes.id = CAST(substr(meta.name, ${JOURNAL_PREFIX.length + 1}) AS INTEGER)
       WHERE meta.name >= '${JOURNAL_PREFIX}' AND meta.name < '${JOURNAL_PREFIX}~'`,
    ),
    setJournal: statement(
      'INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
    ),
    deleteJournal: statement('DELETE FROM meta WHERE name = ?'),
    otherNode: statement("SELECT id FROM nodes WHERE status = 'live' AND id <> ?"),
    liveNode: statement("SELECT id FROM nodes WHERE id = ? AND status = 'live'"),
    account: statement(`SELECT ${ACCOUNT.names.join(', ')} FROM accounts WHERE id = ?`),
    hold: statement(`SELECT ${HOLD.names.join(', ')} FROM holds WHERE id = ?`),
    usage: statement(`SELECT ${USAGE.names.join(', ')} FROM usage WHERE id = ?`),
    insertHold: statement(insert('holds', HOLD)),
    changeHold: statement('UPDATE holds SET held_nanodollars = ?2 WHERE id = ?1'),
    deleteHold: statement('DELETE FROM holds WHERE id = ?'),
    insertUsage: statement(insert('usage', USAGE)),
    replaceUsage: statement(insert('usage', USAGE).replace('INSERT', 'REPLACE')),
    addRollup: statement(add('rollups', ROLLUP, ROLLUP_KEYS)),
    addKeyDay: statement(add('key_days', KEY_DAY, KEY_DAY_KEYS)),
    updateAccount: statement(`UPDATE accounts SET ${changes.slice(1).join(', ')} WHERE id = ?1`),
    insertPeriod: statement(insert('account_periods', CLOSED_PERIOD)),
    changePeriod: statement(
      `UPDATE account_periods SET spent_nanodollars = spent_nanodollars + ?4,
       held_nanodollars = held_nanodollars + ?5, overrun_nanodollars = overrun_nanodollars + ?6
       WHERE account_id = ?1 AND budget = ?2 AND seq = ?3`,
    ),
    // The next period of a budget that was removed while it began in memory.
    insertNextPeriod: statement(
      `INSERT INTO account_periods (account_id, budget, seq, starts_at, ends_at, limit_nanodollars, spent_nanodollars, held_nanodollars, overrun_nanodollars, granted_limit_nanodollars)
       SELECT account_id, budget, seq + 1, ends_at, ends_at, limit_nanodollars, 0, 0, 0, limit_nanodollars
       FROM account_periods WHERE account_id = ? AND budget = ? AND seq = ? - 1 ON CONFLICT DO NOTHING`,
    ),
    // What was granted in memory while somebody closed the period, under the limit that it was closed with.
    raiseGranted: statement(
      `UPDATE account_periods SET granted_limit_nanodollars = max(granted_limit_nanodollars, limit_nanodollars)
       WHERE account_id = ? AND budget = ? AND seq = ?`,
    ),
    insertEntry: statement(insert('ledger_entries', ENTRY)),
    insertPrice: statement(`${insert('prices', PRICE)} ON CONFLICT DO NOTHING`),
  }
}

function isLive(statements: Statements, nodeId: number): boolean {
  if (cache.liveNode === nodeId) return true
  if (statements.liveNode.get(nodeId) === undefined) return false
  cache.liveNode = nodeId
  return true
}

function readSnapshot(statements: Statements, { items, isRetry }: Batch): Snapshot {
  const holdIds = items.flatMap((item) => knownHoldOf(item, isRetry) ?? [])
  return readRows(statements, { now: systemClock.now(), accountIds: accountsOf(items), holdIds })
}

type Wanted = {
  readonly now: number
  readonly accountIds: Iterable<string>
  readonly holdIds: Iterable<HoldId>
}

function readRows(statements: Statements, { now, accountIds, holdIds }: Wanted): Snapshot {
  const accounts: Account[] = []
  for (const id of accountIds) {
    const account = cache.accounts.get(id) ?? readAccount(statements, id, now)
    if (account !== undefined) accounts.push(account)
  }
  const holds: Hold[] = []
  const usage: UsageRow[] = []
  for (const id of holdIds) {
    const remembered = cache.holds.get(id)
    if (remembered !== undefined) {
      holds.push(remembered)
      continue
    }
    const hold = statements.hold.get(id)
    const closed = hold === undefined ? statements.usage.get(id) : undefined
    if (hold !== undefined) holds.push(HOLD.read(hold, 0))
    if (closed !== undefined) usage.push(USAGE.read(closed, 0))
  }
  return { now, accounts, holds, usage }
}

function readAccount(statements: Statements, id: string, now: number): Account | undefined {
  const row = statements.account.get(id)
  return row === undefined ? undefined : ACCOUNT.read(row, now)
}

/** By `get`, not `run`, which makes an object of two big integers for each statement, and nobody reads it. */
function write(statements: Statements, writes: Writes): void {
  for (const each of writes.closedPeriods) statements.insertPeriod.get(...CLOSED_PERIOD.write(each))
  for (const each of writes.periodDeltas) statements.changePeriod.get(...PERIOD_DELTA.write(each))
  for (const each of writes.holdsInserted) statements.insertHold.get(...HOLD.write(each))
  for (const each of writes.holdsChanged) statements.changeHold.get(...HOLD_CHANGE.write(each))
  for (const id of writes.holdsDeleted) statements.deleteHold.get(id)
  for (const each of writes.usageInserted) statements.insertUsage.get(...USAGE.write(each))
  for (const each of writes.usageCorrected) statements.replaceUsage.get(...USAGE.write(each))
  for (const each of writes.rollups) statements.addRollup.get(...ROLLUP.write(each))
  for (const each of writes.keyDays) statements.addKeyDay.get(...KEY_DAY.write(each))
  for (const each of writes.entries) statements.insertEntry.get(...ENTRY.write(each))
  for (const each of writes.accounts) statements.updateAccount.get(...ACCOUNT_CHANGE.write(each))
}
