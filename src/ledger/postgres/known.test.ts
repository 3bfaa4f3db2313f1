// What a node still knows after another has written; the simulation decides on it with every known fault.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SAMPLE_ASK, sampleAccount } from '../../../test/samples/ledger-rows.ts'
import type { Batch, Item } from '../rules/batch.ts'
import { decide } from '../rules/decide.ts'
import { Known } from './known.ts'

const reserve: Item = { kind: 'reserve', holdId: 1, ask: SAMPLE_ASK }
const another: Item = { kind: 'reserve', holdId: 2, ask: SAMPLE_ASK }
const end: Item = { kind: 'void', keyId: 'key_a', groupId: null, holdId: 1, reason: 'a test' }
const refused: Item = { ...SAMPLE_ASK, kind: 'refused', count: 1 }

test('a hold is not known any more once another node has changed the books', () => {
  const known = new Known()
  readAndCommit(known, reserve, { read: 'mine 0', written: 'mine 1' })
  assert.ok(known.snapshotFor(batchOf(end), 0))

  // It may have charged the hold; three undisturbed batches later nobody else seems to write.
  readAndCommit(known, refused, { read: 'its own', written: 'mine 2' })
  for (let count = 0; count < 3; count++)
    readAndCommit(known, refused, { read: 'its own', written: 'mine 3' })
  assert.equal(known.snapshotFor(batchOf(end), 0), undefined)
  assert.ok(known.snapshotFor(batchOf(another), 0), 'its accounts are known')
})

/** Both accounts have the same version. */
function readAndCommit(
  known: Known,
  item: Item,
  { read, written }: { readonly read: string; readonly written: string },
): void {
  const accounts = [sampleAccount({ id: 'key_a' }), sampleAccount({ id: 'frame' })]
  const snapshot = { now: 0, accounts, holds: [], usage: [] }
  const seen = { snapshot, versions: [read, read] }
  known.sawSnapshot(seen, 0)
  known.committed(seen, decide(batchOf(item), snapshot).writes, written)
}

function batchOf(item: Item): Batch {
  return { nodeId: 1, items: [item], prices: [], isRetry: false }
}
