// Which targets a request is sent to and what each is told, and how it is refused while all of them rest.
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'

import type { Admission } from '../access/admit.ts'
import { RaisedBounds } from '../access/raised-bounds.ts'
import { Tokenizer } from '../access/tokenizer.ts'
import { GatewayError } from '../core/errors.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { Breaker } from '../routing/breaker.ts'
import { RetryBudget } from '../routing/retry-budget.ts'
import type { Log } from '../telemetry/log.ts'
import { attempt, refuseWhileAllRest } from './attempt.ts'
import { Books } from './books.ts'
import type { Prepared } from './prepare.ts'
import type { Reply } from './reply.ts'
import type { Trace } from './trace.ts'

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

test('no retry is advised while all targets turn this gateway away, and the log says why', () => {
  const { code, cause, details } = refusalOf([resting('one', refused), resting('two', refused)])
  assert.deepEqual(
    [code, details.shouldRetry, details.retryAfterSeconds],
    ['provider_failed', false, undefined],
  )
  assert.deepEqual([details.unbilled, details.forOperator], [true, true])
  assert.equal(cause, 'local/one rests after status 401, local/two rests after status 401')
})

test('nothing is refused while one target takes requests', () => {
  const ready = { provider: { name: 'local' }, model: 'two' } as unknown as Prepared
  refuseWhileAllRest([resting('one', refused), ready])
  refuseWhileAllRest([resting('one', refused), { ...ready, breaker: new Breaker(clock) }])
})

test('the advised wait is that of the target that returns first, in whole seconds', () => {
  const limited = { failed: 'provider_rate_limited', retryAfterSeconds: 2.1 }
  const { code, details } = refusalOf([resting('one', overloaded), resting('two', limited)])
  assert.deepEqual(
    [code, details.retryAfterSeconds, details.unbilled],
    ['provider_rate_limited', 3, true],
  )
})

test('a wait is advised as long as one target may return by itself', () => {
  const { code, details } = refusalOf([resting('one', refused), resting('two', overloaded)])
  assert.deepEqual(
    [code, details.shouldRetry, details.retryAfterSeconds],
    ['provider_overloaded', undefined, 7],
  )
})

type Attempts = Parameters<typeof attempt>[0]

/** A request with these targets and a limit of 500 tokens. */
function attemptsAt(prepared: readonly Prepared[], more: Partial<Attempts> = {}) {
  const logged: string[] = []
  const log = {
    warn: (_, fields) => void logged.push(`warn ${String(fields?.['target'])}`),
    error: (_, fields) => void logged.push(`error ${String(fields?.['target'])}`),
  } as Log
  const reply = { closed: new AbortController().signal, hasBegun: false } as Reply
  const trace: Trace = { requestId: 'req_1' }
  const books = new Books(
    {
      ledger: {} as Ledger,
      clock,
      log,
      raisedBounds: new RaisedBounds(),
      tokenizer: new Tokenizer(),
    },
    {
      requestId: 'req_1',
      endpoint: 'chat',
      admission: { basis: 'bytes' } as Admission,
      left: [],
      startedMs: 0,
      trace,
      request: { texts: () => [] },
    },
  )
  const attempts: Attempts = {
    requestId: 'req_1',
    log,
    prepared,
    forget: async () => undefined,
    retries: new RetryBudget(),
    outputTokensMax: 500,
    stream: true,
    headers: new Map(),
    books,
    reply,
    ...more,
  }
  return { attempts, logged }
}

/** The targets that were sent something, and the limit that each was told. */
const asked: string[] = []
beforeEach(() => asked.splice(0))

/** A target that answers, or does what is told instead. */
function target(model: string, send?: () => never, more: Partial<Prepared> = {}): Prepared {
  const answer = { status: 200, headers: new Map(), body: (async function* () {})() }
  return {
    provider: { name: 'local', send: async () => send?.() ?? answer },
    model,
    format: 'chat',
    encode: async (limit: number | undefined) => {
      asked.push(`${model} ${limit}`)
      return Buffer.from('{}')
    },
    ...more,
  } as unknown as Prepared
}

const failing =
  (details: ConstructorParameters<typeof GatewayError>[2] = {}) =>
  (): never => {
    throw new GatewayError('provider_failed', 'it failed', { unbilled: true, ...details })
  }

