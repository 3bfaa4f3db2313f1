// Waiting asks are tried again in order, for as long as waiting can help, and no longer.
import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { SAMPLE_ASK } from '../../../test/samples/ledger-rows.ts'
import { NO_COST } from '../../catalog/worst-case.ts'
import type { Ask, Balances, Refused, Reserved } from '../ledger.ts'
import { Waiting } from './database-ledger.ts'

// Asks are also tried again by the clock: here only when a test says so, however long its own steps take.
mock.timers.enable({ apis: ['setInterval'] })

const heldUp: Reserved | Refused = {
  reserved: false,
  reason: 'held',
  shortage: {
    candidate: 0,
    scope: 'key',
    period: 'never',
    limitNanodollars: 1n,
    spentNanodollars: 0n,
    heldNanodollars: 1n,
    requiredNanodollars: 1n,
    affordableOutputTokens: null,
    resetsAt: null,
    also: [],
  },
  balances: {} as Balances,
}
const abandoned: Reserved | Refused = { reserved: false, reason: 'abandoned' }
const unavailable: Reserved | Refused = { reserved: false, reason: 'unavailable' }

function ask(requestId: string, signal?: AbortSignal): Ask {
  return { ...SAMPLE_ASK, requestId, ...(signal && { signal }) }
}

/** A queue whose asks are answered from a list, the last answer forever; it records each, `again` if it goes first. */
function queue(...answers: readonly (Reserved | Refused)[]) {
  const asked: string[] = []
  const clock = { time: 1000, now: () => 0, monotonicMs: () => clock.time }
  const waiting = new Waiting(async ({ requestId, isLastTry }, first) => {
    asked.push(`${requestId}${first ? ' again' : ''}${isLastTry === true ? ', last' : ''}`)
    return answers[Math.min(asked.length, answers.length) - 1] ?? unavailable
  }, clock)
  return { waiting, asked, clock }
}

/** Lets the callbacks of resolved promises run. */
const turn = () => new Promise((resolve) => setImmediate(resolve))

test('a refusal that waiting cannot change is returned at once', async () => {
  const { waiting, asked } = queue(unavailable)
  assert.deepEqual(await waiting.reserve(ask('one')), unavailable)
  assert.deepEqual(asked, ['one'])
})

test('waiting asks are retried in order, ahead of new ones, when something is freed', async () => {
  const { waiting, asked } = queue(heldUp, heldUp, unavailable)
  const answers = [waiting.reserve(ask('one')), waiting.reserve(ask('two'))]
  await turn()
  waiting.freed(new Set(['key_a']))
  assert.deepEqual(await Promise.all(answers), [unavailable, unavailable])
  assert.deepEqual(asked, ['one', 'two', 'one again', 'two again'])
})

test('the first to wait stays first, even if another arrives during its retry', async () => {
  const asked: string[] = []
  const answers: PromiseWithResolvers<Reserved | Refused>[] = []
  const clock = { time: 0, now: () => 0, monotonicMs: () => ++clock.time }
  const waiting = new Waiting(({ requestId }) => {
    asked.push(requestId)
    const answer = Promise.withResolvers<Reserved | Refused>()
    answers.push(answer)
    return answer.promise
  }, clock)
  const answer = async (index: number, with_: Reserved | Refused) => {
    answers[index]?.resolve(with_)
    await turn()
  }
  const both = [waiting.reserve(ask('one')), waiting.reserve(ask('two'))]
  await answer(0, heldUp)
  waiting.freed(new Set(['key_a']))
  await answer(1, heldUp)
  await answer(2, heldUp)
  waiting.freed(new Set(['key_a']))
  assert.deepEqual(asked, ['one', 'two', 'one', 'one', 'two'])
  await answer(3, unavailable)
  await answer(4, unavailable)
  await Promise.all(both)
})

test('money freed on another key wakes no ask of this one', async () => {
  const { waiting, asked, clock } = queue(heldUp)
  const answer = waiting.reserve(ask('one'))
  await turn()
  waiting.freed(new Set(['key_b']))
  assert.deepEqual(asked, ['one'])
  clock.time += 5000
  waiting.freed(new Set(['key_a']))
  assert.deepEqual(await answer, heldUp)
})

test('an ask that waits five seconds gets the last refusal', async () => {
  const { waiting, asked, clock } = queue(heldUp)
  const answer = waiting.reserve(ask('one'))
  await turn()
  clock.time += 4999
  waiting.freed(new Set(['key_a']))
  await turn()
  assert.equal(asked.at(-1), 'one again')
  clock.time += 1
  waiting.freed(new Set(['key_a']))
  assert.deepEqual(await answer, heldUp)
})

test('an ask with several targets is tried a last time for those after the one it waited for', async () => {
  const candidates = [NO_COST, NO_COST]
  const { waiting, asked, clock } = queue(heldUp, unavailable)
  const answer = waiting.reserve({ ...ask('one'), candidates })
  await turn()
  clock.time += 5000
  waiting.freed(new Set(['key_a']))
  assert.deepEqual(await answer, unavailable)
  assert.deepEqual(asked, ['one', 'one again, last'])
})

test('an ask whose client has left stops waiting', async () => {
  const { waiting } = queue(heldUp)
  const controller = new AbortController()
  const answer = waiting.reserve(ask('one', controller.signal))
  await turn()
  controller.abort()
  waiting.freed(new Set(['key_a']))
  assert.deepEqual(await answer, abandoned)
})

test('money freed by other nodes is found by trying again', async () => {
  const { waiting } = queue(heldUp, unavailable, heldUp, unavailable)
  for (const name of ['one', 'two']) {
    const answer = waiting.reserve(ask(name))
    await turn()
    mock.timers.tick(1000)
    assert.deepEqual(await answer, unavailable)
  }
})

test('a grant reports how long it waited', async () => {
  const balances = {} as Balances
  const granted = { reserved: true, holdId: 1, amountNanodollars: 1n, outputTokens: 1 } as const
  const answer: Reserved | Refused = {
    ...granted,
    groupId: null,
    capped: false,
    waitedMs: 0,
    balances,
  }
  const { waiting, clock } = queue(heldUp, answer)
  const waited = waiting.reserve(ask('one'))
  await turn()
  clock.time += 700
  waiting.freed(new Set(['key_a']))
  assert.deepEqual(await waited, { ...answer, waitedMs: 700 })
})

test('an ask does not wait when too many wait already', async () => {
  const { waiting, clock } = queue(heldUp)
  const others = Array.from({ length: 256 }, (_, index) => waiting.reserve(ask(`${index}`)))
  await turn()
  assert.deepEqual(await waiting.reserve(ask('one more')), heldUp)
  clock.time += 5000
  waiting.freed(new Set(['key_a']))
  await Promise.all(others)
})
