// What is remembered of refused calls: never a secret, never more than the bounds allow, and nothing lost in an outage.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { GatewayError, type ErrorCode } from '../core/errors.ts'
import { maskSecret, newPersonalToken, newSecret } from '../core/secret.ts'
import { HOUR_MS } from '../core/units.ts'
import type { NewRefusal, Refusals } from '../store/refusals.ts'
import type { Trace } from '../telemetry/trace.ts'
import { RefusalRecord } from './refusals.ts'

type Details = ConstructorParameters<typeof GatewayError>[2]
type Noted = Partial<Trace> & { readonly userAgent?: string; readonly details?: Details }

/** A record whose database is a list. */
function recordWith({ isAway }: { isAway(): boolean } = { isAway: () => false }) {
  const clock = { at: Date.UTC(2026, 9, 15, 12, 30), now: () => clock.at, monotonicMs: () => 0 }
  const written: Refusals[] = []
  const counted: string[] = []
  const warned: string[] = []
  const record = new RefusalRecord({
    clock,
    log: {
      ...{ info: () => {}, error: () => {}, flush: () => {} },
      warn: (event) => void warned.push(event),
    },
    ledger: {
      countRefused: ({ keyId, modelAsked }) => void counted.push(`${keyId} ${modelAsked}`),
    },
    keepMs: HOUR_MS,
    write: async (refusals) => {
      if (isAway()) throw new Error('the database is away')
      written.push(...refusals)
    },
    purge: async () => false,
  })
  const note = (code: ErrorCode, { userAgent, details = {}, ...trace }: Noted = {}) =>
    record.note({
      error: new GatewayError(code, 'no', details),
      trace: { requestId: 'req_1', endpoint: 'chat', ...trace },
      client: () => ({ userAgent, address: null }),
    })
  const rows = (): readonly NewRefusal[] => written.flatMap((each) => each.rows)
  return { record, note, written, rows, counted, warned, clock }
}

test('a refusal says what was asked, what was lacking, and who asked', async () => {
  const { record, note, rows, counted } = recordWith()
  const facts = {
    scope: 'key',
    limit: '1',
    spent: '0.5',
    held: '0.2',
    required: '0.93',
    period: 'day',
  }
  const details = { facts }
  note('key_budget_exceeded', { keyId: 'key_1', model: 'gpt-5', userAgent: 'curl/8', details })
  note('model_not_allowed', { keyId: 'key_1', details: { modelAsked: 'gtp-5' } })
  await record.stop()
  assert.deepEqual(rows()[0], {
    requestId: 'req_1',
    keyId: 'key_1',
    groupId: '',
    masked: null,
    code: 'key_budget_exceeded',
    scope: 'key',
    period: 'day',
    endpoint: 'chat',
    modelAsked: 'gpt-5',
    requiredNanodollars: 930_000_000n,
    remainingNanodollars: 300_000_000n,
    userAgent: 'curl/8',
    address: null,
    createdAt: Date.UTC(2026, 9, 15, 12, 30),
  })
  assert.equal(rows()[1]?.modelAsked, 'gtp-5')
  // Reports know no names that clients make up.
  assert.deepEqual(counted, ['key_1 gpt-5', 'key_1 '])
})

test('failures, and what is in the books, are no refusals', async () => {
  const { record, note, written, counted } = recordWith()
  for (const code of [
    'invalid_request',
    'not_found',
    'provider_rate_limited',
    'overloaded',
  ] as const)
    note(code, { keyId: 'key_1' })
  note('invalid_request', { keyId: 'key_1', details: { provider: { status: 403 } } })
  note('revoked_api_key', { keyId: 'key_1', costUsd: '0.1' })
  await record.stop()
  assert.deepEqual([written, counted], [[], []])
})

test('300 refusals of a key become 100 rows and a count', async () => {
  const { record, note, written, rows, clock } = recordWith()
  for (let call = 0; call < 150; call++) note('rate_limit_exceeded', { keyId: 'key_1' })
  await record.flush()
  for (let call = 0; call < 150; call++) note('rate_limit_exceeded', { keyId: 'key_1' })
  await record.flush()
  assert.equal(rows().length, 100)
  assert.equal(
    written.reduce((sum, { count }) => sum + count, 0),
    300,
  )
  clock.at += HOUR_MS
  note('rate_limit_exceeded', { keyId: 'key_1' })
  await record.stop()
  assert.equal(rows().length, 101)
})

test('all unknown keys share one count, and are in no report', async () => {
  const { record, note, written, counted } = recordWith()
  const masked = maskSecret(newSecret('live'))
  for (let call = 0; call < 120; call++) note('invalid_api_key', { details: { masked } })
  note('invalid_api_key')
  await record.stop()
  assert.deepEqual([written.length, written[0]?.keyId, written[0]?.count], [1, '', 121])
  assert.equal(written[0]?.rows[0]?.masked, masked)
  assert.deepEqual(counted, [])
})

test('an outage loses nothing that there is room for, and is told once', async () => {
  let isAway = true
  const { record, note, written, rows, warned } = recordWith({ isAway: () => isAway })
  for (let key = 0; key < 300; key++)
    for (let call = 0; call < 60; call++) note('rate_limit_exceeded', { keyId: `key_${key}` })
  await record.flush()
  await record.flush()
  assert.deepEqual(warned, ['refusals_delayed'])
  isAway = false
  await record.stop()
  assert.equal(rows().length, 10_000)
  assert.equal(
    written.reduce((sum, { count }) => sum + count, 0),
    18_000,
  )
})

test('more keys than there is room for are forgotten, and that is said', async () => {
  const { record, note, written, warned } = recordWith()
  for (let key = 0; key < 20_010; key++) note('rate_limit_exceeded', { keyId: `key_${key}` })
  await record.stop()
  assert.deepEqual([written.length, warned], [20_000, ['refusals_forgotten']])
})

test('no secret and no control character is kept, whatever a client sends', async () => {
  const { record, note, rows } = recordWith()
  const secrets = [
    ...[newSecret('live'), newSecret('test', 'acme'), newPersonalToken()],
    ...['sk-ant-api03-abcdefghijklmnop', 'AIzaSyAbcdefghijklmnopqrstu'],
  ]
  const noise = [
    '',
    ' ',
    '\0',
    '\r\n',
    '\u{1F600}',
    '\uD800',
    'é',
    'x'.repeat(190),
    'y'.repeat(5_000),
  ]
  for (let round = 0; round < 90; round++) {
    const pick = (from: readonly string[]): string =>
      from[randomBytes(1).readUInt8() % from.length] ?? ''
    const hostile = `${pick(noise)}${pick(noise)} ${pick(secrets)} ${pick(noise)}${pick(secrets)}`
    const details = { modelAsked: hostile }
    note('model_not_allowed', { keyId: 'key_1', userAgent: hostile, details })
  }
  await record.stop()
  assert.equal(rows().length, 90)
  for (const { modelAsked, userAgent } of rows()) {
    for (const text of [modelAsked ?? '', userAgent ?? '']) {
      assert.ok(text.length <= 200)
      assert.doesNotMatch(text, /\p{Cc}/u)
      assert.ok(text.isWellFormed())
      for (const secret of secrets) assert.ok(!text.includes(secret.slice(8, 24)), text)
    }
  }
})
