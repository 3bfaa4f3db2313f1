// The text about a key on a terminal states what applies to it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ShownKey } from './gateway.ts'
import { keyBlock } from './accounts.ts'

const NOW = Date.UTC(2026, 9, 15, 12)
const DAY = '2026-10-15T12:00:00.000Z'

const key: ShownKey = {
  ...{ id: 'key_1', name: 'shop', mode: 'live', status: 'active', group: null },
  ...{ environment: null, owner: null, owner_person: null, description: null, tags: [] },
  ...{ models: ['gpt-5'], callable_models: ['gpt-5'], permissions: ['chat'], when_tight: 'cap' },
  ...{ created_at: DAY, expires_at: null, last_used_at: null },
  ...{ revoked_at: null, revoked_reason: null },
  ...{ period: 'never', timezone: 'UTC', week_start: 'mon', resets_at: null },
  ...{ budget: null, remaining: null, top_up: '0', spent: '0', held: '0' },
  ...{ window: null, model_budgets: [], request_cost_max: null },
  ...{ rpm: null, tpm: null, concurrency: null },
  old_secret: {
    ...{ masked: 'tg_live_…abcd', valid_until: '2026-10-16T12:00:00.000Z', last_used_at: null },
  },
}

test('an old secret works for as long as its key does', () => {
  assert.match(keyBlock(key, NOW), /old secret +tg_live_…abcd works until/)
  const revoked: ShownKey = { ...key, status: 'revoked', revoked_at: DAY }
  assert.doesNotMatch(keyBlock(revoked, NOW), /works until/)
})
