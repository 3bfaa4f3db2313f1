// A gateway that is asked to end while it answers, by one signal that arrives more than once, as it does from a terminal
// and through npm and the launcher.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { run, start } from '../support/process.ts'

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
