// A token is fetched once and kept, and fetched again when it expires or has been revoked.
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import type { Clock } from '../../core/clock.ts'
import { GatewayError } from '../../core/errors.ts'
import { AccessTokens } from './access-tokens.ts'
import type { UpstreamAnswer } from './provider.ts'

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
