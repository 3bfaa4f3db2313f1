// Signals: one that arrives more than once while the gateway serves, as from a terminal or through npm and the
// launcher; one that arrives during start; and one that kills a worker.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { run, start } from '../../support/process.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-signals-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const env = { ...process.env, TOLLGATE_DATABASE: `sqlite:${join(folder, 't.db')}` }
const launcher = 'bin/tollgate.mjs'

test('a signal that arrives three times lets a running answer finish', async () => {
  await using gateway = start('node', [launcher, 'serve', '--port', '0'], { env })
  const [url] = await gateway.printed(/http:\/\/127\.0\.0\.1:\d+/)
  const create = 'keys create --name a --models sandbox-chat --budget 1 --json'
  const { secret } = JSON.parse(
    (await run('node', [launcher, ...create.split(' ')], { env })).stdout,
  )
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'sandbox-chat',
      stream: true,
      messages: [{ role: 'user', content: '[[sandbox tokens=20 gap=25ms]] Hello' }],
    }),
  })
  assert.equal(answer.status, 200)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGINT'] as const) process.kill(gateway.pid, signal)
  assert.match(await answer.text(), /data: \[DONE\]\n\n$/)
  assert.deepEqual((await gateway.ended).code, 0)
})

test('a signal during the start does not cut off the error message of the start', async () => {
  // A database that stays silent until the signal is sent, and then hangs up.
  const database = createServer().listen(0, '127.0.0.1')
  await once(database, 'listening')
  const { port } = database.address() as AddressInfo
  const asked = once(database, 'connection') as Promise<[Socket]>
  const silent = {
    ...env,
    TOLLGATE_DATABASE: `postgres://a@127.0.0.1:${port}/a`,
    TOLLGATE_SECRET: 'a secret for tests, long enough to be taken',
  }
  await using gateway = start('node', [launcher, 'serve', '--port', '0'], { env: silent })
  const [socket] = await asked
  process.kill(gateway.pid, 'SIGTERM')
  socket.destroy()
  database.close()
  const { code, signal, stderr } = await gateway.ended
  assert.deepEqual({ code, signal }, { code: 1, signal: null })
  assert.match(stderr, /PostgreSQL at 127\.0\.0\.1:\d+ cannot be reached/)
})

test('killed workers are a failure', async () => {
  const script = fileURLToPath(new URL('../../support/programs/doomed-workers.ts', import.meta.url))
  assert.equal((await run('node', [script])).code, 1)
})
