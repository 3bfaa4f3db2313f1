// A target that fails rests, is probed, and comes back; requests that began before a change do not count after it.
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'

import type { Clock } from '../core/clock.ts'
import { Breaker } from './breaker.ts'

const clock: Clock & { at: number } = { at: 0, now: () => 0, monotonicMs: () => clock.at }
const failed = { failed: 'provider_failed' }
let breaker: Breaker

beforeEach(() => {
  clock.at = 1_000
  breaker = new Breaker(clock)
})

function fail(times: number): void {
  for (let time = 0; time < times; time++) breaker.begin()(failed)
}

test('five failures in a row start a rest, whatever came before', () => {
  fail(4)
  breaker.begin()('answered')
  fail(4)
  assert.equal(breaker.whyOpen(), undefined)
  fail(1)
  assert.deepEqual(breaker.whyOpen(), { reason: 'provider_failed', forMs: 1_000 })
})

test('a target that fails more often than retries can cover goes behind the others', () => {
  const often = (failures: number, answers: number): void => {
    for (let turn = 0; turn < 20; turn++) {
      fail(failures)
      for (let time = 0; time < answers; time++) breaker.begin()('answered')
    }
  }
  often(1, 4)
  assert.equal(breaker.isUnstable(), false)
  often(1, 2)
  assert.equal(breaker.isUnstable(), true)
  assert.equal(breaker.whyOpen(), undefined, 'it is still asked where there is no other')
  clock.at += 10_000
  assert.equal(breaker.isUnstable(), false)
})

test('answers offset the failures before them, not later ones', () => {
  const answer = (times: number): void => {
    for (let time = 0; time < times; time++) breaker.begin()('answered')
  }
  answer(100)
  fail(4)
  answer(4)
  fail(1)
  assert.equal(breaker.isUnstable(), false)
  fail(1)
  assert.equal(breaker.isUnstable(), true)
  clock.at += 10_000
  fail(1)
  assert.equal(breaker.isUnstable(), false, 'what it stood behind for is made up for')
})

test('an answer that has only begun does not end a row of failures', () => {
  fail(4)
  breaker.begin()('accepted')
  fail(1)
  assert.ok(breaker.whyOpen())
})

test('one request probes a target after its rest, and the next one waits', () => {
  fail(5)
  clock.at += 1_000
  assert.equal(breaker.whyOpen(), undefined)
  const tell = breaker.begin()
  assert.equal(breaker.whyOpen()?.forMs, 1_000)
  tell('accepted')
  assert.ok(breaker.whyOpen(), 'an answer that has begun can still fail')
  tell('answered')
  assert.equal(breaker.whyOpen(), undefined)
  fail(4)
  assert.equal(breaker.isUnstable(), false, 'the row of failures begins anew')
})

test('each failed probe doubles the rest, up to half a minute', () => {
  fail(5)
  const rests: (number | undefined)[] = []
  for (let probe = 0; probe < 7; probe++) {
    clock.at += breaker.whyOpen()?.forMs ?? 0
    fail(1)
    rests.push(breaker.whyOpen()?.forMs)
  }
  assert.deepEqual(rests, [2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000])
})

test('a target that recovered starts again with the shortest rest', () => {
  fail(5)
  for (let probe = 0; probe < 3; probe++) {
    clock.at += breaker.whyOpen()?.forMs ?? 0
    fail(1)
  }
  clock.at += breaker.whyOpen()?.forMs ?? 0
  breaker.begin()('answered')
  fail(5)
  assert.equal(breaker.whyOpen()?.forMs, 1_000)
})

test('a probe whose client left decides nothing, and another one follows', () => {
  fail(5)
  clock.at += 1_000
  breaker.begin()
  clock.at += 1_000
  assert.equal(breaker.whyOpen(), undefined)
})

test('the first answer of several probes decides', () => {
  fail(5)
  clock.at += 1_000
  const slow = breaker.begin()
  clock.at += 1_000
  const other = breaker.begin()
  slow('answered')
  assert.equal(breaker.whyOpen(), undefined)
  other(failed)
  assert.deepEqual([breaker.whyOpen(), breaker.health()], [undefined, { name: 'answering' }])
})

test('every concurrent request counts while the target does not rest', () => {
  const all = Array.from({ length: 6 }, () => breaker.begin())
  for (const [index, tell] of all.entries()) tell(index === 0 ? 'answered' : failed)
  assert.ok(breaker.whyOpen())
})

test('requests that began before the rest neither end nor lengthen it', () => {
  const [one, other] = [breaker.begin(), breaker.begin()]
  fail(5)
  one('answered')
  assert.equal(breaker.whyOpen()?.forMs, 1_000)
  clock.at += 500
  other(failed)
  assert.equal(breaker.whyOpen()?.forMs, 500)
})

test('the health is unknown before the first outcome, then that of the last one', () => {
  assert.equal(breaker.health().name, 'uncalled')
  const tell = breaker.begin()
  assert.equal(breaker.health().name, 'uncalled', 'no outcome says anything yet')
  tell({ failed: 'provider_failed', refusal: 'status 401' })
  const why = { reason: 'provider_failed', refusal: 'status 401' }
  assert.deepEqual(breaker.health(), { name: 'failing', why })
  breaker.begin()('answered')
  assert.equal(breaker.health().name, 'answering')
  fail(5)
  const last = { reason: failed.failed }
  assert.deepEqual(breaker.health(), { name: 'resting', why: last, forMs: 1_000 })
  clock.at += 1_000
  const failing = { name: 'failing', why: last }
  assert.deepEqual(breaker.health(), failing, 'a rest that is over mends nothing by itself')
  breaker.begin()('answered')
  assert.equal(breaker.health().name, 'answering')
})

test('a provider’s retry-after starts a rest of that length at once', () => {
  const limited = { failed: 'provider_rate_limited', retryAfterSeconds: 7 }
  breaker.begin()(limited)
  assert.deepEqual(breaker.whyOpen(), { reason: 'provider_rate_limited', forMs: 7_000 })
  clock.at += 7_000
  const probe = breaker.begin()
  assert.ok(breaker.whyOpen())
  probe('accepted')
  assert.equal(breaker.whyOpen(), undefined, 'an answer that begins shows that it takes requests')
})

test('a failed probe after a requested rest starts another rest', () => {
  breaker.begin()({ failed: 'provider_rate_limited', retryAfterSeconds: 7 })
  clock.at += 7_000
  fail(1)
  assert.deepEqual(breaker.whyOpen(), { reason: 'provider_failed', forMs: 2_000 })
  clock.at += 2_000
  breaker.begin()('accepted')
  assert.ok(breaker.whyOpen(), 'nobody said for how long this time')
})
