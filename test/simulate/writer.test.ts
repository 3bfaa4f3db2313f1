// The writer, and the ledger above it, over a database that misbehaves: commits whose result is lost, connections that
// break, items it rejects, and answers that come too late.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { HOLDS_PER_NODE } from '../../src/ledger/nodes/membership.ts'
import type { Batch, BatchResult, Item } from '../../src/ledger/rules/batch.ts'
import { toCharge } from '../../src/ledger/rules/validation.ts'
import { DatabaseLedger } from '../../src/ledger/writer/database-ledger.ts'
import { type Done, Unavailable, Writer } from '../../src/ledger/writer/writer.ts'
import { FRAME_ID } from '../../src/store/database/tables.ts'
import { ask, granted, settlement } from '../contract/ledger-fixture.ts'
import { MemoryDatabase } from './memory-database.ts'
import { loadRules } from './rules.ts'

type Fate = 'fine' | 'lost before' | 'lost after' | 'fenced' | 'hangs' | 'refused'

/** Books in memory whose first batches meet these fates; later ones go well. */
const setUp = (...fates: readonly Fate[]) => setUpWith(HOLDS_PER_NODE, fates)

async function setUpWith(holdsPerNode: number, fates: readonly Fate[] = []) {
  const books = new MemoryDatabase(await loadRules(), {})
  for (const id of ['key_a', FRAME_ID]) books.openAccount(id, 10_000n)
  const batches: Batch[] = []
  const clock = { time: 0, now: () => 0, monotonicMs: () => clock.time }
  const hanging = Promise.withResolvers<void>()
  const writer = await Writer.start({
    clock,
    holdsPerNode,
    join: async () => books.join(),
    runner: {
      close: async () => {},
      async run(batch: Batch): Promise<BatchResult> {
        const fate = fates[batches.length] ?? 'fine'
        batches.push(batch)
        if (fate === 'hangs') await hanging.promise
        if (fate === 'lost before') throw new Unavailable('test')
        if (fate === 'fenced' && batch.nodeId !== null) books.fence(batch.nodeId)
        if (fate === 'refused' || batch.items.some((item) => item.kind === 'trim'))
          throw new RangeError('will not have it')
        const result = books.run(batch, 0)
        if (fate === 'lost after') throw new Unavailable('test')
        return result
      },
    },
  })
  const submit = (first: boolean): Promise<Done> =>
    writer.submit({
      item: { kind: 'reserve', holdId: writer.newHoldId(), ask: ask('key_a', 100) },
      timeoutMs: 5000,
      first,
    })
  const reserve = (): Promise<Done> => submit(false)
  const reserveFirst = (): Promise<Done> => submit(true)
  const onFreed = (then: () => void): void => {
    writer.onFreed = then
  }
  return { books, batches, clock, writer, reserve, reserveFirst, onFreed, letGo: hanging.resolve }
}

function isGranted({ outcome }: Done): boolean {
  return outcome.kind === 'judged' && outcome.answer.reserved
}

