// The revision: how a running server learns what the command line or another node has changed. Every change raises it in
// its own transaction. SQLite is polled often; PostgreSQL notifies, and is polled in case a notification is lost.
import { sql } from 'kysely'
import type { Pool, PoolClient } from 'pg'

import { inTransaction, type PostgresStore, type Store } from './store.ts'
import type { Tx } from './tables.ts'

const CHANNEL = 'tollgate_changes'
const SQLITE_POLL_MS = 250
const POSTGRES_POLL_MS = 1_000
/** A connection that is silent for longer leads nowhere: after a failover, its server may be gone without closing it. */
const ANSWER_MS_MAX = 4_000

/** Last in its transaction, because every change waits for this row; first only in `withChangeLock`. */
export async function bumpRevision(store: Store, tx: Tx): Promise<void> {
  const counted = tx
    .updateTable('meta')
    .set({ value: sql<string>`CAST(CAST(value AS BIGINT) + 1 AS TEXT)` })
    .where('name', '=', 'revision')
    .returning('value')
  if (store.kind === 'sqlite') await counted.execute()
  else
    await tx
      .with('counted', () => counted)
      .selectFrom('counted')
      .select(sql`pg_notify(${CHANNEL}, value)`.as('told'))
      .execute()
}

/** One such change at a time across all nodes. Every other one waits meanwhile: `work` must be a few statements. */
export function withChangeLock<Result>(
  store: Store,
  work: (tx: Tx) => Promise<Result>,
): Promise<Result> {
  return inTransaction(store.db, async (tx) => {
    await bumpRevision(store, tx)
    return work(tx)
  })
}

export async function readRevision(store: Store): Promise<number> {
  const { value } = await revisionOf(store).executeTakeFirstOrThrow()
  return Number(value)
}

function revisionOf({ db }: Store) {
  return db.selectFrom('meta').select('value').where('name', '=', 'revision')
}

type ChangeWatch = {
  /** Called again until it succeeds. */
  readonly onChange: (revision: number) => Promise<void>
  /** Receives what `onChange` threw. */
  readonly onError: (thrown: unknown) => void
}

/** Calls `onChange` within a second of every change, or once the database can be reached, until it is stopped. */
export async function watchChanges(
  store: Store,
  { onChange, onError }: ChangeWatch,
): Promise<() => Promise<void>> {
  const signal = new Signal()
  const listener = store.kind === 'postgres' ? new Listener(store, signal) : undefined
  let seen = await readRevision(store)
  let isStopped = false

  async function look(): Promise<void> {
    let revision = seen
    try {
      revision = await (listener?.readRevision() ?? readRevision(store))
    } catch {
      // Callers that need the database report that it is away; the next round looks again.
    }
    if (revision === seen) return
    try {
      await onChange(revision)
      seen = revision
    } catch (thrown) {
      onError(thrown)
    }
  }

  async function watch(): Promise<void> {
    while (!isStopped) {
      await look()
      await signal.wait(listener === undefined ? SQLITE_POLL_MS : POSTGRES_POLL_MS)
    }
  }

  const watching = watch()
  return async () => {
    isStopped = true
    signal.set()
    await watching
    listener?.close()
  }
}

/** Lets a loop sleep until something happens; one that is set between two waits is not lost. */
class Signal {
  #isSet = false
  #wake = (): void => {}

  set(): void {
    this.#isSet = true
    this.#wake()
  }

  async wait(timeoutMs: number): Promise<void> {
    if (!this.#isSet) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, timeoutMs)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    this.#isSet = false
  }
}

/** A connection on which PostgreSQL notifies of changes; after it breaks, the next look opens another. */
class Listener {
  readonly #store: PostgresStore
  readonly #signal: Signal
  #client: PoolClient | undefined

  constructor(store: PostgresStore, signal: Signal) {
    this.#store = store
    this.#signal = signal
  }

  /** On its own connection, so that a silent one is noticed. */
  async readRevision(): Promise<number> {
    try {
      const client = (this.#client ??= await this.#listen())
      const { sql: text, parameters } = revisionOf(this.#store).compile()
      const { rows } = await client.query<{ value: string }>(inTime(text, parameters))
      return Number(rows[0]?.value)
    } catch (error) {
      this.close()
      await dropIdle(this.#store.pool)
      throw error
    }
  }

  close(): void {
    this.#client?.release(true)
    this.#client = undefined
  }

  async #listen(): Promise<PoolClient> {
    const client = await this.#store.pool.connect()
    try {
      await client.query(inTime(`LISTEN ${CHANNEL}`))
    } catch (error) {
      client.release(true)
      throw error
    }
    client.on('error', () => {
      if (this.#client === client) this.close()
      this.#signal.set()
    })
    client.on('notification', () => this.#signal.set())
    return client
  }
}

function inTime(text: string, values: readonly unknown[] = []) {
  return { text, values: [...values], query_timeout: ANSWER_MS_MAX }
}

/** Whoever got one of these next might wait for as long as any query may take. */
async function dropIdle(pool: Pool): Promise<void> {
  while (pool.idleCount > 0) (await pool.connect()).release(true)
}
