// What keys had spent at another gateway, when they are imported: one usage row per key, on all its legs, under ids of a
// node of its own. A part of the transaction that writes the keys, so it moves the balances by the rules of every batch,
// but writes them itself.
import { sql, type RawBuilder } from 'kysely'
import { newId } from '../../core/ids.ts'
import type { Nanodollars } from '../../core/money.ts'
import { chunk } from '../../core/text.ts'
import type { Stored } from '../../store/database/layout.ts'
import { databaseNow, type Store } from '../../store/database/store.ts'
import { FRAME_ID, TAKEN_OVER, type Tx } from '../../store/database/tables.ts'
import type { HoldId } from '../ledger.ts'
import type { Writes } from '../rules/batch.ts'
import { periodsNow } from '../rules/account.ts'
import { recharge, takenOverRow } from '../rules/decide.ts'
import {
  ACCOUNT,
  ACCOUNT_CHANGE,
  CLOSED_PERIOD,
  KEY_DAY,
  KEY_DAY_KEYS,
  PERIOD_DELTA,
  ROLLUP,
  ROLLUP_KEYS,
  USAGE,
  type Account,
  type UsageRow,
} from '../rules/rows.ts'
import { WorkingSet } from '../rules/working-set.ts'
import { HOLDS_PER_NODE, joinNodes, leaveNodes } from './membership.ts'

/** What a key has spent in the period that runs there. */
export type SpentElsewhere = {
  readonly keyId: string
  /** The row that an earlier import wrote. */
  readonly usageId: HoldId | null
  readonly spentNanodollars: Nanodollars
  /** When that period began. */
  readonly since: number
}

/** Hands out ids for usage rows that no node has used or will use. */
export async function usageIds(store: Store): Promise<() => HoldId> {
  const nodeId = await joinNodes(store, 0)
  await leaveNodes(store, nodeId)
  let last = nodeId * HOLDS_PER_NODE
  return () => ++last
}

type TakeOver = {
  readonly spent: readonly SpentElsewhere[]
  readonly nextId: () => HoldId
}

/**
 * Repeated, it brings the row to the new amount; if a period has begun here meanwhile, or the key is in another group,
 * a new row takes its place, so that everything counts once. A row of a period that is over here and there stays, and
 * what people have reset or adjusted since stays as they left it. Returns new rows by their keys.
 */
export async function recordSpentElsewhere(
  store: Store,
  tx: Tx,
  { spent, nextId }: TakeOver,
): Promise<ReadonlyMap<string, HoldId>> {
  const ids = spent.map(({ keyId }) => keyId)
  const keys = await lockAccounts(store, tx, ids)
  const usage = await readRows(store, tx, spent)
  const groupIds = new Set([...keys, ...usage].flatMap(({ groupId }) => groupId ?? []))
  // Keys, then groups, each by id, and last the frame: the order of every batch.
  const groups = await lockAccounts(store, tx, [...groupIds])
  const accounts = [...keys, ...groups, ...(await lockAccounts(store, tx, [FRAME_ID]))]
  const work = new WorkingSet({ now: await databaseNow(store, tx), accounts, holds: [], usage })
  work.advance(work.now)
  const resets = await resetPeriods(tx, ids)
  const rows = new Map<string, HoldId>()
  for (const { keyId, usageId, spentNanodollars: cost, since } of spent) {
    const of = work.accounts(keyId)
    if (of === undefined) continue
    const found = usageId === null ? undefined : work.usage.get(usageId)
    const isRunning = found?.keyPeriod === of.key.periodSeq
    const before = found && (isRunning || found.settledAt >= since) ? found : undefined
    if (before !== undefined && isKept(before, { of: of.key, resets })) continue
    const isInPlace = isRunning && before?.groupId === of.key.groupId
    if (before !== undefined) bringTo(work, before, isInPlace ? cost : 0n)
    if (isInPlace || cost === 0n) continue
    const named = { id: nextId(), requestId: newId('req', store.clock), cost }
    const row = takenOverRow(named, periodsNow(of, TAKEN_OVER), work.now)
    work.move(row, { held: 0n, spent: cost, overrun: cost, inFlight: 0 })
    work.insertUsage(row)
    rows.set(keyId, row.id)
  }
  await write(tx, work.writes())
  return rows
}

function bringTo(work: WorkingSet, before: UsageRow, cost: Nanodollars): void {
  if (cost === before.costNanodollars) return
  recharge(work, before, { ...before, costNanodollars: cost, settledAt: work.now })
}

/** Whether people have changed what was taken over. */
function isKept(
  row: UsageRow,
  { of, resets }: { readonly of: Account; readonly resets: ReadonlySet<string> },
): boolean {
  return row.state === 'adjusted' || resets.has(`${of.id} ${row.keyPeriod}`)
}

