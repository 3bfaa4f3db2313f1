// `tollgate probe` as the owner of an application runs it: against a gateway that meets the specification, and against
// others.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Server } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { COMMAND, startGateway } from '../../support/gateway.ts'
import type { TestGateway } from '../../support/gateway.ts'
import type { Ended } from '../../support/process.ts'
import { bareEnv, run } from '../../support/process.ts'

type Report = {
  readonly ok: boolean
  readonly checks: readonly { check: string; outcome: string; expected: string; seen: string }[]
}

function probe(url: string, key: string | undefined, ...more: string[]): Promise<Ended> {
  const env = {
    ...bareEnv,
    ...(key === undefined ? {} : { TOLLGATE_API_KEY: key }),
  }
  return run(process.execPath, [COMMAND, 'probe', '--url', url, ...more], {
    env,
  })
}

describe('a gateway that meets the specification', () => {
  let gateway: TestGateway
  before(async () => {
    gateway = await startGateway()
  })
  after(() => gateway.stop())

  test('every check passes except those that need another key', async () => {
    const key = await gateway.key('whole', 'sandbox-chat,sandbox-embedding')
    const ended = await probe(gateway.url, key)
    assert.equal(ended.code, 0, ended.stdout)
    assert.equal(ended.stderr, '')
    assert.match(ended.stdout, /^ {2}✓ POST \/v1\/chat\/completions {2,}200 application\/json$/m)
    assert.match(ended.stdout, /^ {2}✓ POST \/v1\/messages, streamed {2,}200 text\/event-stream/m)
    assert.match(ended.stdout, /✓ POST \/v1\/embeddings with no key {2,}401 invalid_api_key$/m)
    assert.match(ended.stdout, /\n\d\d as specified, 0 not, 2 not tried\n$/)
    assert.ok(!ended.stdout.includes(key))
  })

  test('the address may end in /v1, and models may use any format', async () => {
    const key = await gateway.key('foreign', 'sandbox-reasoner@messages')
    const ended = await probe(`${gateway.url}/v1`, key, '--json')
    const { ok, checks } = JSON.parse(ended.stdout) as Report
    assert.equal(ok, true, ended.stdout)
    const embedding = checks.find(({ check }) => check === 'POST /v1/embeddings')
    assert.deepEqual(
      [embedding?.outcome, embedding?.seen],
      ['skipped', 'the key has no embedding model'],
    )
  })

  test('endpoints that the key may not call are skipped', async () => {
    const key = await gateway.key('narrow', 'sandbox-chat', '--permissions', 'models,chat')
    const ended = await probe(gateway.url, key, '--json')
    const { ok, checks } = JSON.parse(ended.stdout) as Report
    assert.equal(ok, true, ended.stdout)
    const messages = checks.find(({ check }) => check === 'POST /v1/messages')
    assert.deepEqual([messages?.outcome, messages?.seen], ['skipped', '403 endpoint_not_allowed'])
  })

  test('an unknown key is reported in one line', async () => {
    const ended = await probe(gateway.url, 'tg_live_wrong')
    assert.deepEqual([ended.code, ended.stdout], [1, ''])
    assert.match(ended.stderr, /rejects the key in TOLLGATE_API_KEY \(401 invalid_api_key\)/)
  })
})

test('a key in the other header passes if the operator allows either', async () => {
  await using gateway = await startGateway({ config: 'auth: { headers: either }' })
  const key = await gateway.key('whole', 'sandbox-chat,sandbox-embedding')
  const ended = await probe(gateway.url, key)
  assert.equal(ended.code, 0, ended.stdout)
})

test('a server that is no gateway fails check by check', async () => {
  const server: Server = createServer((request, response) => {
    if (request.url === '/v1/responses') return void request.socket.destroy()
    response.setHeader('content-type', 'application/json')
    response.end('{"object":"list","data":[{"id":"any"}]}')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  try {
    const ended = await probe(`http://127.0.0.1:${port}`, 'any', '--json')
    const { ok, checks } = JSON.parse(ended.stdout) as Report
    assert.deepEqual([ended.code, ok], [1, false])
    const outcomes = Object.fromEntries(checks.map(({ check, ...rest }) => [check, rest]))
    assert.equal(outcomes['GET /v1/models']?.outcome, 'passed')
    assert.deepEqual(outcomes['POST /v1/chat/completions'], {
      outcome: 'failed',
      expected: '200 with id, object chat.completion, choices',
      seen: '200 application/json',
    })
    assert.match(outcomes['POST /v1/responses']?.seen ?? '', /a connection that broke/)
    assert.equal(outcomes['GET /v1/models with no key']?.outcome, 'failed')
  } finally {
    server.close()
  }
})

describe('wrong usage', () => {
  test('an unreachable address gives one line and exit code 1', async () => {
    const ended = await probe('http://127.0.0.1:1', 'any')
    assert.equal(ended.code, 1)
    assert.match(ended.stderr, /^tollgate: no gateway answers at http:\/\/127\.0\.0\.1:1\/: .*\n$/)
    assert.equal(ended.stdout, '')
  })

  test('a missing key or a malformed address gives exit code 2', async () => {
    const keyless = await probe('http://127.0.0.1:1', undefined)
    assert.deepEqual(
      [keyless.code, keyless.stderr],
      [2, 'tollgate: set the environment variable TOLLGATE_API_KEY to the key to probe with\n'],
    )
    const odd = await probe('http://127.0.0.1:1', 'tg_live_1\ntg_live_2')
    assert.deepEqual(
      [odd.code, odd.stderr],
      [2, 'tollgate: TOLLGATE_API_KEY has a space, line break or letter that no key has\n'],
    )
    const nowhere = await probe('localhost', 'any')
    assert.equal(nowhere.code, 2)
    assert.match(nowhere.stderr, /--url must be an address/)
  })
})
