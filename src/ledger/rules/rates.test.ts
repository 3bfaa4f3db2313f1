// The window of a minute: exact to the second, whatever the clock does, and never more than the limit in any 60 s.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import fc from 'fast-check'

import {
  countAdmission,
  ageWindow,
  correct,
  packWindow,
  rateExceeded,
  unpackWindow,
  windowEndsAt,
} from './rates.ts'

const NOON = Date.UTC(2026, 10, 15, 12)
const empty = () => unpackWindow('', NOON)

describe('requests per minute', () => {
  const rates = { rpm: 2, tpm: null }

  test('exactly as many requests as the limit are admitted', () => {
    const window = empty()
    for (const _ of [1, 2]) {
      assert.equal(rateExceeded(rates, window, { now: NOON, tokens: 0 }), undefined)
      countAdmission(window, NOON, 0)
    }
    assert.equal(rateExceeded(rates, window, { now: NOON, tokens: 0 })?.limit, 'rpm')
  })

  test('retry-after is exact: a millisecond earlier is too early', () => {
    const window = empty()
    countAdmission(window, NOON + 999, 0)
    countAdmission(window, NOON + 5_000, 0)
    const refused = rateExceeded(rates, window, { now: NOON + 6_000, tokens: 0 })
    assert.deepEqual(refused, { limit: 'rpm', retryAfterSeconds: 55 })
    const packed = packWindow(window)
    for (const [now, admitted] of [
      [NOON + 60_999, false],
      [NOON + 61_000, true],
    ] as const) {
      const then = rateExceeded(rates, unpackWindow(packed, now), { now, tokens: 0 })
      assert.equal(then === undefined, admitted)
    }
  })

  test('a client that returns a second too early waits for the rest', () => {
    const window = empty()
    countAdmission(window, NOON, 0)
    countAdmission(window, NOON, 0)
    const seconds = (now: number): number | undefined =>
      rateExceeded(rates, unpackWindow(packWindow(window), now), { now, tokens: 0 })
        ?.retryAfterSeconds
    assert.deepEqual([NOON, NOON + 60_000, NOON + 60_999, NOON + 61_000].map(seconds), [
      61,
      1,
      1,
      undefined,
    ])
  })

  test('tokens do not matter if only requests are limited', () => {
    const window = empty()
    countAdmission(window, NOON, 5000)
    assert.equal(rateExceeded(rates, window, { now: NOON, tokens: 5000 }), undefined)
  })

  test('a limit of 0 admits nothing and still gives a retry-after', () => {
    const refused = rateExceeded({ rpm: 0, tpm: null }, empty(), { now: NOON, tokens: 0 })
    assert.deepEqual(refused, { limit: 'rpm', retryAfterSeconds: 61 })
  })

  test('a clock set back loses no request, and blocks a key for about a minute at most', () => {
    const window = empty()
    countAdmission(window, NOON, 0)
    countAdmission(window, NOON + 2000, 0)
    const earlier = NOON - 3_600_000
    const then = unpackWindow(packWindow(window), earlier)
    assert.equal(then.requests, 2)
    assert.equal(windowEndsAt(then, earlier), earlier + 61_000)
  })
})

describe('tokens per minute', () => {
  const rates = { rpm: null, tpm: 1000 }

  test('an estimate is corrected in the second that admitted it', () => {
    const window = empty()
    countAdmission(window, NOON + 400, 900)
    assert.equal(rateExceeded(rates, window, { now: NOON + 400, tokens: 200 })?.limit, 'tpm')
    correct(window, NOON + 400, { now: NOON + 30_000, tokens: -700 })
    assert.equal(rateExceeded(rates, window, { now: NOON + 30_000, tokens: 800 }), undefined)
    assert.equal(unpackWindow(packWindow(window), NOON + 61_000).tokens, 0)
  })

  test('a request above the whole limit is admitted if it is alone', () => {
    const window = empty()
    assert.equal(rateExceeded(rates, window, { now: NOON, tokens: 5000 }), undefined)
    countAdmission(window, NOON, 1)
    assert.equal(rateExceeded(rates, window, { now: NOON, tokens: 5000 })?.limit, 'tpm')
  })

  test('a request of no tokens fits even after a correction above the limit', () => {
    const window = empty()
    countAdmission(window, NOON, 10)
    correct(window, NOON, { now: NOON, tokens: 5000 })
    assert.equal(rateExceeded(rates, window, { now: NOON, tokens: 0 }), undefined)
  })

  test('a long answer’s tokens count when it ends, even if its admission has left the window', () => {
    const window = unpackWindow('', NOON + 120_000)
    correct(window, NOON, { now: NOON + 120_000, tokens: 400 })
    assert.equal(window.tokens, 400)
    correct(window, NOON, { now: NOON + 120_000, tokens: -400 })
    assert.equal(window.tokens, 400)
    correct(window, NOON, { now: NOON + 120_000, tokens: 100 })
    assert.equal(packWindow(window), `${NOON / 1000 + 120},0,500`, 'and it is no request')
  })
})

test('a window survives packing, and ends with its newest second', () => {
  const window = empty()
  for (const offset of [0, 400, 7_000, 59_000]) countAdmission(window, NOON + offset, 3)
  const unpacked = unpackWindow(packWindow(window), NOON + 59_000)
  packWindow(unpacked)
  assert.deepEqual(unpacked, window)
  assert.equal(windowEndsAt(window, NOON), NOON + 59_000 + 61_000)
  assert.equal(windowEndsAt(empty(), NOON), NOON)
})

test('a window kept in memory ages like one that is packed and unpacked', () => {
  const offsets = fc.array(fc.integer({ min: 0, max: 90_000 }), { maxLength: 20 })
  fc.assert(
    fc.property(offsets, fc.integer({ min: -90_000, max: 180_000 }), (admissions, later) => {
      const window = empty()
      for (const offset of admissions.toSorted((one, other) => one - other))
        countAdmission(window, NOON + offset, 3)
      const packed = packWindow(window)
      const unpacked = unpackWindow(packed, NOON + later)
      const aged = ageWindow(window, NOON + later)
      assert.equal(packWindow(aged), packWindow(unpacked))
      assert.deepEqual(
        [aged.requests, aged.tokens, aged.isRedated],
        [unpacked.requests, unpacked.tokens, unpacked.isRedated],
      )
    }),
  )
})

test('a change after packing is in the next packing', () => {
  const window = empty()
  for (const offset of [0, 7_000]) countAdmission(window, NOON + offset, 3)
  const before = packWindow(window)
  correct(window, NOON, { now: NOON + 7_000, tokens: 5 })
  countAdmission(window, NOON + 7_000, 3)
  assert.equal(before, `${NOON / 1000},1,3;7,1,3`)
  assert.equal(packWindow(window), `${NOON / 1000},1,8;7,2,6`)
})

test('no span of 60 seconds admits more than the limit', () => {
  const steps = fc.array(fc.integer({ min: 0, max: 9_000 }), { minLength: 20, maxLength: 200 })
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 12 }), (pauses, rpm) => {
      const admitted: number[] = []
      let packed = ''
      let now = NOON
      for (const pause of pauses) {
        now += pause
        const window = unpackWindow(packed, now)
        if (rateExceeded({ rpm, tpm: null }, window, { now, tokens: 0 }) !== undefined) continue
        countAdmission(window, now, 0)
        packed = packWindow(window)
        admitted.push(now)
      }
      for (const [index, at] of admitted.entries()) {
        const first = admitted[index - rpm]
        assert.ok(first === undefined || at - first > 60_000)
      }
    }),
  )
})
