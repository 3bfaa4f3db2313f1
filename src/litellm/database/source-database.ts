// A connection to LiteLLM's database that cannot write: one snapshot for everything that is read, in pieces, so that the
// number of keys does not matter.
import { Client, DatabaseError } from 'pg'
import { codeOf, messageOf } from '../../core/errors.ts'
import { describeDatabaseUrl, isDatabaseUrl, sqlitePath } from '../../store/database/url.ts'
import { ImportError } from '../source.ts'

/** How many rows are in memory at once. */
const ROWS_MAX = 1_000

/** Parameters of LiteLLM's own driver, which this one would send to the server. */
const FOREIGN_PARAMETERS = [
  ...['schema', 'connection_limit', 'pool_timeout', 'pgbouncer', 'socket_timeout'],
  ...['connect_timeout', 'statement_cache_size'],
]

export class SourceDatabase implements AsyncDisposable {
  readonly #client: Client
  #cursors = 0

  private constructor(client: Client) {
    this.#client = client
  }

  /** Throws an ImportError if it cannot be reached. */
  static async open(url: string): Promise<SourceDatabase> {
    if (!isDatabaseUrl(url) || sqlitePath(url) !== undefined) {
      throw new ImportError(['--database must look like postgresql://USER@HOST:PORT/NAME'])
    }
    const address = new URL(url)
    const schema = address.searchParams.get('schema')
    for (const name of FOREIGN_PARAMETERS) address.searchParams.delete(name)
    const client = new Client({
      connectionString: address.href,
      application_name: 'tollgate import',
      connectionTimeoutMillis: 10_000,
    })
    client.on('error', () => {})
    try {
      await client.connect()
      // Whatever goes wrong here, nothing can be changed there.
      await client.query('BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY')
      if (schema !== null)
        await client.query(`SELECT set_config('search_path', $1, true)`, [schema])
    } catch (error) {
      await client.end().catch(() => {})
      throw new ImportError([`${describeDatabaseUrl(url)} cannot be read: ${whyNot(error)}`])
    }
    return new SourceDatabase(client)
  }

  /** For few rows. */
  async all<Row extends object>(sql: string, values: readonly unknown[] = []): Promise<Row[]> {
    const { rows } = await this.#query<Row>(sql, values)
    return rows
  }

  /** For any number of rows. */
  async *each<Row extends object>(sql: string): AsyncGenerator<Row> {
    const cursor = `rows_${++this.#cursors}`
    await this.#query(`DECLARE ${cursor} NO SCROLL CURSOR FOR ${sql}`)
    for (;;) {
      const { rows } = await this.#query<Row>(`FETCH ${ROWS_MAX} FROM ${cursor}`)
      yield* rows
      if (rows.length < ROWS_MAX) break
    }
    await this.#query(`CLOSE ${cursor}`)
  }

  async #query<Row extends object>(sql: string, values: readonly unknown[] = []) {
    try {
      return await this.#client.query<Row>(sql, [...values])
    } catch (error) {
      throw new ImportError([`LiteLLM’s database cannot be read: ${whyNot(error)}`])
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.end()
  }
}

/** In the server's words, or by the code of the connection's failure. */
function whyNot(error: unknown): string {
  return error instanceof DatabaseError ? error.message : (codeOf(error) ?? messageOf(error))
}
