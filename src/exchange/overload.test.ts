// Who is turned away when more requests come than the ledger lets through.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { Overload, TurnedAway } from './admission.ts'

/** A gateway at which 1,000 requests may wait, for a quarter of a second. Its clock is moved by the test. */
function gateway(context: TestContext) {
  let now = 0
  const lines: (readonly [event: string, fields: unknown])[] = []
  const note = (event: string, fields?: unknown): void => void lines.push([event, fields])
  const log = { info: note, warn: note, error: assert.fail, flush: assert.fail }
  const clock = { now: () => now, monotonicMs: () => now }
  const overload = new Overload({ clock, log, waitingMax: 1_000, waitingMs: 250 })
  context.after(() => overload[Symbol.dispose]())
  return {
    overload,
    lines,
    /** A tenth of a second in which so many came through, each after it had waited for so long. */
    passed(count: number, waitedMs: number): void {
      now += 100
      for (let each = 0; each < count; each++) {
        overload.begin()
        overload.end(now - waitedMs)
      }
      overload.look()
    },
    /** How many of so many are let in, all of which then wait. */
    letIn(count: number): number {
      const waitingBefore = overload.waiting
      for (let each = 0; each < count; each++)
        if (overload.refusal() === undefined) overload.begin()
      return overload.waiting - waitingBefore
    },
  }
}

test('as many may wait as the bound says, and not one more, even if all came at once', (context) => {
  const { overload, letIn, lines } = gateway(context)
  assert.equal(letIn(1_200), 1_000)
  assert.throws(
    () => overload.begin(),
    (error) => error instanceof TurnedAway && error.code === 'overloaded',
  )
  assert.equal(overload.waiting, 1_000)
  // One line, however many are turned away.
  assert.deepEqual(lines, [
    ['overloaded', { too_many: 'requests', waiting: 1_000, waiting_max: 1_000 }],
  ])
})

test('if even the fastest wait too long, as many are let in as come through in time', (context) => {
  const { passed, letIn } = gateway(context)
  for (let look = 0; look < 20; look++) passed(100, 251)
  assert.equal(letIn(1_000), 250)
})

test('one slow look is no overload, nor are many slow requests beside a fast one', (context) => {
  const { overload, passed, letIn } = gateway(context)
  for (let look = 0; look < 10; look++) {
    passed(100, 1_000)
    overload.begin()
    overload.end(1e9)
    passed(100, 10)
  }
  assert.equal(letIn(999), 999)
})

test('a slow ledger alone turns nobody away: some may always wait', (context) => {
  const { passed, letIn } = gateway(context)
  for (let look = 0; look < 10; look++) passed(1, 2_000)
  assert.equal(letIn(32), 32)
})

test('while some are turned away, the others are not kept waiting again', (context) => {
  const { overload, passed, letIn } = gateway(context)
  for (let look = 0; look < 20; look++) passed(100, 300)
  for (let look = 0; look < 20; look++) {
    letIn(1_000)
    passed(100, 50)
  }
  assert.equal(overload.waiting, 250)
})

test('bodies and connections too many do not keep requests out that may wait', (context) => {
  const { overload, passed, letIn } = gateway(context)
  for (let look = 0; look < 20; look++) passed(100, 300)
  overload.shed('bodies')
  overload.shed('connections')
  passed(100, 50)
  assert.equal(letIn(1_000), 1_000)
})

test('it is over as soon as nobody was turned away for a look, and the log says so later', (context) => {
  const { overload, passed, letIn, lines } = gateway(context)
  for (let look = 0; look < 20; look++) passed(100, 300)
  const taken = letIn(1_000)
  for (let each = 0; each < taken; each++) overload.end(0)
  passed(100, 50)
  assert.equal(overload.isShedding, true)
  passed(100, 50)
  assert.equal(letIn(900), 900)
  for (let look = 0; look < 60; look++) passed(1, 50)
  assert.equal(overload.isShedding, false)
  assert.deepEqual(lines.at(-1), ['overload_over', { requests: 1_000 - taken, seconds: 0 }])
  assert.equal(lines.length, 2)
})

test('a refusal says when to come back, and not the same to all', (context) => {
  const { overload } = gateway(context)
  const told = Array.from(
    { length: 100 },
    () => overload.shed('requests').details.retryAfterSeconds,
  )
  assert.deepEqual(new Set(told), new Set([1, 2, 3]))
})
