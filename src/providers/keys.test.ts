// Keys by turns: one that the provider refuses is told to the operator once, not with every request that passes it over.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { LogFields } from '../telemetry/log.ts'
import { Keys } from './keys.ts'
import type { UpstreamAnswer } from './provider.ts'

const REST_MS = 10_000

test('a refused key is an error line when that begins, and again after it was good', async () => {
  const lines: unknown[] = []
  const clock = { at: 0, now: () => 0, monotonicMs: () => clock.at }
  const log = { error: (event: string, fields?: LogFields) => void lines.push([event, fields]) }
  const keys = new Keys({ name: 'local', apiKeys: ['first-aaaa', 'other-bbbb'] }, { clock, log })
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

function answerOf(status: number): UpstreamAnswer {
  return { status, headers: new Map<string, string>(), body: (async function* () {})() }
}
