// The text about a key on a terminal states what applies to it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Key } from '../../store/keys/keys.ts'
import { keyBlock } from './accounts.ts'

const NOW = Date.UTC(2026, 9, 15, 12)

const key: Key = {
  ...{ id: 'key_1', name: 'shop', mode: 'live', status: 'active' },
  ...{ environment: null, owner: null, description: null, tags: [] },
  ...{ models: ['gpt-5'], permissions: ['chat'], whenTight: 'cap' },
  ...{
    createdAt: NOW,
    expiresAt: null,
    lastUsedAt: null,
    revokedAt: null,
    revokedReason: null,
    pausedBy: null,
  },
  ...{ alertThresholds: [], expiryReminders: [], allowVersion: 1, version: 1 },
  ...{ groupId: null, group: null, groupVersion: 0, ownerPersonId: null, ownerPerson: null },
  ...{ framePeriodSeq: 0, frameSpentNanodollars: 0n },
  ...{ period: 'never', timezone: 'UTC', weekStart: 'mon', periodStartsAt: NOW, resetsAt: null },
  ...{ limitNanodollars: null, remainingNanodollars: null, topUpNanodollars: 0n },
  ...{ window: null, modelBudgets: [], requestCostMaxNanodollars: null },
  ...{ spentNanodollars: 0n, heldNanodollars: 0n, rpm: null, tpm: null, concurrency: null },
}
const old = { masked: 'tg_live_…abcd', validUntil: NOW + 86_400_000, lastUsedAt: null }

test('an old secret works for as long as its key does', () => {
  assert.match(keyBlock(key, NOW, old), /old secret +tg_live_…abcd works until/)
  const revoked: Key = { ...key, status: 'revoked', revokedAt: NOW }
  assert.doesNotMatch(keyBlock(revoked, NOW, old), /works until/)
})
