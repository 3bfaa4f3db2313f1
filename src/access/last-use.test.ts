// The last use of keys and secrets: gathered, written together, and never a reason to fail.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { Used } from '../store/last-use.ts'
import { LastUse } from './last-use.ts'

const clock = { at: 0, now: () => clock.at, monotonicMs: () => 0 }

/** What is written of these uses, one a moment, when the gatherer stops. */
async function writtenOf(uses: readonly { keyId: string; secretHash: string | null }[]) {
  const written: Used[] = []
  const lastUse = new LastUse(clock, async (used) => void written.push(used))
  clock.at = 0
  for (const use of uses) {
    clock.at += 1
    lastUse.note(use)
  }
  await lastUse.stop()
  await lastUse.stop()
  return written
}

test('the last use of each key and secret is written once', async () => {
  const written = await writtenOf([
    { keyId: 'key_a', secretHash: 'old' },
    { keyId: 'key_b', secretHash: null },
    { keyId: 'key_a', secretHash: 'new' },
  ])
  const keys = new Map([
    ['key_a', 3],
    ['key_b', 2],
  ])
  const secrets = new Map([
    ['old', 1],
    ['new', 3],
  ])
  assert.deepEqual(written, [{ keys, secrets }])
})

test('nothing is written if nothing was used', async () => {
  assert.deepEqual(await writtenOf([]), [])
})

test('an unreachable database causes no failure', async () => {
  const lastUse = new LastUse(clock, () => Promise.reject(new Error('away')))
  lastUse.note({ keyId: 'key_a', secretHash: null })
  await lastUse.stop()
})
