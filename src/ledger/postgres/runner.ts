// One batch on PostgreSQL: two round trips on the writer's own connection. The first takes the locks and reads, the
// second writes and commits. This process decides in between, with the locks held, so that time is kept short.
import { Client, type ClientConfig, type PoolClient, type QueryResult } from 'pg'
import type { Clock } from '../../core/clock.ts'
import { codeOf, messageOf } from '../../core/errors.ts'
import { integer, type Stored, type StoredRow } from '../../store/database/layout.ts'
import type { PostgresStore } from '../../store/database/store.ts'
import type { HoldId } from '../ledger.ts'
import type { Batch, BatchResult, Outcome, Snapshot, Writes } from '../rules/batch.ts'
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
import { type BatchRunner, Unavailable } from '../writer/writer.ts'
import { STATEMENTS, type StatementName } from './statements.ts'

const CONNECT_MS_MAX = 2000
const ANSWER_MS_MAX = 4000
/** The most time between reading and writing; `slowly` applies for a while after a slow node was cut off. */
const THINKING_MS_MAX = { usually: 250, slowly: 1000 }
const SLOW_FOR_MS = 60_000

/** In addition to the pool's settings, which they override. */
const SETTINGS = [
  // While a node is stopped inside a batch, others wait for its locks.
  `idle_in_transaction_session_timeout=${THINKING_MS_MAX.usually}`,
  'statement_timeout=3000',
  // Plans are cached, and those made while the tables were small would scan them whole forever.
  'plan_cache_mode=force_generic_plan',
  'enable_seqscan=off',
  'enable_hashjoin=off',
  'enable_mergejoin=off',
  'jit=off',
]

/** No replica that takes over is further behind; of an older hold, retention may have deleted the usage row. */
const LAG_MS_MAX = 600_000

const BEGIN = 'BEGIN'
const BEGIN_SLOWLY = `BEGIN; SET LOCAL idle_in_transaction_session_timeout = ${THINKING_MS_MAX.slowly}`

/** `onLost` is called when the database turns out not to have what it committed before. */
export function postgresRunner(store: PostgresStore, onLost: () => void): BatchRunner {
  const config = {
    ...store.pool.options,
    application_name: 'tollgate ledger',
    options: [store.pool.options.options, ...SETTINGS.map((setting) => `-c ${setting}`)].join(' '),
    connectionTimeoutMillis: CONNECT_MS_MAX,
    query_timeout: ANSWER_MS_MAX,
    // The pool's value would be applied after the one in SETTINGS and win.
    statement_timeout: undefined,
  }
  return new PostgresRunner(store.clock, config, onLost)
}

class PostgresRunner implements BatchRunner {
  readonly #clock: Clock
  readonly #config: ClientConfig
  readonly #onLost: () => void
  #client: Client | undefined
  #slowUntil = 0
  /** The last hold that was granted. */
  #granted: { readonly holdId: HoldId; readonly atMs: number } | undefined

  constructor(clock: Clock, config: ClientConfig, onLost: () => void) {
    this.#clock = clock
    this.#config = config
    this.#onLost = onLost
  }

