// One batch on SQLite, run inside the database's own thread: read, decide, write, between its BEGIN IMMEDIATE and its
// COMMIT. One message in, one out, one wait for the disk however many requests share it.
import { systemClock } from '../../core/clock.ts'
import type { ThreadHandler, ThreadHandlers } from '../../store/sqlite/connection.ts'
import type { HoldId } from '../ledger.ts'
import type { Batch, BatchResult, Snapshot, Writes } from '../rules/batch.ts'
import { accountsOf, decide, knownHoldOf } from '../rules/decide.ts'
import { ageWindow } from '../rules/rates.ts'
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
import { packResult, type PackedBatch, type PackedResult, unpackBatch } from './runner.ts'

/** Enough for the keys that are busy at the same time. */
const ACCOUNTS_MAX = 10_000

/**
 * The database thread's cache: accounts and open holds of its own recent batches, which need not be read again.
 * Worthless once anyone else has written, and then dropped as a whole.
 */
class BatchCache {
  readonly holds = new Map<HoldId, Hold>()
  /** The node of the last batch, known to be live still. */
  liveNode: number | undefined
  readonly #accounts = new Map<string, Account>()
  #version: unknown

  /** SQLite changes its data_version when another connection commits: then everything known is stale. */
  assumeVersion(version: unknown): void {
    if (version !== this.#version) this.forget()
    this.#version = version
  }

  forget(): void {
    this.holds.clear()
    this.#accounts.clear()
    this.liveNode = undefined
  }

  /** As it stands now; a decision changes it in place. */
  account(id: string, now: number): Account | undefined {
    const account = this.#accounts.get(id)
    if (account !== undefined) account.rateWindow = ageWindow(account.rateWindow, now)
    return account
  }

  /** Keeps what a batch read and wrote. If the commit then fails, everything must be forgotten. */
  remember(accounts: readonly Account[], writes: Writes): void {
    if (this.#accounts.size > ACCOUNTS_MAX) this.#accounts.clear()
    for (const account of accounts) this.#accounts.set(account.id, account)
    for (const hold of writes.holdsInserted) this.holds.set(hold.id, hold)
    for (const { id, heldNanodollars } of writes.holdsChanged) {
      const hold = this.holds.get(id)
      if (hold !== undefined) this.holds.set(id, { ...hold, heldNanodollars })
    }
    for (const id of writes.holdsDeleted) this.holds.delete(id)
  }
}

/** Loaded by the SQLite thread (store/sqlite/connection.ts). */
export const handlers: ThreadHandlers = { 'ledger.batch': handle }

/** Called by that thread when something other than a batch may have changed the books, or a batch was rolled back. */
export function onForeignWrite(): void {
  cache.forget()
}

const cache = new BatchCache()

/** The connection, as typed by its owner: only store/sqlite/connection.ts imports node:sqlite. */
type Connection = Parameters<ThreadHandler>[0]

function handle(db: Connection, packed: PackedBatch): PackedResult {
  return packResult(runBatch(prepared(db), unpackBatch(packed)))
}

function runBatch(statements: Statements, batch: Batch): BatchResult {
  // Another process may have written since the last batch.
  cache.assumeVersion(statements.version.get()?.['data_version'])
  if (batch.nodeId !== null && !isLive(statements, batch.nodeId)) return { live: false }
  const snapshot = readSnapshot(statements, batch)
  const { outcomes, balances, writes } = decide(batch, snapshot)
  write(statements, writes)
  cache.remember(snapshot.accounts, writes)
  for (const price of batch.prices) statements.insertPrice.run(...PRICE.write(price))
  return { live: true, outcomes, balances }
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

function readSnapshot(statements: Statements, batch: Batch): Snapshot {
  const now = systemClock.now()
  const accounts: Account[] = []
  for (const id of accountsOf(batch.items)) {
    const account = cache.account(id, now) ?? readAccount(statements, id, now)
    if (account !== undefined) accounts.push(account)
  }
  const holds: Hold[] = []
  const usage: UsageRow[] = []
  for (const item of batch.items) {
    const id = knownHoldOf(item, batch.isRetry)
    if (id === undefined) continue
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
