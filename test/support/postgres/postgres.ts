// A separate database for each test file, on a real PostgreSQL: the server of TOLLGATE_TEST_POSTGRES (npm test sets it
// to the one it started), else one that this process starts on first use and that ends with it.
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { FSYNC } from './server.ts'
import type { Answer } from './supervisor.ts'

export type TestDatabase = { readonly url: string; drop(): Promise<void> }

/** `made`: options of CREATE DATABASE, where they matter. */
export async function freshDatabase(made = ''): Promise<TestDatabase> {
  const server = await serverUrl()
  const name = `tollgate_test_${randomBytes(6).toString('hex')}`
  await query(server, `create database ${name} ${made}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => query(server, `drop database ${name} with (force)`) }
}

let ownServer: Promise<string> | undefined

function serverUrl(): Promise<string> {
  const given = process.env['TOLLGATE_TEST_POSTGRES']
  return given ? Promise.resolve(given) : (ownServer ??= startPostgres())
}

/** It is never killed, so nothing is lost if nobody waits for its disk: the contract of the admin API takes 46 s instead of 116. */
export async function startPostgres(): Promise<string> {
  return (await startMortalPostgres({ [FSYNC]: 'off' })).url
}

export type MortalPostgres = {
  readonly url: string
  /** Like `kill -9` of its first process: every connection breaks. */
  kill(): void
  /** Kills it if it still runs, and returns at once; the new server takes connections when it has recovered. */
  revive(): void
}

/**
 * Starts a throw-away server, with `env` added to its environment. It belongs to a supervisor process that stops it when
 * the pipe to this process closes: it ends with this process, however this one ends.
 */
export async function startMortalPostgres(
  env: Readonly<Record<string, string>> = {},
): Promise<MortalPostgres> {
  const supervisor = spawn(process.execPath, [supervisorFile], {
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true, // a signal to the whole group must not reach it
  })
  const said = await text(supervisor.stdout)
  // Neither the supervisor nor the pipe to it may keep this process from ending.
  supervisor.unref()
  ;(supervisor.stdin as Socket).unref()
  const answer = JSON.parse(said || '{"error":"the supervisor of PostgreSQL was killed"}') as Answer
  if ('error' in answer) throw new Error(answer.error)
  return {
    url: answer.url,
    kill: () => supervisor.kill('SIGUSR2'),
    revive: () => supervisor.kill('SIGHUP'),
  }
}

const supervisorFile = fileURLToPath(new URL('./supervisor.ts', import.meta.url))

async function query(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}
