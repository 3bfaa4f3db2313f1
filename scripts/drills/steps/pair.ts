// Two PostgreSQL servers, the second a synchronous standby of the first, and a way to them that leads to the one that
// takes writes: what Patroni and haproxy do, done by hand.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { makePostgres } from '../../../test/support/postgres/server.ts'
import { openRoad } from '../../../test/support/road.ts'
import { until } from '../../../test/support/until.ts'

/** A database that survives the loss of a server. */
export type Cluster = AsyncDisposable & {
  /** Leads to the server that takes writes. */
  readonly url: string
  /** Its server is gone at once, as if its machine had lost power. Returns when another has been made the primary. */
  loseServer(): Promise<void>
}

export async function startPair(): Promise<Cluster> {
  await using opened = new AsyncDisposableStack()
  const folderOf = (name: string): string => {
    const folder = mkdtempSync(join(tmpdir(), `tollgate-${name}-`))
    opened.defer(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
    return folder
  }
  const settings = { synchronous_standby_names: '*' }
  const primary = await makePostgres(folderOf('primary'), settings)
  const { hostname, port } = new URL(primary.url)
  const conninfo = `host=${hostname} port=${port} user=postgres`
  const standby = await makePostgres(folderOf('standby'), { primary_conninfo: conninfo }, primary)
  const servers = [await primary.start(), await standby.start()]
  const kill = (): void => servers.forEach((server) => server.kill('SIGKILL'))
  // However this process ends.
  process.once('exit', kill)
  opened.defer(kill)
  await until(() => isSynchronous(primary.url))
  const road = opened.use(await openRoad(primary.url))
  const everything = opened.move()
  return {
    url: road.url,
    loseServer: async () => {
      servers[0]?.kill('SIGKILL')
      road.cut()
      await query(standby.url, 'select pg_promote()')
      road.lead(standby.url)
      road.mend()
    },
    [Symbol.asyncDispose]: () => everything.disposeAsync(),
  }
}

/** Whether each commit waits for a standby. */
export async function isSynchronous(url: string): Promise<boolean> {
  const rows = await query(url, "select 1 from pg_stat_replication where sync_state = 'sync'")
  return rows.length === 1
}

async function query(url: string, text: string): Promise<readonly unknown[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}
