// How a request is refused while all of its targets rest.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { GatewayError } from '../core/errors.ts'
import { Breaker } from '../routing/breaker.ts'
import { refuseWhileAllRest } from './attempt.ts'
import type { Prepared } from './prepare.ts'

const clock = { now: () => 0, monotonicMs: () => 0 }
const overloaded = { failed: 'provider_overloaded', retryAfterSeconds: 7 }
const refused = { failed: 'provider_failed', retryAfterSeconds: 3, refusal: 'status 401' }

function resting(model: string, failure: typeof overloaded | typeof refused): Prepared {
  const breaker = new Breaker(clock)
  breaker.begin()(failure)
  return { provider: { name: 'local' }, model, breaker } as unknown as Prepared
}

function refusalOf(prepared: readonly Prepared[]): GatewayError {
  try {
    refuseWhileAllRest(prepared)
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown
  }
  return assert.fail('nothing was refused')
}

test('targets that turned this gateway away are not waited for, and the log says why', () => {
  const { code, cause, details } = refusalOf([resting('one', refused), resting('two', refused)])
  assert.deepEqual(
    [code, details.shouldRetry, details.retryAfterSeconds],
    ['provider_failed', false, undefined],
  )
  assert.deepEqual([details.unbilled, details.forOperator], [true, true])
  assert.equal(cause, 'local/one rests after status 401, local/two rests after status 401')
})

test('while one of them takes requests, nothing is refused', () => {
  const ready = { provider: { name: 'local' }, model: 'two' } as unknown as Prepared
  refuseWhileAllRest([resting('one', refused), ready])
  refuseWhileAllRest([resting('one', refused), { ...ready, breaker: new Breaker(clock) }])
})

test('of several that may come back the soonest is waited for, in whole seconds', () => {
  const limited = { failed: 'provider_rate_limited', retryAfterSeconds: 2.1 }
  const { code, details } = refusalOf([resting('one', overloaded), resting('two', limited)])
  assert.deepEqual(
    [code, details.retryAfterSeconds, details.unbilled],
    ['provider_rate_limited', 3, true],
  )
})

test('as long as one of them may come back by itself, that one is waited for', () => {
  const { code, details } = refusalOf([resting('one', refused), resting('two', overloaded)])
  assert.deepEqual(
    [code, details.shouldRetry, details.retryAfterSeconds],
    ['provider_overloaded', undefined, 7],
  )
})
