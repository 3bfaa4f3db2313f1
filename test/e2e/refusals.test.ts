// Refused calls, seen from outside: each leaves a row that says why, and none a word of what was sent.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { maskSecret, newSecret } from '../../src/core/secret.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'

type Row = Readonly<Record<string, unknown>>

let gateway: TestGateway
let secret = ''

before(async () => {
  const config = 'server: { trusted_proxies: [127.0.0.1] }\nrefusals: { address: prefix }\n'
  gateway = await startGateway({ config })
  secret = await gateway.key(
    'poor',
    'sandbox-chat',
    '--budget',
    '0.000001',
    '--when-tight',
    'refuse',
  )
})
after(() => gateway.stop())

const PROMPT = 'a prompt that nobody may keep'

async function ask(
  key: string,
  body: object = {},
  path = '/v1/chat/completions',
): Promise<Response> {
  const messages = [{ role: 'user', content: PROMPT }]
  return fetch(gateway.url + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'user-agent': `shop/1.0 ${secret}`,
      'x-forwarded-for': '198.51.100.77',
    },
    body: JSON.stringify({ model: 'sandbox-chat', messages, ...body }),
  })
}

/** Once there are so many. */
async function refusals(count: number, ...words: string[]): Promise<readonly Row[]> {
  let rows: readonly Row[] = []
  await until(async () => {
    rows = (await gateway.tollgate('refusals', '--limit', '500', ...words))[
      'refusals'
    ] as readonly Row[]
    return rows.length >= count
  })
  return rows
}

test('each refusal leaves a row with its code, what was lacking and who asked', async () => {
  const stranger = newSecret('live')
  const answers = [
    await ask(secret),
    await ask(secret, { model: `gpt-${secret}` }),
    await ask(stranger),
    await ask('sk-somebody-elses-key-1234567890'),
    await ask(secret, { messages: 'wrong' }),
    await ask(secret, {}, '/v1/nothing'),
  ]
  assert.deepEqual(
    answers.map(({ status }) => status),
    [402, 403, 401, 401, 400, 404],
  )
  const rows = await refusals(4)
  const id = answers[0]?.headers.get('x-request-id')
  assert.deepEqual(
    rows.toReversed().map(({ code, key_name: name, masked }) => [code, name, masked]),
    [
      ['key_budget_exceeded', 'poor', null],
      ['model_not_allowed', 'poor', null],
      ['invalid_api_key', null, maskSecret(stranger)],
      ['invalid_api_key', null, null],
    ],
  )
  const budget = rows.at(-1) ?? {}
  assert.partialDeepStrictEqual(budget, {
    id,
    ...{ scope: 'key', endpoint: 'chat', model: 'sandbox-chat', remaining: '0.000001' },
    ...{ address: '198.51.100.0/24', user_agent: 'shop/1.0 tg_[redacted]', further: 0 },
  })
  assert.ok(Number(budget['required']) > 0.000001)
  const text = JSON.stringify(rows)
  for (const never of [PROMPT, secret, stranger, 'somebody-elses', '198.51.100.77'])
    assert.ok(!text.includes(never), never)
})

test('of 300 refusals of a key 100 are listed, and the report counts them all, apart from failures', async () => {
  const loud = await gateway.key('loud', 'sandbox-chat')
  for (let round = 0; round < 30; round++)
    await Promise.all(Array.from({ length: 10 }, () => ask(loud, { model: 'none' })))
  const rows = await refusals(100, '--key', 'loud', '--code', 'model_not_allowed')
  assert.equal(rows.length, 100)
  await until(async () => {
    const listed = await refusals(100, '--key', 'loud')
    return listed.some(({ further }) => further === 200)
  })
  await until(async () => {
    const { total } = await gateway.tollgate('usage', '--key', 'loud')
    const { requests, failed, refused } = total as Row
    return requests === 300 && failed === 0 && refused === 300
  })
})

test('what is refused just before the gateway stops is written', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-refusals-'))
  const other = await startGateway({ folder })
  const response = await fetch(`${other.url}/v1/models`)
  assert.equal(response.status, 401)
  await other.stop()
  const rows = (await other.tollgate('refusals'))['refusals'] as readonly Row[]
  rmSync(folder, { recursive: true })
  assert.deepEqual(
    rows.map(({ code, key, endpoint }) => [code, key, endpoint]),
    [['invalid_api_key', null, 'models']],
  )
})
