// A separate process (started by postgres.ts) that owns one throw-away PostgreSQL server: prints its address as JSON,
// closes standard output, and stops the server and removes its data when standard input ends. SIGUSR2 kills the server
// as `kill -9` does, SIGHUP starts it again.
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { PostgresServer } from './server.ts'
import { makePostgres } from './server.ts'

const STARTS_MAX = 100

export type Answer = { readonly url: string } | { readonly error: string }

const folder = mkdtempSync(join(tmpdir(), 'tollgate-postgres-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
try {
  const { url, start } = await makePostgres(folder)
  let server = await start()
  let changed = Promise.resolve()
  process.on('SIGUSR2', () => server.kill('SIGKILL'))
  process.on('SIGHUP', () => {
    server.kill('SIGKILL')
    changed = changed.then(async () => {
      server = await startAgain(start)
    })
  })
  answer({ url })
  process.stdin.resume()
  await once(process.stdin, 'close')
  await changed
  if (server.exitCode === null && server.signalCode === null) {
    server.kill('SIGINT') // PostgreSQL's fast shutdown
    await once(server, 'exit')
  }
} catch (error) {
  answer({ error: error instanceof Error ? error.message : String(error) })
  process.exit(1)
}
process.exit(0)

function answer(value: Answer): void {
  try {
    writeSync(1, JSON.stringify(value))
    closeSync(1)
  } catch {
    // The owner is already gone; standard input ends, too.
  }
}

/** The child processes of a killed server take a moment to notice, and keep its shared memory until then. */
async function startAgain(start: PostgresServer['start']): Promise<ChildProcess> {
  for (let tries = 1; ; tries++) {
    try {
      return await start()
    } catch (error) {
      if (tries === STARTS_MAX) throw error
      await pause(100)
    }
  }
}
