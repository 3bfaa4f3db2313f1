// One batch on PostgreSQL: two round trips on a connection of the writer's own. The first takes the locks and reads, the
// second writes and commits; the decision falls between them, in this process, so the time in between is kept short.
import { Client, type ClientConfig, type PoolClient, type QueryResult } from 'pg'

import type { PostgresStore } from '../store/open.ts'
import { FRAME_ID } from '../store/tables.ts'
import type { Batch, BatchResult, Hold, Page, UsageRow, Writes } from './books.ts'
import { decide, keyOf, knownHoldOf } from './decide.ts'
import { STATEMENTS, type StatementName } from './postgres-statements.ts'
import {
  ACCOUNT_CHANGE_COLUMNS,
  accountValues,
  ENTRY_COLUMNS,
  entryValues,
  HOLD_COLUMNS,
  holdValues,
  number,
  PERIOD_COLUMNS,
  periodValues,
  ROLLUP_KEY_COLUMNS,
  ROLLUP_SUM_COLUMNS,
  rollupValues,
  toAccount,
  toHold,
  toUsageRow,
  USAGE_COLUMNS,
  usageValues,
  type Row,
  type Value,
} from './rows.ts'
import { Unavailable, type BatchRunner } from './writer.ts'

const CONNECT_MS_MAX = 2000
const ANSWER_MS_MAX = 4000
/** Between reading and writing. One that is only slow, and was cut off for it, gets more the next time. */
const THINKING_MS_MAX = { first: 250, again: 1000 }

const SETTINGS = [
  'synchronous_commit=on',
  // A node that stops inside a batch has others waiting for its locks.
  `idle_in_transaction_session_timeout=${THINKING_MS_MAX.first}`,
  'statement_timeout=3000',
  // Plans are kept, and those made while the tables were small would read them whole for ever.
  'plan_cache_mode=force_generic_plan',
  'enable_seqscan=off',
  'enable_hashjoin=off',
  'enable_mergejoin=off',
  'jit=off',
]

export function postgresRunner(store: PostgresStore): BatchRunner {
  return new PostgresRunner({
    ...store.pool.options,
    application_name: 'tollgate ledger',
    options: SETTINGS.map((setting) => `-c ${setting}`).join(' '),
    connectionTimeoutMillis: CONNECT_MS_MAX,
    query_timeout: ANSWER_MS_MAX,
    // The limits of the pool's connections would come after ours and win.
    statement_timeout: undefined,
    idle_in_transaction_session_timeout: undefined,
    pipeline: true,
  })
}

class PostgresRunner implements BatchRunner {
  readonly #config: ClientConfig
  #client: Client | undefined

  constructor(config: ClientConfig) {
    this.#config = config
  }

  async run(batch: Batch): Promise<BatchResult> {
    try {
      const client = (this.#client ??= await connect(this.#config))
      return await runBatch(client, batch)
    } catch (error) {
      if (isDataError(error)) {
        // Nothing was committed, and the connection is as good as before.
        await this.#client?.query('ROLLBACK').catch(() => this.#drop())
        throw error
      }
      this.#drop()
      throw new Unavailable(`PostgreSQL did not answer: ${messageOf(error)}`, { cause: error })
    }
  }

  async close(): Promise<void> {
    const client = this.#client
    this.#client = undefined
    await client?.end()
  }

  /** Whatever state the connection is in, the server rolls back when it goes. */
  #drop(): void {
    const client = this.#client
    this.#client = undefined
    // Not `end()` first: that waits for answers that may never come.
    client?.connection.stream.destroy()
  }
}

/** The batch of somebody who writes one and no more: on a connection that is there already. */
export async function runOnPool({ pool }: PostgresStore, batch: Batch): Promise<BatchResult> {
  // Its type leaves out what it is.
  const client = (await pool.connect()) as PoolClient & Client
  let isBroken = true
  try {
    const result = await runBatch(client, batch)
    isBroken = false
    return result
  } finally {
    // Without its connection, what a failed batch began is rolled back.
    client.release(isBroken)
  }
}

async function connect(config: ClientConfig): Promise<Client> {
  const client = new Client(config)
  // A connection that breaks while idle is found out by the next batch.
  client.on('error', () => {})
  await client.connect()
  return client
}

async function runBatch(client: Client, batch: Batch): Promise<BatchResult> {
  const page = await readPage(client, batch)
  if (page === undefined) {
    await client.query('ROLLBACK')
    return { live: false }
  }
  const { outcomes, balances, writes } = decide(batch, page)
  await atOnce(client, () => [...write(client, writes, batch), client.query('COMMIT')])
  return { live: true, now: page.now, outcomes, balances }
}

const BEGIN_AGAIN = `BEGIN; SET LOCAL idle_in_transaction_session_timeout = ${THINKING_MS_MAX.again}`

