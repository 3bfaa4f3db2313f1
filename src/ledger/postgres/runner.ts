// Batches on PostgreSQL: the writer's own connection, what becomes of it when the database does not answer, and what it
// finds when it is connected again.
import { Client, type ClientConfig, type PoolClient } from 'pg'
import type { Clock } from '../../core/clock.ts'
import { codeOf, messageOf } from '../../core/errors.ts'
import type { PostgresStore } from '../../store/database/store.ts'
import type { HoldId } from '../ledger.ts'
import type { Batch, BatchResult, Outcome } from '../rules/batch.ts'
import { type BatchRunner, Unavailable } from '../writer/writer.ts'
import { ask, Session, THINKING_MS_MAX } from './batch.ts'

const CONNECT_MS_MAX = 2000
const ANSWER_MS_MAX = 4000
/** Instead of THINKING_MS_MAX, for a while after a slow node was cut off. */
const SLOW_THINKING_MS_MAX = 1000
const SLOW_FOR_MS = 60_000

/** In addition to the pool's settings, which they override. */
const SETTINGS = [
  // While a node is stopped inside a batch, others wait for its locks.
  `idle_in_transaction_session_timeout=${THINKING_MS_MAX}`,
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
const BEGIN_SLOWLY = `BEGIN; SET LOCAL idle_in_transaction_session_timeout = ${SLOW_THINKING_MS_MAX}`

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
  #session: Session | undefined
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
      const isConnected = this.#session !== undefined
      const session = (this.#session ??= await this.#connect())
      const result = await session.run(batch, begin)
      // Not before a batch was committed: a replica that is not promoted yet may still catch up.
      if (!isConnected) await this.#lookBack(session)
      const holdId = result.live ? lastHold(result.outcomes) : undefined
      if (holdId !== undefined) this.#granted = { holdId, atMs: this.#clock.monotonicMs() }
      return result
    } catch (error) {
      if (isDataError(error)) {
        // Nothing was committed, and the connection is as good as before.
        await this.#rollBack().catch(() => this.#drop())
        throw error
      }
      this.#noteWhy(error)
      this.#drop()
      throw new Unavailable(`PostgreSQL did not answer: ${messageOf(error)}`, { cause: error })
    }
  }

  async close(): Promise<void> {
    const session = this.#session
    this.#session = undefined
    await session?.client.end()
  }

  async #connect(): Promise<Session> {
    const client = new Client(this.#config)
    // The next batch finds out about a connection that breaks while idle.
    client.on('error', (error) => this.#noteWhy(error))
    await client.connect()
    return new Session(client, this.#clock)
  }

  async #rollBack(): Promise<void> {
    const client = this.#session?.client
    // A batch on known books has no transaction to roll back, and the server would log a warning.
    if (client?.getTransactionStatus() !== 'I') await client?.query('ROLLBACK')
  }

  /** Behind a new connection may be another server: a replica that lagged behind when it took over, or a backup. */
  async #lookBack({ client }: Session): Promise<void> {
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
    const client = this.#session?.client
    this.#session = undefined
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
export async function runOnPool(
  { pool, clock }: PostgresStore,
  batch: Batch,
): Promise<BatchResult> {
  // A pool's client is a Client, which its type does not say.
  const client = (await pool.connect()) as PoolClient & Client
  let isBroken = true
  try {
    const result = await new Session(client, clock).run(batch, BEGIN)
    isBroken = false
    return result
  } finally {
    // Closing the connection rolls back what a failed batch began.
    client.release(isBroken)
  }
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
