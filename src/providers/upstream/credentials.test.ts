// Keys in turn: which one a request is sent with, and which one cools down. A refused key is reported to the operator once,
// not with every request that passes it over. And access tokens that expire.
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import type { Clock } from '../../core/clock.ts'
import { GatewayError } from '../../core/errors.ts'
import type { LogFields } from '../../telemetry/log.ts'
import { AccessTokens, KeyPool } from './credentials.ts'
import { readWhole } from './http.ts'
import type { UpstreamAnswer } from './provider.ts'

const REST_MS = 10_000

test('a refused key is logged once, and again if it worked in between', async () => {
  const lines: unknown[] = []
  const clock = { at: 0, now: () => 0, monotonicMs: () => clock.at }
  const log = { error: (event: string, fields?: LogFields) => void lines.push([event, fields]) }
  const keys = new KeyPool({ name: 'local', apiKeys: ['first-aaaa', 'other-bbbb'] }, { clock, log })
  let refusal = 401
  const ask = () => keys.send(async (key) => answerOf(key === 'other-bbbb' ? refusal : 200))
  const askAll = async () => {
    for (let turn = 0; turn < 4; turn++) assert.equal((await ask()).status, 200)
    clock.at += REST_MS
  }

  await askAll()
  await askAll()
  const line = { provider: 'local', position: 2, ends_with: 'bbbb', status: 401 }
  assert.deepEqual(lines, [['provider_key_refused', line]])
  refusal = 200
  await askAll()
  refusal = 429
  await askAll()
  assert.equal(lines.length, 1, 'too many requests are no refusal')
  refusal = 403
  await askAll()
  assert.deepEqual(lines.slice(1), [['provider_key_refused', { ...line, status: 403 }]])
})

test('keys take turns, and a single key or no key is used every time', async () => {
  for (const [apiKeys, turns] of [
    [
      ['a', 'b', 'c'],
      ['a', 'b', 'c', 'a'],
    ],
    [['a'], ['a', 'a', 'a', 'a']],
    [undefined, [undefined, undefined, undefined, undefined]],
  ] as const) {
    const { ask } = setUp(apiKeys)
    const used: unknown[] = []
    for (const _ of turns) used.push(...(await ask()).used)
    assert.deepEqual(used, turns)
  }
})

test('a key that is turned away rests for as long as the provider asks, up to a limit', async () => {
  for (const [retryAfter, ms] of [
    [undefined, REST_MS],
    ['7', 7_000],
    ['100000', 600_000],
  ] as const) {
    const { ask, clock } = setUp(['a', 'b'])
    const turnedAway = { a: { status: 429, retryAfter } }
    assert.deepEqual(await ask(turnedAway), { status: 200, used: ['a', 'b'] })
    clock.at += ms - 1
    for (let turn = 0; turn < 2; turn++) assert.deepEqual((await ask()).used, ['b'])
    clock.at += 1
    assert.deepEqual([...(await ask()).used, ...(await ask()).used].map(String).toSorted(), [
      'a',
      'b',
    ])
  }
})

test('when the provider turns all keys away, all rest, and requests try only the key whose turn it is', async () => {
  const { ask } = setUp(['a', 'b', 'c'])
  const allAway = { a: { status: 429 }, b: { status: 403 }, c: { status: 401 } }
  assert.deepEqual(await ask(allAway), { status: 401, used: ['a', 'b', 'c'] })
  assert.deepEqual(await ask(allAway), { status: 403, used: ['b'] })
  assert.deepEqual(await ask(allAway), { status: 401, used: ['c'] })
  assert.deepEqual(await ask(allAway), { status: 429, used: ['a'] })
})

test('a request that is refused for its content is sent with no other key, and rests none', async () => {
  const lines: unknown[] = []
  const clock = { now: () => 0, monotonicMs: () => 0 }
  const log = { error: (event: string) => void lines.push(event) }
  const keys = new KeyPool({ name: 'local', apiKeys: ['a', 'b'] }, { clock, log })
  const refusal = JSON.stringify({ code: 'permission-denied', error: VIOLATION })
  const used: unknown[] = []
  const ask = () =>
    keys.send(async (key) => {
      used.push(key)
      return { ...answerOf(403), body: bodyOf(refusal) }
    })
  const { body } = await ask()
  assert.equal(String(await readWhole(body, 1_000)), refusal)
  await ask()
  await ask()
  assert.deepEqual([used, lines], [['a', 'b', 'a'], []])
})

