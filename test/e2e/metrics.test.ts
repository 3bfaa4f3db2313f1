// /metrics of a real gateway matches what happened, on both databases; who may read it; and what remains of it while
// the database does not answer.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { METRICS } from '../../src/telemetry/metrics.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { freshDatabase } from '../support/postgres/postgres.ts'
import { childrenOf } from '../support/process.ts'
import { openRoad } from '../support/road.ts'
import { callSandbox, streamSandbox } from '../support/sandbox.ts'
import { accessToken, readExposition, scrape, type Exposed } from '../support/scraper.ts'
import { freshSqlite } from '../support/store.ts'
import { until } from '../support/until.ts'

const WORKERS = 2
/** Prometheus's default scrape timeout. */
const SCRAPE_MS_MAX = 10_000

async function expose(gateway: TestGateway, token: string): Promise<Exposed> {
  const { status, type, text } = await scrape(gateway.url, token)
  assert.deepEqual([status, type], [200, 'text/plain; version=0.0.4; charset=utf-8'], text)
  return readExposition(text)
}

/** Scrapes until the database answered in time, which it does not on a machine that stalls for a second. */
async function exposeBooks(gateway: TestGateway, token: string): Promise<Exposed> {
  return until(async () => {
    const { status, text } = await scrape(gateway.url, token)
    if (status === 503) return undefined
    assert.equal(status, 200, text)
    const exposed = readExposition(text)
    return exposed.sum('tollgate_ledger_readable') === 1 && exposed
  })
}

/** Waits for the count: a request is counted after its answer is sent, so its client may be a moment ahead. */
async function exposeAfter(
  gateway: TestGateway,
  token: string,
  requests: number,
): Promise<Exposed> {
  return until(async () => {
    const exposed = await exposeBooks(gateway, token)
    return exposed.sum('tollgate_requests_total') >= requests && exposed
  })
}

for (const [name, fresh, config, processes] of [
  ['SQLite', freshSqlite, '', 1],
  [`PostgreSQL with ${WORKERS} workers`, freshDatabase, `server: { workers: ${WORKERS} }`, WORKERS],
] as const)
  test(`the figures match what happened on ${name}`, async () => {
    const database = await fresh()
    await using gateway = await startGateway({ database: database.url, config })
    if (processes > 1) await gateway.printed(/"listening"[^]*"listening"/)
    const token = await accessToken(gateway, ['usage:read'])
    const key = await gateway.key('demo', 'sandbox-chat,sandbox-embedding')
    const post = async (path: string, secret: string, model: string): Promise<number> => {
      const headers = { authorization: `Bearer ${secret}` }
      const messages = [{ role: 'user', content: 'Hello' }]
      const body = JSON.stringify({ model, input: 'Hello', messages })
      const response = await fetch(gateway.url + path, { method: 'POST', headers, body })
      await response.arrayBuffer()
      return response.status
    }
    // Enough concurrent calls to reach every worker.
    const calls = await Promise.all(Array.from({ length: 8 }, () => callSandbox(gateway.url, key)))
    assert.deepEqual(new Set(calls), new Set([200]))
    for (const script of ['tokens=20', 'tokens=20 gap=60ms']) {
      await (await streamSandbox(gateway, key, script)).text()
    }
    assert.equal(await post('/v1/embeddings', key, 'sandbox-embedding'), 200)
    assert.equal(await post('/v1/embeddings', key, 'sandbox-chat'), 400)
    assert.equal(await post('/v1/chat/completions', key, 'no-such-model'), 403)
    assert.equal(await post('/v1/chat/completions', `${key}x`, 'sandbox-chat'), 401)
    assert.equal(await post('/v1/nothing', key, 'sandbox-chat'), 404)

    const exposed = await exposeAfter(gateway, token, 15)
    const requests = Object.fromEntries(
      [...exposed.samples].filter(([series]) => series.startsWith('tollgate_requests_total')),
    )
    assert.deepEqual(requests, {
      'tollgate_requests_total{endpoint="chat",model="sandbox-chat",status="200"}': 10,
      'tollgate_requests_total{endpoint="embeddings",model="sandbox-embedding",status="200"}': 1,
      'tollgate_requests_total{endpoint="embeddings",model="",status="400"}': 1,
      'tollgate_requests_total{endpoint="chat",model="",status="403"}': 1,
      'tollgate_requests_total{endpoint="chat",model="",status="401"}': 1,
      'tollgate_requests_total{endpoint="",model="",status="404"}': 1,
    })
    for (const code of ['wrong_model_kind', 'model_not_allowed', 'invalid_api_key', 'not_found'])
      assert.equal(exposed.sum('tollgate_errors_total', { code }), 1, code)
    assert.equal(exposed.sum('tollgate_errors_total'), 4)
    assert.equal(exposed.sum('tollgate_requests_in_flight'), 0)
    assert.equal(exposed.sum('tollgate_request_duration_seconds_count'), 14)
    const durations = { endpoint: 'chat', le: '+Inf' }
    assert.equal(exposed.sum('tollgate_request_duration_seconds_bucket', durations), 12)
    assert.equal(exposed.sum('tollgate_first_token_seconds_count'), 2)
    const answered = { outcome: 'answered', target: 'sandbox/sandbox-chat' }
    assert.equal(exposed.sum('tollgate_attempts_total', answered), 10)
    assert.ok(exposed.sum('tollgate_ledger_commit_seconds_count') > 0)
    assert.equal(exposed.sum('tollgate_ledger_writable'), 1)
    assert.equal(exposed.sum('tollgate_ledger_readable'), 1)
    assert.equal(exposed.sum('tollgate_processes'), processes)
    const standing = { target: 'sandbox/sandbox-chat', standing: 'answering' }
    assert.equal(exposed.sum('tollgate_target_standing', standing), processes * 1)

    await assertBooks(gateway, exposed)
    assert.equal(exposed.sum('tollgate_keys', { status: 'active' }), 1)
    assert.equal(exposed.sum('tollgate_keys'), 1)
    const ours = [...exposed.kinds].filter(([each]) => each.startsWith('tollgate_'))
    assert.deepEqual(
      ours,
      Object.values(METRICS).map((metric) => [metric.name, metric.type]),
    )
    assert.ok(exposed.kinds.has('nodejs_gc_duration_seconds'))
    assert.ok(exposed.sum('process_start_time_seconds') > 0)

    // Whichever process answers, it reports all of them.
    for (let turn = 0; turn < 2 * processes; turn++) {
      const again = await exposeBooks(gateway, token)
      assert.equal(again.sum('tollgate_requests_total'), 15)
    }
    await gateway.stop()
    await database.drop()
  })

