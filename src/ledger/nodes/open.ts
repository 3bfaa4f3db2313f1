// Opens a Ledger on a store: the writer above its database, the spool beside it, and the node's background duties.
import type { Kysely } from 'kysely'
import { databaseNow } from '../../store/database/store.ts'
import type { Store } from '../../store/database/store.ts'
import { FRAME_ID, type Tables } from '../../store/database/tables.ts'
import type { Balances, Ledger, Refusable, Shortage } from '../ledger.ts'
import { postgresRunner, runOnPool } from '../postgres/runner.ts'
import { writeLatencies } from '../reports/latencies.ts'
import { balancesOf, openPeriod } from '../rules/account.ts'
import type { Batch, BatchResult } from '../rules/batch.ts'
import { ACCOUNT, type Account } from '../rules/rows.ts'
import { runInDatabase, SqliteRunner } from '../sqlite/runner.ts'
import { DatabaseLedger, type OnSettled } from '../writer/database-ledger.ts'
import { leftovers, Spool, whyUnusable } from '../writer/spool.ts'
import { type BatchRunner, Writer } from '../writer/writer.ts'
import { Maintenance, type MaintenanceOptions } from './maintenance.ts'
import { HOLDS_PER_NODE, joinNodes } from './membership.ts'

type Pace = 'beatMs' | 'deadAfterMs' | 'keepUsageMs'

export type LedgerOptions = Pick<MaintenanceOptions, Pace> & {
  /** On SQLite it must have been opened with LEDGER_THREAD_MODULE among its thread modules. */
  readonly store: Store
  /** Keeps settlements while the database does not answer; without it they fail. */
  readonly spoolFolder?: string
  /** Reports what an operator should know, in one line. */
  readonly alarm?: (message: string) => void
  /** Reports how long each commit took. */
  readonly onCommit?: (durationMs: number) => void
  /** Called for each account when a charge is in the database. */
  readonly onSettled?: OnSettled
  /** Called when spending keeps a request out. */
  readonly onRefused?: (ask: Refusable, shortage: Shortage) => void
  /** How often the node looks for its own forgotten holds. */
  readonly sweepMs?: number
}

const SWEEP_MS = 30_000
const LOST =
  'the database has lost its latest commits, as a replica that lagged behind when it took over: costs of calls may be missing, so compare the books with the log and with the bills of the providers'

/** The ledger of one node, which also reports whether the node can write. */
export type NodeLedger = Ledger & Pick<DatabaseLedger, 'canWrite'>

export async function openLedger(options: LedgerOptions): Promise<NodeLedger> {
  const { store, spoolFolder, alarm = () => {}, sweepMs = SWEEP_MS } = options
  const { clock } = store
  const runner = runnerFor(store, () => alarm(LOST))
  const writer = await Writer.start({
    runner,
    clock,
    join: (former) => joinNodes(store, former),
    holdsPerNode: HOLDS_PER_NODE,
    onCommit: options.onCommit,
  })
  const spool = spoolFolder === undefined ? undefined : new Spool(spoolFolder)
  const ledger = new DatabaseLedger({
    clock,
    writer,
    spool,
    writeLatencies: (counts) => writeLatencies(store, counts),
    readBalances: async (keyId) => readBalances(store.db, keyId, await databaseNow(store)),
    onSettled: options.onSettled,
    onRefused: options.onRefused,
    isBeating: () => maintenance.isBeating,
    stopMaintenance: () => maintenance.stop(),
    leave: async () => {
      await maintenance.leave()
      await runner.close()
    },
  })
  const maintenance = new Maintenance({ ...options, writer, ledger, sweepMs, alarm })
  if (spoolFolder !== undefined) {
    const reason = whyUnusable(spoolFolder)
    if (reason !== undefined)
      alarm(`the costs of calls could not be kept while the database is unreachable: ${reason}`)
    await replayLeftovers(ledger, spoolFolder, alarm)
  }
  await maintenance.start()
  return ledger
}

/** Runs before the maintenance starts: a hold settled here need not be charged as an orphan and corrected afterwards. */
async function replayLeftovers(
  ledger: DatabaseLedger,
  folder: string,
  alarm: (message: string) => void,
): Promise<void> {
  const onUnusable = (reason: string): void =>
    alarm(
      `spooled costs cannot be read, so those calls are charged in full until a start that can: ${reason}`,
    )
  for (const { settlements, remove, setAside } of leftovers(folder, onUnusable)) {
    if (await ledger.replay(settlements)) {
      remove()
      continue
    }
    const path = setAside()
    if (path !== undefined)
      alarm(`a spooled settlement has no hold in the books: it is set aside in ${path}`)
  }
}

/** On SQLite the store must have been opened with LEDGER_THREAD_MODULE among its thread modules. */
export function runnerFor(store: Store, onLost: () => void): BatchRunner {
  return store.kind === 'sqlite' ? new SqliteRunner(store) : postgresRunner(store, onLost)
}

/** For a caller that writes only this one batch. */
export async function runOnce(store: Store, batch: Batch): Promise<BatchResult> {
  if (store.kind === 'postgres') return runOnPool(store, batch)
  return (await runInDatabase(store, { batch, journal: null })).result
}

/** A key's figures as a batch would see them now, read without locks; undefined when there is no such key. */
async function readBalances(
  db: Kysely<Tables>,
  keyId: string,
  now: number,
): Promise<Balances | undefined> {
  const key = await readAccount(db, keyId, now)
  const groupId = key?.groupId ?? null
  const group = groupId === null ? null : ((await readAccount(db, groupId, now)) ?? null)
  const frame = await readAccount(db, FRAME_ID, now)
  return key && frame && balancesOf({ key, group, frame }, now)
}

/** A period that is over counts as closed, even before a batch has closed it. */
async function readAccount(
  db: Kysely<Tables>,
  id: string,
  now: number,
): Promise<Account | undefined> {
  const row = await db.selectFrom('accounts').selectAll().where('id', '=', id).executeTakeFirst()
  if (row === undefined) return undefined
  const account = ACCOUNT.read(row, now)
  openPeriod(account, account, now)
  for (const budget of account.budgets) openPeriod(account, budget, now)
  return account
}