test('the next target takes over with its own output limit, and the log names those that failed', async () => {
  const { attempts, logged } = attemptsAt([
    target('one', failing()),
    target('two', failing({ forOperator: true })),
    target('three', undefined, { outputTokensMax: 100 }),
  ])
  const served = await attempt(attempts, async ({ prepared }) => prepared.model)
  assert.equal(served, 'three')
  assert.deepEqual(asked, ['one 500', 'two 500', 'three 100'])
  assert.deepEqual(logged, ['warn local/one', 'error local/two'])
})

test('a resting target is skipped, and any status other than 200 is a failure', async () => {
  const body = (async function* () {})()
  const send = async () => ({ status: 500, headers: new Map(), body })
  const breaker = new Breaker(clock)
  const { attempts } = attemptsAt([
    { ...target('resting'), ...resting('resting', overloaded) },
    { ...target('broken'), provider: { name: 'local', send, formatsOf: () => [] } },
    target('two', undefined, { breaker }),
  ])
  assert.equal(await attempt(attempts, async ({ prepared }) => prepared.model), 'two')
  assert.deepEqual(asked, ['broken 500', 'two 500'])
  assert.equal(breaker.standing().name, 'answering')
})

test('a retry is advised unless every target turns this gateway away', async () => {
  const away = target('away', failing({ forOperator: true }))
  const broken = target('broken', failing())
  for (const [targets, shouldRetry] of [
    [[away, away], false],
    [[resting('resting', refused), away], false],
    [[resting('resting', overloaded), away], undefined],
    [[away, broken], undefined],
  ] as const) {
    const { attempts } = attemptsAt(targets)
    await assert.rejects(
      attempt(attempts, async () => {}),
      (thrown) => {
        assert.ok(thrown instanceof GatewayError)
        assert.equal(thrown.details.shouldRetry, shouldRetry)
        return thrown.code === 'provider_failed'
      },
    )
  }
})

test('no other target is tried once the retry budget is used up, until it is earned back', async () => {
  const { attempts } = attemptsAt([target('one', failing()), target('two')])
  while (attempts.retries.take());
  const endings: unknown[] = []
  for (let request = 0; request < 5; request++) {
    endings.push(
      await attempt(attempts, async ({ prepared }) => prepared.model).catch(() => 'failed'),
    )
  }
  assert.deepEqual(endings, ['failed', 'failed', 'failed', 'failed', 'two'])
})

test('a target gets no higher output limit than the hold pays for', async () => {
  const { attempts } = attemptsAt([target('one', undefined, { outputTokensMax: 1_000 })])
  await attempt(attempts, async () => {})
  await attempt({ ...attempts, outputTokensMax: undefined }, async () => {})
  assert.deepEqual(asked, ['one 500', 'one undefined'])
})

test('no target is tried after the client has left or has received part of an answer', async () => {
  const leaving = new AbortController()
  const left = { closed: leaving.signal, hasBegun: false } as Reply
  const leave = (): never => {
    leaving.abort()
    return failing()()
  }
  const begun = { closed: new AbortController().signal, hasBegun: true } as Reply
  for (const [first, reply] of [
    [leave, left],
    [failing(), begun],
  ] as const) {
    const { attempts } = attemptsAt([target('one', first), target('two')], { reply })
    await assert.rejects(
      attempt(attempts, async () => {}),
      { code: 'provider_failed' },
    )
  }
  assert.deepEqual(asked, ['one 500', 'one 500'])
  const { attempts } = attemptsAt([target('three')], { reply: left })
  await assert.rejects(
    attempt(attempts, async () => {}),
    { name: 'AbortError' },
  )
  assert.equal(asked.length, 2)
})

test('a request that a provider rejects as invalid is not sent to another', async () => {
  const judge = (): never => {
    throw new GatewayError('invalid_request', 'too hot', { provider: { status: 400 } })
  }
  const breaker = new Breaker(clock)
  const { attempts } = attemptsAt([target('one', judge, { breaker }), target('two')])
  await assert.rejects(
    attempt(attempts, async () => {}),
    { code: 'invalid_request' },
  )
  assert.deepEqual(asked, ['one 500'])
  assert.equal(breaker.standing().name, 'answering', 'whoever judges a request is there')
})

test('a target that rejects a thought is retried once without it, if there is one', async () => {
  const strange = (): never => {
    throw new GatewayError('invalid_request', 'no such thought', { unknownThoughts: true })
  }
  const { attempts } = attemptsAt([target('one', strange)])
  await assert.rejects(
    attempt(attempts, async () => {}),
    { code: 'invalid_request' },
  )
  const forgetful = { ...attempts, forget: async () => target('forgetful') }
  await attempt(forgetful, async () => {})
  assert.deepEqual(asked, ['one 500', 'one 500', 'forgetful 500'])
})