/** Tokens and cost equal those of `tollgate usage`, and the frame's figures those of `tollgate frame show`. */
async function assertBooks(gateway: TestGateway, exposed: Exposed): Promise<void> {
  const { rows } = (await gateway.tollgate('usage', '--by', 'model')) as {
    rows: readonly Record<string, string | number>[]
  }
  const used = rows.filter((row) => Number(row['output_tokens']) + Number(row['input_tokens']) > 0)
  assert.equal(used.length, 2)
  for (const row of used) {
    const model = String(row['model'])
    for (const kind of ['input', 'cached', 'cache_write', 'output', 'reasoning'])
      assert.equal(exposed.sum('tollgate_tokens_total', { model, kind }), row[`${kind}_tokens`])
    assert.equal(exposed.sum('tollgate_cost_usd', { model }), Number(row['cost']))
  }
  const frame = await gateway.tollgate('frame', 'show')
  const { keys } = (await gateway.tollgate('keys', 'list')) as {
    keys: readonly Record<string, string>[]
  }
  for (const { id: key = '', name = '', spent, remaining } of keys) {
    assert.equal(exposed.sum('tollgate_key_spent_usd', { key, name }), Number(spent))
    assert.equal(exposed.sum('tollgate_key_remaining_usd', { key, name }), Number(remaining))
  }
  assert.equal(exposed.sum('tollgate_key_spent_usd'), Number(frame['spent']))
  assert.equal(exposed.sum('tollgate_frame_limit_usd'), Number(frame['budget']))
  for (const figure of ['spent', 'held', 'remaining'])
    assert.equal(exposed.sum(`tollgate_frame_${figure}_usd`), Number(frame[figure]), figure)
  assert.ok(exposed.sum('tollgate_frame_spent_usd') > 0)
}

