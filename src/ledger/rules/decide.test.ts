// Decisions that span several batches; the contract tests and the simulation cover everything else.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SAMPLE_ASK, sampleAccount } from '../../../test/samples/ledger-rows.ts'
import type { Item, Snapshot } from './batch.ts'
import { decide } from './decide.ts'
import { packWindow, unpackWindow } from './rates.ts'

const NOON = Date.UTC(2026, 10, 15, 12)

test('a clock set back slows a key for a minute, not until the old time returns', () => {
  let packed = `${NOON / 1000},1,0;1,1,0`
  const anHourEarlier = NOON - 3_600_000
  const answers = [0, 30_000, 60_999, 61_000].map((passed) => {
    const snapshot = pageAt(anHourEarlier + passed, packed)
    const { outcomes, writes } = decide(
      { nodeId: 1, items: [reserve], prices: [], isRetry: false },
      snapshot,
    )
    for (const { id, rateWindow } of writes.accounts)
      if (id === 'key_a') packed = packWindow(rateWindow)
    const [outcome] = outcomes
    return outcome?.kind === 'judged' && outcome.answer.reserved
  })
  assert.deepEqual(answers, [false, false, false, true])
})

test('a retried ask gets its existing hold, and is refused once another node has charged it', () => {
  const { outcomes, writes } = decided(reserve)
  const { accounts, holdsInserted: holds } = writes
  assert.equal(holds.length, 1)

  const again = decided(reserve, { accounts, holds })
  assert.deepEqual([again.outcomes, again.writes.holdsInserted], [outcomes, []])

  const { usageInserted: usage } = decided(orphan, { accounts, holds }).writes
  const late = decided(reserve, { accounts, usage })
  const unavailable = { kind: 'judged', answer: { reserved: false, reason: 'unavailable' } }
  assert.deepEqual([late.outcomes, late.writes.holdsInserted], [[unavailable], []])
})

test('the estimate of a voided request leaves the rate window, and that of an orphan stays', () => {
  const voided: Item = { kind: 'void', keyId: 'key_a', groupId: null, holdId: 1, reason: 'a test' }
  for (const [item, tokens] of [
    [voided, 0],
    [orphan, 50],
  ] as const) {
    const { accounts, holdsInserted: holds } = decided(reserve).writes
    decided(item, { accounts, holds })
    assert.equal(accounts.find(({ id }) => id === 'key_a')?.rateWindow.tokens, tokens, item.kind)
  }
})

test('a charge corrected twice counts only its last overrun', () => {
  const { accounts, holdsInserted: holds } = decided(reserve).writes
  let usage = decided(orphan, { accounts, holds }).writes.usageInserted
  const note = { entryId: 'entry_1', actor: 'a test', reason: 'a test' }
  const overruns = [150n, 120n, 0n].map((cost) => {
    const adjust: Item = { kind: 'adjust', keyId: 'key_a', groupId: null, holdId: 1, cost, note }
    usage = decided(adjust, { accounts, usage }).writes.usageCorrected
    return accounts.map(({ spent, overrun }) => [spent, overrun])
  })
  // Nothing was held for it, so all of it is an overrun, on the key and on the frame.
  assert.deepEqual(
    overruns,
    [150n, 120n, 0n].map((cost) => Array(2).fill([cost, cost])),
  )
})

/** One item alone, in books that have one key, what is told, and nothing else. */
function decided(item: Item, known: Partial<Snapshot> = {}) {
  const batch = { nodeId: 1, items: [item], prices: [], isRetry: true }
  return decide(batch, { ...pageAt(NOON, ''), ...known })
}

const reserve: Item = { kind: 'reserve', holdId: 1, ask: { ...SAMPLE_ASK, estimatedTokens: 50 } }
const orphan: Item = { kind: 'orphan', keyId: 'key_a', groupId: null, holdId: 1 }

function pageAt(now: number, packed: string): Snapshot {
  const key = sampleAccount({ id: 'key_a', rpm: 2, rateWindow: unpackWindow(packed, now) })
  const frame = sampleAccount({ id: 'frame' })
  return { now, accounts: [key, frame], holds: [], usage: [] }
}
