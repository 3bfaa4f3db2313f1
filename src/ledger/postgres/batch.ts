// A batch on one connection. A node that knows the books from its own batches decides at once, and writes and commits in
// one round trip: the statement writes nothing if what the node knew is no longer true. Else there are two round trips:
// the first takes the locks and reads, the second writes and commits. This process decides in between, with the locks
// held, so that time is kept short; the commit is waited for without them.
import type { Client, QueryResult } from 'pg'
import type { Clock } from '../../core/clock.ts'
import { integer, type Stored, type StoredRow } from '../../store/database/layout.ts'
import type { HoldId } from '../ledger.ts'
import type { Batch, BatchResult, Snapshot, Writes } from '../rules/batch.ts'
import { accountsOf, decide, knownHoldOf } from '../rules/decide.ts'
import {
  ACCOUNT,
  ACCOUNT_CHANGE,
  CLOSED_PERIOD,
  ENTRY,
  HOLD,
  HOLD_CHANGE,
  KEY_DAY,
  PERIOD_DELTA,
  PRICE,
  ROLLUP,
  USAGE,
  type Hold,
  type UsageRow,
} from '../rules/rows.ts'
import { isUsual, Known, type VersionedSnapshot } from './known.ts'
import { STATEMENTS, type StatementName } from './statements.ts'

/** The most time between reading and writing. */
export const THINKING_MS_MAX = 250

/**
 * Whoever waits for the locks goes on while this commit is on its way to the disk: what they commit is behind it there.
 * Nobody is told of a batch before `flush` was answered. Not on a connection that has committed nothing yet: where the
 * disk or a replica does not answer, the nodes wait for the locks of one commit, and pile up no others behind it.
 */
const EARLY_RELEASE = '; SET LOCAL synchronous_commit = off'

const NOW = integer('now')

/** A connection, and what its batches have left known: behind another one may be another server. */
export class Session {
  readonly client: Client
  readonly #clock: Clock
  readonly #known = new Known()
  /** A batch was answered: commits reach the disk, and the replicas that they wait for. */
  #isProven = false

  constructor(client: Client, clock: Clock) {
    this.client = client
    this.#clock = clock
  }

  /** `begin` starts the transaction when there must be two round trips. */
  async run(batch: Batch, begin: string): Promise<BatchResult> {
    try {
      return (await this.#runOnKnown(batch)) ?? (await this.#readAndRun(batch, begin))
    } catch (error) {
      this.#known.forget()
      throw error
    }
  }

  /** Undefined when what is known is not enough, or no longer true: then nothing was written. */
  async #runOnKnown(batch: Batch): Promise<BatchResult | undefined> {
    const known = this.#known.snapshotFor(batch, this.#clock.monotonicMs())
    if (known === undefined) return undefined
    const { outcomes, balances, writes } = decide(batch, known.snapshot)
    const written = isUsual(writes) ? await this.#writeIfTrue(batch, known, writes) : undefined
    if (written === undefined) {
      this.#known.forget()
      return undefined
    }
    this.#known.committed(known, writes, String(written['version']))
    this.#known.sawTime(NOW.read(written['now'], 0), this.#clock.monotonicMs())
    return { live: true, outcomes, balances }
  }

  async #writeIfTrue(
    { nodeId }: Batch,
    { snapshot: { now, accounts }, versions }: VersionedSnapshot,
    writes: Writes,
  ): Promise<StoredRow | undefined> {
    const known = [list(accounts.map(({ id }) => id)), list(versions)]
    const guard = [...known, nodeId, now, now + THINKING_MS_MAX]
    const { name, lists } = shortest(writes)
    const { rows } = await ask(this.client, name, [...guard, ...lists])
    return rows.find(({ holds }) => holds === true)
  }

  async #readAndRun(batch: Batch, begin: string): Promise<BatchResult> {
    const { client } = this
    const read = await lockAndRead(client, batch, this.#isProven ? begin + EARLY_RELEASE : begin)
    if (read === undefined) {
      this.#known.forget()
      await client.query('ROLLBACK')
      return { live: false }
    }
    this.#known.sawSnapshot(read, this.#clock.monotonicMs())
    const { outcomes, balances, writes } = decide(batch, read.snapshot)
    const [written] = await atOnce(client, () => [
      ask(client, 'write', [
        ...accountLists(writes),
        ...openedLists(writes),
        ...closedLists(writes),
      ]),
      ...writeOthers(client, writes, batch),
      client.query('COMMIT'),
      ask(client, 'flush', []),
    ])
    this.#isProven = true
    this.#known.committed(read, writes, String(written?.rows[0]?.['version']))
    return { live: true, outcomes, balances }
  }
}

/** Undefined when the node was fenced. The statements are sent together, in one round trip. */
async function lockAndRead(
  client: Client,
  batch: Batch,
  begin: string,
): Promise<VersionedSnapshot | undefined> {
  const accountIds = accountsOf(batch.items)
  const holdIds = batch.items
    .map((item) => knownHoldOf(item, batch.isRetry))
    .filter((id) => id !== undefined)
  const [, node, accounts, holds] = await atOnce(client, () => [
    client.query(begin),
    batch.nodeId === null ? nothing : ask(client, 'liveNode', [batch.nodeId]),
    ask(client, 'lockAccounts', [accountIds]),
    holdIds.length > 0 ? ask(client, 'holds', [holdIds]) : nothing,
  ])
  if (node?.rows.length === 0) return undefined
  const rows = accounts?.rows ?? []
  const now = NOW.read(rows.at(-1)?.['now'], 0)
  const open = (holds?.rows ?? []).map((row) => HOLD.read(row, 0))
  const snapshot: Snapshot = {
    now,
    accounts: rows.map((row) => ACCOUNT.read(row, now)),
    holds: open,
    usage: await readUsage(client, holdIds, open),
  }
  return { snapshot, versions: rows.map((row) => String(row['version'])) }
}