describe('the writer', () => {
  for (const fates of [
    ['lost before'],
    ['lost after'],
    ['lost after', 'lost before', 'lost after'],
    ['fenced'],
    ['lost after', 'fenced'],
    ['fenced', 'lost after', 'fenced'],
  ] as const) {
    test(`answers every ask once: ${fates.join(', ')}`, async () => {
      const { books, writer, reserve } = await setUp(...fates)
      const answers = await Promise.all(Array.from({ length: 5 }, reserve))
      await writer.close()
      assert.ok(answers.every(isGranted))
      const open = [...books.holds.values()].filter(
        ({ id }) => books.nodes.get(nodeOf(id)) === 'live',
      )
      assert.equal(open.length, 5, 'five holds of a live node')
    })
  }

  test('takes a new number before the hold ids of the old one run out', async () => {
    const holdsPerNode = 3
    const { books, writer, reserve } = await setUpWith(holdsPerNode)
    for (let count = 0; count < 5; count++) assert.ok(isGranted(await reserve()))
    await writer.close()
    const ids = [...books.holds.keys()]
    assert.deepEqual(
      ids.map((id) => [Math.floor(id / holdsPerNode), id % holdsPerNode]),
      [
        [1, 1],
        [1, 2],
        [2, 1],
        [2, 2],
        [3, 1],
      ],
    )
  })

  test('items that arrive while a batch is in flight form the next one', async () => {
    const { batches, reserve, letGo, writer } = await setUp('hangs')
    const first = reserve()
    await turn()
    const others = Array.from({ length: 10 }, reserve)
    await turn()
    letGo()
    await Promise.all([first, ...others])
    await writer.close()
    assert.deepEqual(
      batches.map(({ items }) => items.length),
      [1, 10],
    )
  })

  test('waiting asks join the batch that frees budget, and push nothing out of it', async () => {
    const { batches, reserve, reserveFirst, onFreed, letGo, writer } = await setUp('hangs')
    const first = reserve()
    await turn()
    const asks = Array.from({ length: 100 }, reserve)
    const holdId = writer.nodeId * HOLDS_PER_NODE + 1
    const item: Item = { kind: 'void', keyId: 'key_a', groupId: null, holdId, reason: 'test' }
    const freed = writer.submit({ item, timeoutMs: 5000 })
    onFreed(() => asks.push(...Array.from({ length: 256 }, reserveFirst)))
    letGo()
    await Promise.all([first, freed])
    await Promise.all(asks)
    await writer.close()
    assert.deepEqual(
      batches.map(({ items }) => items.length),
      [1, 1 + 256 + 100],
    )
    assert.equal(batches[1]?.items[0], item)
  })

  test('an extension whose result is lost is not made twice, and leaves nothing to be tried', async () => {
    const { books, batches, writer, reserve } = await setUp('fine', 'lost after')
    const { outcome } = await reserve()
    assert.ok(outcome.kind === 'judged' && outcome.answer.reserved)
    const { holdId, amountNanodollars: held } = outcome.answer
    const item: Item = { kind: 'extend', keyId: 'key_a', groupId: null, holdId, extra: 50n }
    await assert.rejects(writer.submit({ item, timeoutMs: 5000 }), Unavailable)
    await writer.close()
    assert.equal(batches.length, 2)
    assert.equal(books.holds.get(holdId)?.heldNanodollars, held + 50n)
    assert.equal(writer.isFailing, false, 'or no request would be admitted any more')
  })

  test('an item that the database refuses fails alone', async () => {
    const { writer, reserve } = await setUp()
    const bad: Item = { kind: 'trim', keyId: 'key_a', groupId: null, holdId: 1, amount: 0n }
    const answers = await Promise.allSettled([
      reserve(),
      writer.submit({ item: bad, timeoutMs: 5000 }),
      reserve(),
    ])
    await writer.close()
    assert.deepEqual(
      answers.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    )
  })

  test('an ask that times out leaves no hold', async () => {
    const { books, clock, reserve, letGo, writer } = await setUp('hangs')
    const answer = reserve()
    await turn()
    clock.time = 6000
    await assert.rejects(answer, Unavailable)
    letGo()
    await writer.close()
    assert.equal(books.holds.size, 0)
    assert.deepEqual(
      [...books.usage.values()].map(({ state }) => state),
      ['voided'],
    )
  })

  for (const failures of [1, 2])
    test(`an ask that times out after a lost commit and ${failures} more leaves no hold, and waiting asks are woken`, async () => {
      const fates = Array.from({ length: failures }, () => 'lost before' as const)
      const { books, clock, reserve, onFreed, writer } = await setUp('lost after', ...fates)
      let timesFreed = 0
      onFreed(() => (timesFreed += 1))
      const answer = reserve()
      clock.time = 4999
      await turn()
      clock.time = 6000
      await assert.rejects(answer, Unavailable)
      await writer.close()
      assert.equal(books.holds.size, 0)
      assert.ok(timesFreed > 0)
    })

  test('an ask that the database refuses after a lost commit leaves no hold', async () => {
    const { books, writer, reserve } = await setUp('lost after', 'refused')
    await assert.rejects(reserve(), RangeError)
    await writer.close()
    assert.deepEqual(
      [...books.usage.values()].map(({ state }) => state),
      ['voided'],
    )
    assert.equal(books.holds.size, 0)
  })

  test('a full queue takes no asks, but takes items that must reach the books', async () => {
    const { books, reserve, letGo, writer } = await setUp('hangs')
    const first = reserve()
    await turn()
    const asks = Promise.allSettled(Array.from({ length: 20_000 }, reserve))
    await assert.rejects(reserve(), Unavailable)
    const holdId = writer.nodeId * HOLDS_PER_NODE + 1
    const item: Item = { kind: 'void', keyId: 'key_a', groupId: null, holdId, reason: 'test' }
    const late = writer.submit({ item, timeoutMs: Infinity })
    letGo()
    await Promise.all([first, late])
    assert.equal(books.usage.get(holdId)?.state, 'voided')
    await asks
    await writer.close()
  })

  test('a closed writer takes no asks', async () => {
    const { writer, reserve } = await setUp()
    await writer.close()
    await assert.rejects(reserve(), Unavailable)
  })
})

