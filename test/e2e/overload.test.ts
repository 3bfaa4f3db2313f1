// A gateway that is asked for more than it can serve: it says so at once, in the client's format, and serves the rest.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { steady } from '../../scripts/drills/overload.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { callSandbox } from '../support/sandbox.ts'
import { until } from '../support/until.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-overload-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const PATHS = { chat: '/v1/chat/completions', messages: '/v1/messages' }

function ask({ url }: TestGateway, key: string, path: string): Promise<Response> {
  const prompt = { model: 'sandbox-chat', messages: [{ role: 'user', content: 'Hello' }] }
  return fetch(url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'x-api-key': key },
    body: JSON.stringify({ ...prompt, max_tokens: 10 }),
  })
}

test('calls beyond those that may wait get 503 at once; the others, people and monitors do not', async () => {
  const config = 'server: { waiting_max: 2 }\nauth: { headers: either }\n'
  await using gateway = await startGateway({ folder, config })
  const key = await gateway.key('demo', 'sandbox-chat')
  const adminStatus = async (): Promise<number> =>
    (await fetch(`${gateway.url}/admin/api/v1/keys`)).status
  // Both planes have read what they need.
  assert.deepEqual([await callSandbox(gateway.url, key), await adminStatus()], [200, 401])
  const other = new DatabaseSync(join(folder, 'tollgate.db'))
  // After somebody else's commit no hold can be decided in memory, and none can be written.
  other.exec("INSERT OR REPLACE INTO meta (name, value) VALUES ('test', '1')")
  other.exec('BEGIN IMMEDIATE')
  const refused: Response[] = []
  const answers = Array.from({ length: 6 }, async (_, index) => {
    const answer = await ask(gateway, key, index % 2 === 0 ? PATHS.chat : PATHS.messages)
    if ((await answer.clone().text()).includes('"overloaded"')) refused.push(answer)
    return answer
  })
  await until(() => refused.length === 4)
  assert.equal((await fetch(`${gateway.url}/healthz`)).status, 200)
  assert.equal(await adminStatus(), 401)
  other.exec('ROLLBACK')
  other.close()
  await Promise.all(answers)
  assert.equal(refused.length, 4)
  for (const answer of refused) {
    assert.equal(answer.status, 503)
    assert.match(answer.headers.get('retry-after') ?? '', /^[123]$/)
    assert.equal(answer.headers.get('x-should-retry'), 'true')
    const { error } = (await answer.json()) as { error: { type: string; code: string } }
    const isMessages = answer.url.endsWith(PATHS.messages)
    assert.equal(error.type, isMessages ? 'overloaded_error' : 'server_error')
    assert.equal(error.code, 'overloaded')
    const id = answer.headers.get('x-request-id') ?? ''
    assert.match(id, /^req_/)
    if (isMessages) assert.equal(answer.headers.get('request-id'), id)
  }
  assert.equal(await callSandbox(gateway.url, key), 200)
  // One line says so, not one for each.
  const lines = gateway.log().filter(({ event }) => event === 'overloaded')
  assert.deepEqual(
    lines.map(({ level }) => level),
    ['warn'],
  )
})

test('a call on a connection too many gets 503 and the connection ends; a monitor is answered there', async () => {
  await using gateway = await startGateway({ config: 'server: { connections_max: 1 }\n' })
  const { hostname, port } = new URL(gateway.url)
  const first = connect(Number(port), hostname)
  first.write('GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n')
  await new Promise((resolve) => first.once('data', resolve))
  const second = connect(Number(port), hostname)
  second.write('GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n')
  second.write('GET /v1/models HTTP/1.1\r\nhost: a\r\n\r\n')
  const answers = await text(second)
  assert.match(answers, /^HTTP\/1\.1 200 [^]*HTTP\/1\.1 503 [^]*"overloaded"/)
  first.destroy()
})

test('calls whose bodies do not fit into memory get 503 too, and share one line of the log', async () => {
  await using gateway = await startGateway({
    config: 'server: { body_limit: 1KB, body_memory: 2KB }\n',
  })
  const key = await gateway.key('demo', 'sandbox-chat')
  const { hostname, port } = new URL(gateway.url)
  // It stays in memory, because its last bytes never come. A key gets half of all room.
  const unfinished = connect(Number(port), hostname)
  unfinished.write(
    `POST ${PATHS.chat} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${key}\r\n` +
      `content-length: 1024\r\n\r\n${' '.repeat(1_000)}`,
  )
  await until(async () => (await ask(gateway, key, PATHS.chat)).status === 503)
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask(gateway, key, PATHS.chat)))
  for (const answer of answers) {
    assert.equal(answer.status, 503)
    assert.match(answer.headers.get('retry-after') ?? '', /^[123]$/)
    assert.match(await answer.text(), /too many large requests at once.*"overloaded"/)
  }
  unfinished.destroy()
  await until(async () => (await ask(gateway, key, PATHS.chat)).status === 200)
  const lines = gateway.log()
  const told = lines.filter(({ event }) => event === 'overloaded')
  assert.partialDeepStrictEqual(told, [{ level: 'warn', too_many: 'bodies' }])
  assert.equal(told.length, 1)
  assert.deepEqual(
    lines.filter(({ code }) => code === 'overloaded'),
    [],
  )
})

test('of more calls than may wait some are served, and nothing is refused but with 503', async () => {
  await using gateway = await startGateway({
    config: 'server: { waiting_max: 4 }\nframe: { budget: 100000 }\n',
  })
  const key = await gateway.key('demo', 'sandbox-chat', '--budget', 'none')
  const seen = await steady({ url: gateway.url, secret: key, connections: 64, seconds: 2 })
  assert.deepEqual(seen.others, {})
  assert.ok(seen.served > 0 && seen.refused > 0)
  assert.equal(await callSandbox(gateway.url, key), 200)
  assert.partialDeepStrictEqual(await gateway.tollgate('ledger', 'verify', '--quiescent'), {
    ok: true,
    violations: [],
  })
})