test('the counts of a worker outlive it', async () => {
  const database = await freshDatabase()
  const config = `server: { workers: ${WORKERS} }`
  await using gateway = await startGateway({ database: database.url, config })
  await gateway.printed(/"listening"[^]*"listening"/)
  const token = await accessToken(gateway, ['usage:read'])
  const key = await gateway.key('demo', 'sandbox-chat')
  await Promise.all(Array.from({ length: 8 }, () => callSandbox(gateway.url, key)))
  await exposeAfter(gateway, token, 8)
  // One at a time, because the last worker to die would give up the address.
  for (const child of await childrenOf(gateway.pid)) {
    process.kill(child, 'SIGKILL')
    await gateway.printed(new RegExp(`worker ${child} ended`))
    await until(
      async () => (await exposeBooks(gateway, token)).sum('tollgate_processes') === WORKERS,
    )
  }
  assert.equal(await callSandbox(gateway.url, key), 200)
  const exposed = await exposeAfter(gateway, token, 9)
  assert.equal(exposed.sum('tollgate_requests_total'), 9)
  await gateway.stop()
  await database.drop()
})

describe('access to /metrics', () => {
  test('only a token with usage:read is let in', async () => {
    await using gateway = await startGateway()
    const key = await gateway.key('demo', 'sandbox-chat')
    const other = await accessToken(gateway, ['requests:read'])
    const token = await accessToken(gateway, ['usage:read'])
    assert.equal((await scrape(gateway.url)).status, 401)
    assert.equal((await scrape(gateway.url, key)).status, 401)
    assert.equal((await scrape(gateway.url, `${token.slice(0, -1)}`)).status, 401)
    const refused = await scrape(gateway.url, other)
    assert.equal(refused.status, 403)
    assert.match(refused.text, /"permission":"usage:read"/)
    assert.equal((await scrape(gateway.url, token)).status, 200)
    const headers = { authorization: `Bearer ${token}` }
    const head = await fetch(`${gateway.url}/metrics`, { method: 'HEAD', headers })
    assert.deepEqual([head.status, await head.text()], [200, ''])
    const post = await fetch(`${gateway.url}/metrics`, { method: 'POST', headers })
    assert.equal(post.status, 404)
    const beside = await fetch(`${gateway.url}/metrics/more`, { headers })
    assert.equal(beside.status, 404)
    await gateway.stop()
    const logged = gateway.log().filter(({ path }) => path === '/metrics')
    const statuses = logged.map(({ method, status }) => `${method} ${status}`)
    const expected = ['GET 401', 'GET 401', 'GET 401', 'GET 403', 'POST 404']
    assert.deepEqual(statuses, expected, 'a scrape that is well is no news')
  })

  test('it is served at the admin address', async () => {
    await using gateway = await startGateway({ config: 'admin: { listen: "127.0.0.1:0" }\n' })
    const adminUrl = String((await gateway.logged('admin_listening'))['url'])
    assert.equal((await scrape(gateway.url)).status, 404)
    assert.equal((await scrape(adminUrl)).status, 401)
  })
})

test('a silent database is reported, along with all that the process knows by itself', async () => {
  const database = await freshDatabase()
  await using road = await openRoad(database.url)
  await using gateway = await startGateway({
    database: road.url,
    config: 'ledger: { beat: 0.2s, dead_after: 1s }',
  })
  const key = await gateway.key('demo', 'sandbox-chat')
  const token = await accessToken(gateway, ['usage:read'])
  const stranger = await accessToken(gateway, ['usage:read', 'requests:read'])
  assert.equal(await callSandbox(gateway.url, key), 200)
  const before = await exposeAfter(gateway, token, 1)
  assert.equal(before.sum('tollgate_ledger_readable'), 1)
  road.block()
  const askedAt = Date.now()
  const silent = await expose(gateway, token)
  assert.ok(Date.now() - askedAt < SCRAPE_MS_MAX)
  assert.equal(silent.sum('tollgate_ledger_readable'), 0)
  assert.equal(silent.sum('tollgate_requests_total'), 1)
  const books = ['frame_spent_usd', 'keys', 'tokens_total', 'cost_usd']
  for (const name of books) assert.ok(!silent.kinds.has(`tollgate_${name}`), name)
  assert.equal((await scrape(gateway.url, stranger)).status, 503, 'it was never seen here')
  // A graceful stop would wait for the database for a while.
  await gateway.stop('SIGKILL')
  await database.drop()
})