describe('the ledger', () => {
  const above = ({ writer, clock }: Awaited<ReturnType<typeof setUp>>): DatabaseLedger =>
    new DatabaseLedger({
      clock,
      writer,
      readBalances: async () => undefined,
      spool: undefined,
      writeLatencies: async () => {},
      isBeating: () => true,
      stopMaintenance: async () => {},
      leave: async () => {},
    })

  test('a void that is late is in the books as soon as the database answers, and leaves nothing in memory', async () => {
    const database = await setUp('fine', 'fine', 'hangs')
    const { books, clock, letGo } = database
    const ledger = above(database)
    const holds = [
      granted(await ledger.reserve(ask('key_a', 100))),
      granted(await ledger.reserve(ask('key_a', 100))),
    ]
    const voids = []
    for (const { holdId } of holds) {
      // The first is on its way when its time is up, the second still in the queue.
      voids.push(ledger.void(holdId, 'test'))
      await turn()
      await turn()
    }
    clock.time = 2001
    await Promise.all(voids)
    assert.ok(
      holds.every(({ holdId }) => ledger.owns(holdId)),
      'no sweep may take them for forgotten',
    )
    letGo()
    await ledger.close()
    assert.equal(books.holds.size, 0)
    assert.ok(holds.every(({ holdId }) => !ledger.owns(holdId)))
  })

  test('a void that finds no hold leaves nothing in memory', async () => {
    const database = await setUp()
    const ledger = above(database)
    const asked = ask('key_a', 100)
    const hold = granted(await ledger.reserve(asked))
    const settle: Item = { kind: 'settle', charge: toCharge(settlement(asked, hold)) }
    database.books.run({ nodeId: null, items: [settle], prices: [], isRetry: false }, 0)
    await ledger.void(hold.holdId, 'test')
    assert.ok(!ledger.owns(hold.holdId))
    await ledger.close()
  })

  test('a void that the database refuses is not tried again', async () => {
    const database = await setUp('fine', 'refused')
    const ledger = above(database)
    const { holdId } = granted(await ledger.reserve(ask('key_a', 100)))
    await assert.rejects(ledger.void(holdId, 'test'), RangeError)
    assert.ok(!ledger.owns(holdId), 'the sweep may charge it')
    await ledger.close()
    assert.equal(database.batches.length, 2)
  })
})

function nodeOf(holdId: number): number {
  return Math.floor(holdId / HOLDS_PER_NODE)
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
}