  async run(batch: Batch): Promise<BatchResult> {
    const begin = this.#clock.monotonicMs() < this.#slowUntil ? BEGIN_SLOWLY : BEGIN
    try {
      const isConnected = this.#client !== undefined
      const client = (this.#client ??= await this.#connect())
      const result = await runBatch(client, batch, begin)
      // Not before a batch was committed: a replica that is not promoted yet may still catch up.
      if (!isConnected) await this.#lookBack(client)
      const holdId = result.live ? lastHold(result.outcomes) : undefined
      if (holdId !== undefined) this.#granted = { holdId, atMs: this.#clock.monotonicMs() }
      return result
    } catch (error) {
      if (isDataError(error)) {
        // Nothing was committed, and the connection is as good as before.
        await this.#client?.query('ROLLBACK').catch(() => this.#drop())
        throw error
      }
      this.#noteWhy(error)
      this.#drop()
      throw new Unavailable(`PostgreSQL did not answer: ${messageOf(error)}`, { cause: error })
    }
  }

  async close(): Promise<void> {
    const client = this.#client
    this.#client = undefined
    await client?.end()
  }

  async #connect(): Promise<Client> {
    const client = new Client(this.#config)
    // The next batch finds out about a connection that breaks while idle.
    client.on('error', (error) => this.#noteWhy(error))
    await client.connect()
    return client
  }

  /** Behind a new connection may be another server: a replica that lagged behind when it took over, or a backup. */
  async #lookBack(client: Client): Promise<void> {
    const granted = this.#granted
    if (granted === undefined || this.#clock.monotonicMs() - granted.atMs > LAG_MS_MAX) return
    const { rows } = await ask(client, 'holdOrUsage', [granted.holdId])
    if (rows.length > 0) return
    this.#granted = undefined
    this.#onLost()
  }

  /** Grants more time for a while if the server ended the session because this node was too slow. */
  #noteWhy(error: unknown): void {
    const wasTooSlow = codeOf(error) === '25P03'
    if (wasTooSlow) this.#slowUntil = this.#clock.monotonicMs() + SLOW_FOR_MS
  }

  /** Whatever state the connection is in, the server rolls back when it closes. */
  #drop(): void {
    const client = this.#client
    this.#client = undefined
    // Not `end()` first: that waits for answers that may never come.
    client?.connection.stream.destroy()
  }
}

/** Undefined when the batch granted none. */
function lastHold(outcomes: readonly Outcome[]): HoldId | undefined {
  let last: HoldId | undefined
  for (const outcome of outcomes) {
    // A dry run grants a hold without an id.
    const isGrant = outcome.kind === 'judged' && outcome.answer.reserved
    if (isGrant && outcome.answer.holdId > 0) last = outcome.answer.holdId
  }
  return last
}

/** Runs a batch on a pooled connection, for a caller that writes only this one. */
export async function runOnPool({ pool }: PostgresStore, batch: Batch): Promise<BatchResult> {
  // A pool's client is a Client, which its type does not say.
  const client = (await pool.connect()) as PoolClient & Client
  let isBroken = true
  try {
    const result = await runBatch(client, batch, BEGIN)
    isBroken = false
    return result
  } finally {
    // Closing the connection rolls back what a failed batch began.
    client.release(isBroken)
  }
}

async function runBatch(client: Client, batch: Batch, begin: string): Promise<BatchResult> {
  const snapshot = await readSnapshot(client, batch, begin)
  if (snapshot === undefined) {
    await client.query('ROLLBACK')
    return { live: false }
  }
  const { outcomes, balances, writes } = decide(batch, snapshot)
  await atOnce(client, () => [...write(client, writes, batch), client.query('COMMIT')])
  return { live: true, outcomes, balances }
}

/** Undefined when the node was fenced. The statements are sent together, in one round trip. */
async function readSnapshot(
  client: Client,
  batch: Batch,
  begin: string,
): Promise<Snapshot | undefined> {
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
  const now = integer('now').read(accounts?.rows.at(-1)?.['now'], 0)
  const open = (holds?.rows ?? []).map((row) => HOLD.read(row, 0))
  return {
    now,
    accounts: (accounts?.rows ?? []).map((row) => ACCOUNT.read(row, now)),
    holds: open,
    usage: await readUsage(client, holdIds, open),
  }
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

function write(client: Client, writes: Writes, batch: Batch): Promise<QueryResult>[] {
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
  sent.push(
    ask(client, 'write', [
      ...lists(HOLD, writes.holdsInserted),
      list(writes.holdsDeleted),
      ...lists(USAGE, writes.usageInserted),
      ...lists(ROLLUP, writes.rollups),
      ...lists(ACCOUNT_CHANGE, writes.accounts),
    ]),
  )
  // After the inserts: a row can be inserted and corrected in one batch.
  send('replaceUsage', USAGE, writes.usageCorrected)
  return sent
}

function ask(
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

/**
 * SQLSTATE classes that blame what was sent: data exception and constraint. And whatever our own code throws. Not class
 * 42, a right or a table that is missing: that fails every batch alike until somebody mends it, as an outage does.
 */
function isDataError(error: unknown): boolean {
  if (error instanceof TypeError || error instanceof RangeError) return true
  if (!(error instanceof Error)) return false
  if (!('code' in error)) return error.name === 'AssertionError'
  return typeof error.code === 'string' && /^(22|23|ERR_ASSERTION)/.test(error.code)
}
