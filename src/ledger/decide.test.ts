// Decisions that span several batches; contracts and the simulation hold everything else about them.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { NO_COST } from '../catalog/tokens.ts'
import type { Account, Item, Page } from './books.ts'
import { decide } from './decide.ts'
import { packWindow, unpackWindow } from './rates.ts'

const NOON = Date.UTC(2026, 10, 15, 12)

test('a clock that is set back slows a key down for a minute, not until the old time comes again', () => {
  let packed = `${NOON / 1000},1,0;1,1,0`
  const anHourEarlier = NOON - 3_600_000
  const answers = [0, 30_000, 60_999, 61_000].map((passed) => {
    const page = pageAt(anHourEarlier + passed, packed)
    const { outcomes, writes } = decide(
      { nodeId: 1, items: [reserve], prices: [], isRetry: false },
      page,
    )
    for (const { id, rateWindow } of writes.accounts)
      if (id === 'key_a') packed = packWindow(rateWindow)
    const [outcome] = outcomes
    return outcome?.kind === 'judged' && outcome.answer.reserved
  })
  assert.deepEqual(answers, [false, false, false, true])
})

const reserve: Item = {
  kind: 'reserve',
  holdId: 1,
  ask: {
    requestId: 'req_1',
    keyId: 'key_a',
    allowVersion: 1,
    endpoint: 'models',
    modelAsked: '',
    worstCase: NO_COST,
    whenTight: 'cap',
    estimatedTokens: 0,
    recounted: true,
  },
}

function pageAt(now: number, packed: string): Page {
  const account = (id: string): Account => ({
    id,
    status: 'active',
    expiresAt: null,
    allowVersion: 1,
    limit: 0n,
    topUp: 0n,
    spent: 0n,
    held: 0n,
    overrun: 0n,
    grantedLimit: 0n,
    inFlight: 0,
    rpm: id === 'key_a' ? 2 : null,
    tpm: null,
    concurrency: null,
    period: 'never',
    timezone: 'UTC',
    weekStart: 'mon',
    periodSeq: 1,
    periodStartsAt: 0,
    periodEndsAt: null,
    rateWindow: unpackWindow(id === 'key_a' ? packed : '', now),
  })
  return { now, accounts: [account('key_a'), account('frame')], holds: [], usage: [] }
}
