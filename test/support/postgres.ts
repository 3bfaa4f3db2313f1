// A database of its own for each test file, on a real PostgreSQL: the server of TOLLGATE_TEST_POSTGRES (npm test sets it
// to the one it started), else one that this process starts on first use and that ends with it.
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import pg from 'pg'

export type TestDatabase = { readonly url: string; drop(): Promise<void> }

export async function freshDatabase(): Promise<TestDatabase> {
  const server = await serverUrl()
  const name = `tollgate_test_${randomBytes(6).toString('hex')}`
  await query(server, `create database ${name}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => query(server, `drop database ${name} with (force)`) }
}

let ownServer: Promise<string> | undefined

function serverUrl(): Promise<string> {
  const given = process.env['TOLLGATE_TEST_POSTGRES']
  return given ? Promise.resolve(given) : (ownServer ??= startPostgres())
}

/**
 * Starts a throw-away server and gives its address. The server belongs to a keeper process that stops it when the
 * pipe to this process closes: it ends with this process, however this one ends.
 */
export async function startPostgres(): Promise<string> {
  const keeper = spawn(process.execPath, [keeperFile], { stdio: ['pipe', 'pipe', 'inherit'] })
  const answer: unknown = JSON.parse(await text(keeper.stdout))
  keeper.unref()
  Object(keeper.stdin).unref()
  if (Object(answer).url) return String(Object(answer).url)
  throw new Error(String(Object(answer).error))
}

const keeperFile = fileURLToPath(new URL('./postgres-keeper.ts', import.meta.url))

async function query(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}
