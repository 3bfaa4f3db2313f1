// An open database, as every other part sees it, and in whose name it is changed.
import { Kysely } from 'kysely'
import { Pool } from 'pg'

import type { Clock } from '../core/clock.ts'
import type { Tables } from './tables.ts'

type Common = {
  /** In whose name changes are recorded. */
  readonly author: Author
  /** On SQLite a transaction stops every other query until it ends: keep it to a few statements, await nothing else. */
  readonly db: Kysely<Tables>
  readonly clock: Clock
  close(): Promise<void>
}

export type SqliteStore = Common & {
  readonly kind: 'sqlite'
  /** Runs a handler of one of the `workerModules` beside the database, as one transaction (sqlite-worker.ts). */
  inWorker(name: string, argument: unknown): Promise<unknown>
}

export type PostgresStore = Common & {
  readonly kind: 'postgres'
  /** For what Kysely cannot do: a separate connection with its own settings, LISTEN. */
  readonly pool: Pool
}

export type Store = SqliteStore | PostgresStore

/** Who acts, and from where; every store is opened in somebody's name. */
export type Author = {
  /** An e-mail address, or the system account that the command line ran under. */
  readonly actor: string
  readonly source: 'ui' | 'api' | 'cli'
  readonly address: string | null
  readonly requestId: string | null
}

/** The same database, with changes recorded under another name. */
export function inTheNameOf(store: Store, author: Author): Store {
  return { ...store, author }
}