/** The usage rows of holds that are no longer open: another round trip, for the few that are settled late or twice. */
async function readUsage(
  client: Client,
  holdIds: readonly HoldId[],
  open: readonly Hold[],
): Promise<readonly UsageRow[]> {
  const openIds = new Set(open.map(({ id }) => id))
  const closedIds = holdIds.filter((id) => !openIds.has(id))
  if (closedIds.length === 0) return []
  const { rows } = await ask(client, 'usage', [closedIds])
  return rows.map((row) => USAGE.read(row, 0))
}

/** What few batches write, after what nearly every batch does: a row can be inserted and corrected in one batch. */
function writeOthers(client: Client, writes: Writes, batch: Batch): Promise<QueryResult>[] {
  const sent: Promise<QueryResult>[] = []
  const send = <Row>(name: StatementName, layout: Writing<Row>, rows: readonly Row[]): void => {
    if (rows.length > 0) sent.push(ask(client, name, lists(layout, rows)))
  }
  send('insertPeriods', CLOSED_PERIOD, writes.closedPeriods)
  send('changePeriods', PERIOD_DELTA, writes.periodDeltas)
  send('changeHolds', HOLD_CHANGE, writes.holdsChanged)
  send('addKeyDays', KEY_DAY, writes.keyDays)
  send('insertEntries', ENTRY, writes.entries)
  // Sorted, like everything that two nodes may write at once, so that they cannot deadlock.
  const prices = batch.prices.toSorted((one, other) => (one.version < other.version ? -1 : 1))
  send('insertPrices', PRICE, prices)
  send('replaceUsage', USAGE, writes.usageCorrected)
  return sent
}

/** The statement with the fewest lists that writes all of this if what was known is true, and its lists. */
function shortest(writes: Writes): { readonly name: StatementName; readonly lists: string[] } {
  const { holdsInserted, holdsDeleted, usageInserted, rollups } = writes
  const closes = [holdsDeleted, usageInserted, rollups].some(({ length }) => length > 0)
  const accounts = accountLists(writes)
  if (!closes) return { name: 'openIfTrue', lists: [...accounts, ...openedLists(writes)] }
  const closed = closedLists(writes)
  return holdsInserted.length === 0
    ? { name: 'closeIfTrue', lists: [...accounts, ...closed] }
    : { name: 'writeIfTrue', lists: [...accounts, ...openedLists(writes), ...closed] }
}

function accountLists({ accounts }: Writes): string[] {
  return lists(ACCOUNT_CHANGE, accounts)
}

function openedLists({ holdsInserted }: Writes): string[] {
  return lists(HOLD, holdsInserted)
}

function closedLists({ holdsDeleted, usageInserted, rollups }: Writes): string[] {
  return [list(holdsDeleted), ...lists(USAGE, usageInserted), ...lists(ROLLUP, rollups)]
}

export function ask(
  client: Client,
  name: StatementName,
  values: unknown[],
): Promise<QueryResult<StoredRow>> {
  return client.query<StoredRow>({ name, text: STATEMENTS[name], values })
}

type Writing<Row> = { readonly names: readonly string[]; write(row: Row): Stored[] }

/** One list for each column. */
function lists<Row>(layout: Writing<Row>, rows: readonly Row[]): string[] {
  const written = rows.map((row) => layout.write(row))
  return layout.names.map((_, column) => list(written.map((values) => values[column] ?? null)))
}

/** An array in PostgreSQL's notation; the driver writes the same at several times the cost. */
function list(values: readonly Stored[]): string {
  let text = '{'
  for (const value of values) {
    if (text.length > 1) text += ','
    text += typeof value === 'string' ? quoted(value) : (value ?? 'NULL')
  }
  return `${text}}`
}

function quoted(text: string): string {
  const isPlain = !text.includes('"') && !text.includes('\\')
  return `"${isPlain ? text : text.replaceAll(/["\\]/g, '\\$&')}"`
}

type StatementResult = QueryResult<StoredRow> | undefined

/** Stands for a statement that this batch does not need. */
const nothing: Promise<undefined> = Promise.resolve(undefined)

/**
 * Sends statements in one write, because the server would wake up for each separate one. Waits for every answer before
 * it throws the first error: the connection is in use until the last answer has come.
 */
async function atOnce(
  { connection: { stream } }: Client,
  send: () => readonly Promise<StatementResult>[],
): Promise<readonly StatementResult[]> {
  stream.cork()
  let sent: readonly Promise<StatementResult>[]
  try {
    sent = send()
  } finally {
    stream.uncork()
  }
  const answers = await Promise.allSettled(sent)
  return answers.map((answer) => {
    if (answer.status === 'rejected') throw answer.reason
    return answer.value
  })
}