const VIOLATION = 'Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO'

test('an answer that is retried with another key is closed', async () => {
  const { ask, open } = setUp(['a', 'b'])
  await ask({ a: { status: 401 } })
  assert.deepEqual(open, ['b'], 'whoever asked reads that one')
})

/** A pool, a clock, and a provider that answers each key with the given status, else with 200. */
function setUp(apiKeys: readonly string[] | undefined) {
  const clock = { at: 0, now: () => 0, monotonicMs: () => clock.at }
  const keys = new KeyPool({ name: 'local', apiKeys }, { clock, log: { error: () => {} } })
  const open: unknown[] = []
  const ask = async (
    told: Record<string, { status: number; retryAfter?: string | undefined }> = {},
  ) => {
    const used: unknown[] = []
    const { status } = await keys.send(async (key) => {
      used.push(key)
      open.push(key)
      const { status, retryAfter } = told[key ?? ''] ?? { status: 200 }
      const body = (async function* (): AsyncGenerator<Uint8Array> {
        yield* await Promise.resolve([])
        open.splice(open.indexOf(key), 1)
      })()
      const headers = new Map(retryAfter === undefined ? [] : [['retry-after', retryAfter]])
      return { status, headers, body }
    })
    return { status, used }
  }
  return { ask, clock, open }
}

function answerOf(status: number): UpstreamAnswer {
  return { status, headers: new Map<string, string>(), body: bodyOf('') }
}

async function* bodyOf(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text)
}

// A token is fetched once and kept, and fetched again when it expires or has been revoked.

const clock: Clock & { at: number } = { at: 0, now: () => 0, monotonicMs: () => clock.at }
let fetched = 0
let withdrawn: readonly string[] = []
const tokens = (): AccessTokens =>
  new AccessTokens(async () => ({ value: `token-${++fetched}`, expiresInSeconds: 3_600 }), clock)

beforeEach(() => {
  clock.at = 0
  fetched = 0
  withdrawn = []
})

async function provider(token: string): Promise<UpstreamAnswer> {
  const status = withdrawn.includes(token) ? 401 : 200
  return { status, headers: new Map([['token', token]]), body: nothing() }
}

async function* nothing(): AsyncIterable<Uint8Array> {}

test('one token is fetched for all waiting requests, and another shortly before it expires', async () => {
  const kept = tokens()
  const many = await Promise.all(Array.from({ length: 10 }, () => kept.current()))
  assert.deepEqual([...new Set(many)], ['token-1'])
  clock.at = 3_299_999
  assert.equal(await kept.current(), 'token-1')
  clock.at = 3_300_000
  assert.equal(await kept.current(), 'token-2')
})

test('a revoked token is replaced once for all requests that used it', async () => {
  const kept = tokens()
  await kept.send(provider)
  clock.at = 60_000
  withdrawn = ['token-1']
  const answers = await Promise.all([kept.send(provider), kept.send(provider)])
  assert.deepEqual(
    answers.map(({ status, headers }) => [status, headers.get('token')]),
    [
      [200, 'token-2'],
      [200, 'token-2'],
    ],
  )
  assert.equal(fetched, 2)
})

test('a provider that refuses even a fresh token is not retried over and over', async () => {
  const kept = tokens()
  withdrawn = ['token-1', 'token-2']
  assert.equal((await kept.send(provider)).status, 401)
  assert.equal(fetched, 1)
  clock.at = 60_000
  assert.equal((await kept.send(provider)).status, 401)
  assert.equal((await kept.send(provider)).status, 401)
  assert.equal(fetched, 2)
})

test('a failed sign-in costs nothing, and the next request tries again', async () => {
  let isDown = true
  const kept = new AccessTokens(async () => {
    if (isDown) throw new Error('down')
    return { value: 'token', expiresInSeconds: 3_600 }
  }, clock)
  await assert.rejects(
    kept.current(),
    (error) => error instanceof GatewayError && error.details.unbilled === true,
  )
  isDown = false
  assert.equal(await kept.current(), 'token')
})