/** Undefined when the node was fenced. Sent without waiting in between: one round trip. */
async function readPage(client: Client, batch: Batch): Promise<Page | undefined> {
  const keyIds = [...new Set(batch.items.map(keyOf)), FRAME_ID]
  const holdIds = batch.items
    .map((item) => knownHoldOf(item, batch.isRetry))
    .filter((id) => id !== undefined)
  const [, node, accounts, holds] = await atOnce(client, () => [
    client.query(batch.isRetry ? BEGIN_AGAIN : 'BEGIN'),
    batch.nodeId === null ? nothing : ask(client, 'liveNode', [batch.nodeId]),
    ask(client, 'lockAccounts', [keyIds]),
    holdIds.length > 0 ? ask(client, 'holds', [holdIds]) : nothing,
  ])
  if (node?.rows.length === 0) return undefined
  const now = number(accounts?.rows.at(-1) ?? {}, 'now')
  const open = (holds?.rows ?? []).map(toHold)
  return {
    now,
    accounts: (accounts?.rows ?? []).map((row) => toAccount(row, now)),
    holds: open,
    usage: await readUsage(client, holdIds, open),
  }
}

/** What became of holds that are not open any more: another round trip, for the few that are settled late or twice. */
async function readUsage(
  client: Client,
  holdIds: readonly number[],
  open: readonly Hold[],
): Promise<readonly UsageRow[]> {
  const openIds = new Set(open.map(({ id }) => id))
  const closedIds = holdIds.filter((id) => !openIds.has(id))
  if (closedIds.length === 0) return []
  const { rows } = await ask(client, 'usage', [closedIds])
  return rows.map(toUsageRow)
}

function write(client: Client, writes: Writes, batch: Batch): Promise<QueryResult>[] {
  const sent: Promise<QueryResult>[] = []
  const send = (
    name: StatementName,
    columns: readonly string[],
    rows: readonly Value[][],
  ): void => {
    if (rows.length > 0) sent.push(ask(client, name, [toJson(columns, rows)]))
  }
  send('insertPeriods', PERIOD_COLUMNS, writes.closedPeriods.map(periodValues))
  send(
    'changePeriods',
    ['account_id', 'seq', 'spent_nanodollars', 'held_nanodollars', 'overrun_nanodollars'],
    writes.periodDeltas.map((delta) => [
      delta.accountId,
      delta.seq,
      delta.spent,
      delta.held,
      delta.overrun,
    ]),
  )
  send(
    'changeHolds',
    ['id', 'amount_nanodollars'],
    writes.holdsChanged.map(({ id, amount }) => [id, amount]),
  )
  send('insertEntries', ENTRY_COLUMNS, writes.entries.map(entryValues))
  send(
    'insertPrices',
    ['version', 'figures'],
    // Sorted like everything that two nodes may write at once.
    batch.prices.map(({ version, figures }) => [version, figures]).toSorted(),
  )
  sent.push(
    ask(client, 'write', [
      toJson(HOLD_COLUMNS, writes.holdsInserted.map(holdValues)),
      writes.holdsDeleted,
      toJson(USAGE_COLUMNS, writes.usageInserted.map(usageValues)),
      toJson([...ROLLUP_KEY_COLUMNS, ...ROLLUP_SUM_COLUMNS], writes.rollups.map(rollupValues)),
      toJson(ACCOUNT_CHANGE_COLUMNS, writes.accounts.map(accountValues)),
    ]),
  )
  // After the inserts: a row can be charged and corrected in one batch.
  send('replaceUsage', USAGE_COLUMNS, writes.usageCorrected.map(usageValues))
  return sent
}

function ask(client: Client, name: StatementName, values: unknown[]): Promise<QueryResult<Row>> {
  return client.query<Row>({ name, text: STATEMENTS[name], values })
}

function toJson(columns: readonly string[], rows: readonly Value[][]): string {
  const records = rows.map((values) => {
    const record: Record<string, string | number | null> = {}
    for (const [index, column] of columns.entries()) {
      const value = values[index] ?? null
      // JSON has no integers of this size; PostgreSQL reads them from text.
      record[column] = typeof value === 'bigint' ? value.toString() : value
    }
    return record
  })
  return JSON.stringify(records)
}

type Answer = QueryResult<Row> | undefined

/** Stands for a statement that this batch does not need. */
const nothing: Promise<undefined> = Promise.resolve(undefined)

/**
 * Sends statements in one piece and waits for every answer before the first error is thrown: the connection is in use
 * until the last has come. In pieces, the server would wake up for each of them.
 */
async function atOnce(
  { connection: { stream } }: Client,
  send: () => readonly Promise<Answer>[],
): Promise<readonly Answer[]> {
  stream.cork()
  const sent = send()
  stream.uncork()
  const answers = await Promise.allSettled(sent)
  return answers.map((answer) => {
    if (answer.status === 'rejected') throw answer.reason
    return answer.value
  })
}

/** SQLSTATE classes that blame what was sent: data exception, constraint, syntax. And whatever our own code throws. */
function isDataError(error: unknown): boolean {
  if (error instanceof TypeError || error instanceof RangeError) return true
  if (!(error instanceof Error)) return false
  if (!('code' in error)) return error.name === 'AssertionError'
  return typeof error.code === 'string' && /^(22|23|42|ERR_ASSERTION)/.test(error.code)
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
