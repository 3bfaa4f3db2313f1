// The admin plane of a real process is reached beside the data plane or at its own address, and is not loaded before
// the first request for it.
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { Browser, tokenOf } from '../../support/browser.ts'
import { startGateway, type TestGateway } from '../../support/gateway.ts'
import { freshDatabase } from '../../support/postgres/postgres.ts'
import { callSandbox } from '../../support/sandbox.ts'
import { until } from '../../support/until.ts'

/** The connections of one pool; one of them may be listening for changes. */
const POOL_SIZE = 10

/** The browser of the first administrator. */
async function signedUp(gateway: TestGateway): Promise<Browser> {
  const [, link = ''] = await gateway.printed(/(http\S+\/welcome#\S+)/)
  const ann = new Browser(gateway.url)
  const person = { name: 'Ann', email: 'ann@example.com', password: 'correct horse battery' }
  await ann.post('/links/use', { token: tokenOf(link), ...person })
  return ann
}

const status = async (url: string): Promise<number> => (await fetch(url)).status

test('it opens the database that the data plane started with, however late its first request comes', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-'))
  const config = (database: string) => `database: sqlite:${database}.db\n`
  const env = { TOLLGATE_DATABASE: '' }
  await using gateway = await startGateway({ folder, config: config('first'), env })
  const [, link = ''] = await gateway.printed(/(http\S+\/welcome#\S+)/)
  writeFileSync(join(folder, 'tollgate.yaml'), config('second'))
  await gateway.logged('configuration_reloaded')
  const looked = await new Browser(gateway.url).post('/links/look', { token: tokenOf(link) })
  assert.deepEqual([looked.status, looked.json.kind], [200, 'setup'])
  assert.ok(!existsSync(join(folder, 'second.db')))
  await gateway.stop()
  rmSync(folder, { recursive: true })
})

test('lists that keep PostgreSQL busy keep no call waiting', async () => {
  const database = await freshDatabase()
  await using gateway = await startGateway({ database: database.url })
  const unseen = await gateway.key('unseen', 'sandbox-chat')
  const ann = await signedUp(gateway)
  const locks = await connected(database.url)
  const looks = await connected(database.url)
  await locks.query('BEGIN; LOCK TABLE audit')
  const lists = Promise.all(Array.from({ length: 2 * POOL_SIZE }, () => ann.get('/audit')))
  const waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'relation'"
  await until(async () => (await looks.query(waiting)).rows.length >= POOL_SIZE - 1)
  assert.equal(await callSandbox(gateway.url, unseen), 200)
  await Promise.all([locks.end(), looks.end()])
  await lists
  await gateway.stop()
  await database.drop()
})

test('HEAD is answered wherever GET is, with its headers and without a body', async () => {
  await using gateway = await startGateway()
  const ann = await signedUp(gateway)
  const secret = await gateway.key('heads', 'sandbox-chat')
  const bearer = { authorization: `Bearer ${secret}` }
  const stored = await fetch(`${gateway.url}/v1/responses`, {
    method: 'POST',
    headers: { ...bearer, 'content-type': 'application/json' },
    body: '{"model":"sandbox-chat","input":"Say hello"}',
  })
  const { id } = (await stored.json()) as { id: string }
  const cookie = { cookie: ann.cookieHeader() }
  for (const [path, headers, status] of [
    ['/v1/models', bearer, 200],
    ['/v1/models/sandbox-chat', bearer, 200],
    ['/v1/models/none', bearer, 404],
    ['/v1/models', {}, 401],
    ['/v1/key', bearer, 200],
    [`/v1/requests/${stored.headers.get('x-request-id')}`, bearer, 200],
    [`/v1/responses/${id}`, bearer, 200],
    [`/v1/responses/${id}/input_items`, bearer, 200],
    ['/v1/nothing', bearer, 404],
    ['/healthz', {}, 200],
    ['/readyz', {}, 200],
    ['/admin/api/v1/keys', cookie, 200],
    ['/admin/api/v1/keys', {}, 401],
    ['/admin/api/v1/frame', cookie, 200],
    ['/nothing.js', {}, 404],
  ] as const) {
    const [get, head] = await Promise.all(
      ['GET', 'HEAD'].map((method) => fetch(gateway.url + path, { method, headers })),
    )
    const [body, none] = [await get?.text(), await head?.text()]
    assert.deepEqual([get?.status, head?.status, none], [status, status, ''], path)
    assert.notEqual(body, '')
    assert.deepEqual(lasting(head?.headers), lasting(get?.headers), path)
  }
  await gateway.stop()
})

/** The headers that are the same in two answers to the same question. */
function lasting(headers: Headers | undefined): Record<string, string> {
  const changing =
    /^(?:date|connection|keep-alive|x-request-id|x-ratelimit-.*|x-tollgate-budget-.*)$/
  const kept = [...(headers ?? [])].filter(([name]) => !changing.test(name))
  return Object.fromEntries(kept)
}

async function connected(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return client
}

describe('on the port of the data plane', () => {
  let gateway: TestGateway
  before(async () => {
    gateway = await startGateway()
  })
  after(() => gateway[Symbol.asyncDispose]())

  test('the API answers, and treats everyone as signed out', async () => {
    const response = await fetch(`${gateway.url}/admin/api/v1/keys`)
    assert.equal(response.status, 401)
    assert.equal(response.headers.get('cache-control'), 'no-store')
    const { error } = (await response.json()) as { error: Record<string, unknown> }
    assert.equal(error['code'], 'not_signed_in')
    // The log has the request under the id the caller received.
    const line = await gateway.logged(String(error['request_id']))
    assert.equal(line['status'], 401)
  })

  test('a key of the data plane gives no access', async () => {
    const secret = await gateway.key('no-person', 'sandbox-chat')
    const headers = { authorization: `Bearer ${secret}`, 'x-api-key': secret }
    const response = await fetch(`${gateway.url}/admin/api/v1/keys`, { headers })
    assert.equal(response.status, 401)
  })

  test('every step from the first link to a revoked key works and is on record', async () => {
    const ann = await signedUp(gateway)
    const { json: key } = await ann.post('/keys', {
      name: 'story',
      models: ['sandbox-chat'],
      budget: '5',
    })
    const call = async (secret: string): Promise<number> => {
      const response = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
        body: '{"model":"sandbox-chat","messages":[{"role":"user","content":"Hello"}]}',
      })
      return response.status
    }
    const set = async (budget: string): Promise<void> => {
      const { headers } = await ann.get(`/keys/${key.id}`)
      const version = { 'if-match': headers.get('etag') ?? '' }
      const changed = await ann.send('PATCH', `/keys/${key.id}`, {
        body: { budget },
        headers: version,
      })
      assert.equal(changed.status, 200)
    }
    assert.equal(await call(key.secret), 200)
    const { json: usage } = await ann.get(`/keys/${key.id}/usage`)
    assert.equal(usage.total.requests, 1)
    assert.equal((await ann.get(`/keys/${key.id}`)).json.spent, usage.total.cost)

    await set('0')
    assert.equal(await call(key.secret), 402)
    const { json: verdict } = await ann.get(`/keys/${key.id}/limits`)
    assert.deepEqual(
      [verdict.blocked_by.code, verdict.blocked_by.scope],
      ['key_budget_exceeded', 'key'],
    )
    const { required, ...shortage } = verdict.blocked_by.shortage
    assert.ok(Number(required) > 0)
    assert.deepEqual(shortage, { remaining: '0', affordable_output_tokens: null })
    await set('6')
    assert.equal(await call(key.secret), 200)

    const { json: rotated } = await ann.post(`/keys/${key.id}/rotate`, { overlap_seconds: 0 })
    assert.deepEqual([await call(key.secret), await call(rotated.secret)], [401, 200])
    await gateway.tollgate('keys', 'pause', 'story')
    await ann.post(`/keys/${key.id}/revoke`, { reason: 'the story is over' })
    assert.equal(await call(rotated.secret), 401)

    const { json: activity } = await ann.get(`/keys/${key.id}/activity`)
    const steps = activity.entries.map((entry: { action: string; source: string }) => [
      entry.action,
      entry.source,
    ])
    assert.deepEqual(steps, [
      ['key.revoke', 'ui'],
      ['key.pause', 'cli'],
      ['key.rotate', 'ui'],
      ['key.change', 'ui'],
      ['key.change', 'ui'],
      ['key.create', 'ui'],
    ])
  })

  test('it shuts down with the rest', async () => {
    const { code } = await gateway.stop()
    assert.equal(code, 0)
  })
})

describe('at its own address', () => {
  let gateway: TestGateway
  let adminUrl = ''
  before(async () => {
    gateway = await startGateway({ config: 'admin: { listen: "127.0.0.1:0" }\n' })
    adminUrl = String((await gateway.logged('admin_listening'))['url'])
  })
  after(() => gateway[Symbol.asyncDispose]())

  test('each plane answers only at its own address', async () => {
    assert.equal(await status(`${adminUrl}/admin/api/v1/keys`), 401)
    assert.equal(await status(`${gateway.url}/admin/api/v1/keys`), 404)
    assert.equal(await status(`${gateway.url}/v1/models`), 401)
    assert.equal(await status(`${adminUrl}/v1/models`), 404)
  })

  test('both planes report their health', async () => {
    assert.deepEqual(
      [await status(`${adminUrl}/healthz`), await status(`${gateway.url}/readyz`)],
      [200, 200],
    )
  })
})