/** In the order of their ids. */
async function lockAccounts(
  store: Store,
  tx: Tx,
  ids: readonly string[],
): Promise<readonly Account[]> {
  if (ids.length === 0) return []
  const query = tx.selectFrom('accounts').selectAll().where('id', 'in', ids).orderBy('id')
  const rows = await (store.kind === 'postgres' ? query.forNoKeyUpdate() : query).execute()
  const now = await databaseNow(store, tx)
  return rows.map((row) => ACCOUNT.read(row, now))
}

async function readRows(
  store: Store,
  tx: Tx,
  spent: readonly SpentElsewhere[],
): Promise<readonly UsageRow[]> {
  const ids = spent.flatMap(({ usageId }) => usageId ?? [])
  if (ids.length === 0) return []
  const query = tx.selectFrom('usage').selectAll().where('id', 'in', ids)
  const rows = await (store.kind === 'postgres' ? query.forUpdate() : query).execute()
  return rows.map((row) => USAGE.read(row, 0))
}

/** The periods that people have ended by hand, each as `account seq`. */
async function resetPeriods(tx: Tx, keyIds: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await tx
    .selectFrom('ledger_entries')
    .select(['account_id', 'period_seq'])
    .where('account_id', 'in', keyIds)
    .where('kind', '=', 'reset')
    .execute()
  return new Set(rows.map(({ account_id: id, period_seq: seq }) => `${id} ${seq}`))
}

async function write(tx: Tx, writes: Writes): Promise<void> {
  const usage = [...writes.usageInserted, ...writes.usageCorrected]
  const moved = ['spent_nanodollars', 'held_nanodollars', 'overrun_nanodollars']
  await run(tx, [CLOSED_PERIOD, writes.closedPeriods], insertInto('account_periods', CLOSED_PERIOD))
  await run(
    tx,
    [PERIOD_DELTA, writes.periodDeltas],
    sql`UPDATE account_periods SET ${set(moved, (name) => `account_periods.${name} + given.${name}`)} FROM given
      WHERE account_periods.account_id = given.account_id AND account_periods.budget = given.budget
        AND account_periods.seq = given.seq`,
  )
  await run(
    tx,
    [USAGE, usage],
    sql`${insertInto('usage', USAGE)} ON CONFLICT (id) DO UPDATE SET ${set(USAGE.names, (name) => `excluded.${name}`)}`,
  )
  await run(tx, [ROLLUP, writes.rollups], addTo('rollups', ROLLUP, ROLLUP_KEYS))
  await run(tx, [KEY_DAY, writes.keyDays], addTo('key_days', KEY_DAY, KEY_DAY_KEYS))
  await run(
    tx,
    [ACCOUNT_CHANGE, writes.accounts],
    sql`UPDATE accounts SET ${set(ACCOUNT_CHANGE.names.slice(1), (name) => `given.${name}`)} FROM given
      WHERE accounts.id = given.id`,
  )
}

type Sql = RawBuilder<unknown>

type Written<Of> = {
  readonly names: readonly string[]
  readonly columns: readonly { readonly type: string }[]
  readonly write: (row: Of) => readonly Stored[]
}

/** Runs a statement on rows, which it finds in the table `given`. */
async function run<Of>(
  tx: Tx,
  [{ names, columns, write: valuesOf }, rows]: readonly [Written<Of>, readonly Of[]],
  statement: Sql,
): Promise<void> {
  for (const some of chunk(rows, ROWS_AT_ONCE)) {
    const lists = some.map((row) => {
      const values = valuesOf(row).map(
        (value, index) => sql`CAST(${value} AS ${sql.raw(columns[index]?.type ?? 'text')})`,
      )
      return sql`(${sql.join(values)})`
    })
    await sql`WITH given (${sql.raw(names.join(', '))}) AS (VALUES ${sql.join(lists)}) ${statement}`.execute(
      tx,
    )
  }
}

/** No database takes more values in one statement. */
const ROWS_AT_ONCE = 500

/** The condition tells SQLite that ON CONFLICT is no join. */
function insertInto(table: string, { names }: { readonly names: readonly string[] }): Sql {
  return sql.raw(`INSERT INTO ${table} (${names.join(', ')}) SELECT * FROM given WHERE true`)
}

/** The first columns are the key, the others sums. */
function addTo(table: string, { names }: { readonly names: readonly string[] }, keys: number): Sql {
  return sql`${insertInto(table, { names })} ON CONFLICT (${sql.raw(names.slice(0, keys).join(', '))})
    DO UPDATE SET ${set(names.slice(keys), (name) => `${table}.${name} + excluded.${name}`)}`
}

function set(names: readonly string[], value: (name: string) => string): Sql {
  return sql.raw(names.map((name) => `${name} = ${value(name)}`).join(', '))
}
