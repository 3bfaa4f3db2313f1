// Which targets a request is sent to and what each is told, and how it is refused while the breakers of all are open.
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import {
  SAMPLE_INBOUND,
  SAMPLE_OUTBOUND,
  SAMPLE_PROVIDER,
  SAMPLE_ROUTE,
  SAMPLE_TARGET,
  sampleReply,
  sampleRequest,
} from '../../test/samples/exchange.ts'
import { RaisedBounds } from '../catalog/worst-case.ts'
import { Tokenizer } from '../access/tokenizer.ts'
import type { Model } from '../catalog/models.ts'
import type { UpstreamFormat } from '../core/endpoints.ts'
import { GatewayError } from '../core/errors.ts'
import type { JsonObject } from '../core/json.ts'
import { NO_INPUT, type Call } from '../core/request.ts'
import type { Balances, Ledger, Reserved } from '../ledger/ledger.ts'
import { Breaker, RetryBudget } from '../routing/breaker.ts'
import type { Route } from '../routing/route.ts'
import type { Log } from '../telemetry/log.ts'
import { CODECS, UPSTREAM_CODECS } from '../wire/codecs.ts'
import { streamError } from '../wire/contract/errors.ts'
import { readFailure, refuseWhileAllOpen, tryRoutes, type Answer } from './attempt.ts'
import { Billing } from './billing.ts'
import type { OutboundRequest } from './prepare.ts'

const clock = { now: () => 0, monotonicMs: () => 0 }
const overloaded = { failed: 'provider_overloaded', retryAfterSeconds: 7 }
const refused = { failed: 'provider_failed', retryAfterSeconds: 3, refusal: 'status 401' }

function outboundTo(model: string, more: Partial<Route> = {}): OutboundRequest {
  const route = {
    ...SAMPLE_ROUTE,
    target: { ...SAMPLE_TARGET, name: `local/${model}`, model },
    ...more,
  }
  return { ...SAMPLE_OUTBOUND, route }
}

/** Its breaker is open. */
function open(model: string, failure: typeof overloaded | typeof refused): OutboundRequest {
  const breaker = new Breaker(clock)
  breaker.begin()(failure)
  return outboundTo(model, { breaker })
}

function refusalOf(outbound: readonly OutboundRequest[]): GatewayError {
  try {
    refuseWhileAllOpen(outbound)
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown
  }
  return assert.fail('nothing was refused')
}

test('no retry is advised while all targets turn this gateway away, and the log says why', () => {
  const { code, cause, details } = refusalOf([open('one', refused), open('two', refused)])
  assert.deepEqual(
    [code, details.shouldRetry, details.retryAfterSeconds],
    ['provider_failed', false, undefined],
  )
  assert.deepEqual([details.unbilled, details.forOperator], [true, true])
  assert.equal(cause, 'local/one rests after status 401, local/two rests after status 401')
})

test('nothing is refused while one target takes requests', () => {
  refuseWhileAllOpen([open('one', refused), outboundTo('two')])
  refuseWhileAllOpen([open('one', refused), outboundTo('two', { breaker: new Breaker(clock) })])
})

test('the advised wait is that of the target that returns first, in whole seconds', () => {
  const limited = { failed: 'provider_rate_limited', retryAfterSeconds: 2.1 }
  const { code, details } = refusalOf([open('one', overloaded), open('two', limited)])
  assert.deepEqual(
    [code, details.retryAfterSeconds, details.unbilled],
    ['provider_rate_limited', 3, true],
  )
})

test('a wait is advised as long as one target may return by itself', () => {
  const { code, details } = refusalOf([open('one', refused), open('two', overloaded)])
  assert.deepEqual(
    [code, details.shouldRetry, details.retryAfterSeconds],
    ['provider_overloaded', undefined, 7],
  )
})

type Attempting = Parameters<typeof tryRoutes>[0]

const call: Call = {
  model: 'm',
  stream: true,
  input: NO_INPUT,
  output: { choices: 1, reasons: false },
  needs: [],
  dropped: [],
}
const hold: Reserved = {
  ...{ reserved: true, holdId: 1, amountNanodollars: 1n, outputTokens: 500, capped: false },
  ...{ groupId: null, waitedMs: 0, balances: {} as Balances },
}

/** A request with these routes and a limit of 500 tokens. */
function attemptsAt(outbound: readonly OutboundRequest[], more: Partial<Attempting> = {}) {
  const logged: string[] = []
  const log: Log = {
    info: () => {},
    warn: (_, fields) => void logged.push(`warn ${String(fields?.['target'])}`),
    error: (_, fields) => void logged.push(`error ${String(fields?.['target'])}`),
    flush: () => {},
  }
  const request = {
    inbound: SAMPLE_INBOUND,
    call,
    texts: () => [],
    withoutReasoning: async () => undefined,
  }
  const billing = new Billing(
    {
      ledger: {} as Ledger,
      clock,
      log,
      raisedBounds: new RaisedBounds(),
      overload: { begin: () => 0, end: () => {} },
      tokenizer: new Tokenizer(),
    },
    {
      request,
      model: {} as Model,
      admission: { hold, maySearch: true, inputTokens: 1, basis: 'bytes', outputTokensMax: 500 },
      skipped: [],
    },
  )
  const attempting: Attempting = {
    log,
    request,
    outbound,
    retries: new RetryBudget(),
    outputTokensMax: 500,
    billing,
    reply: sampleReply(),
    ...more,
  }
  return { attempting, logged }
}

/** The targets that were sent something, and the limit that each was told. */
const asked: string[] = []
beforeEach(() => asked.splice(0))

type Given = Partial<OutboundRequest> & { readonly breaker?: Breaker }

/** A route that answers, or does what is told instead. */
function answering(
  model: string,
  send?: () => never,
  { breaker, ...more }: Given = {},
): OutboundRequest {
  const answer = { status: 200, headers: new Map(), body: (async function* () {})() }
  const provider = { ...SAMPLE_PROVIDER, send: async () => send?.() ?? answer }
  return {
    ...outboundTo(model, { provider, ...(breaker && { breaker }) }),
    encode: async (limit: number | undefined) => {
      asked.push(`${model} ${limit}`)
      return Buffer.from('{}')
    },
    ...more,
  }
}

const modelOf = async ({ sent }: Answer): Promise<string> => sent.route.target.model

const failing =
  (details: ConstructorParameters<typeof GatewayError>[2] = {}) =>
  (): never => {
    throw new GatewayError('provider_failed', 'it failed', { unbilled: true, ...details })
  }

test('the next target takes over with its own output limit, and the log names those that failed', async () => {
  const { attempting, logged } = attemptsAt([
    answering('one', failing()),
    answering('two', failing({ forOperator: true })),
    answering('three', undefined, { outputTokensMax: 100 }),
  ])
  const served = await tryRoutes(attempting, modelOf)
  assert.equal(served, 'three')
  assert.deepEqual(asked, ['one 500', 'two 500', 'three 100'])
  assert.deepEqual(logged, ['warn local/one', 'error local/two'])
})

test('a route whose breaker is open is skipped, and any status other than 200 is a failure', async () => {
  const body = (async function* () {})()
  const send = async () => ({ status: 500, headers: new Map(), body })
  const breaker = new Breaker(clock)
  const { attempting } = attemptsAt([
    open('open', overloaded),
    { ...answering('broken'), route: { ...SAMPLE_ROUTE, provider: { ...SAMPLE_PROVIDER, send } } },
    answering('two', undefined, { breaker }),
  ])
  assert.equal(await tryRoutes(attempting, modelOf), 'two')
  assert.deepEqual(asked, ['broken 500', 'two 500'])
  assert.equal(breaker.health().name, 'answering')
})

test('a retry is advised unless every target turns this gateway away', async () => {
  const away = answering('away', failing({ forOperator: true }))
  const broken = answering('broken', failing())
  for (const [targets, shouldRetry] of [
    [[away, away], false],
    [[open('open', refused), away], false],
    [[open('open', overloaded), away], undefined],
    [[away, broken], undefined],
  ] as const) {
    const { attempting } = attemptsAt(targets)
    await assert.rejects(
      tryRoutes(attempting, async () => {}),
      (thrown) => {
        assert.ok(thrown instanceof GatewayError)
        assert.equal(thrown.details.shouldRetry, shouldRetry)
        return thrown.code === 'provider_failed'
      },
    )
  }
})

test('no other target is tried once the retry budget is used up, until it is earned back', async () => {
  const { attempting } = attemptsAt([answering('one', failing()), answering('two')])
  while (attempting.retries.take());
  const endings: unknown[] = []
  for (let request = 0; request < 5; request++) {
    endings.push(await tryRoutes(attempting, modelOf).catch(() => 'failed'))
  }
  assert.deepEqual(endings, ['failed', 'failed', 'failed', 'failed', 'two'])
})

test('a target gets no higher output limit than the hold pays for', async () => {
  const { attempting } = attemptsAt([answering('one', undefined, { outputTokensMax: 1_000 })])
  await tryRoutes(attempting, async () => {})
  await tryRoutes({ ...attempting, outputTokensMax: undefined }, async () => {})
  assert.deepEqual(asked, ['one 500', 'one undefined'])
})

test('no target is tried after the client has left or has received part of an answer', async () => {
  const leaving = new AbortController()
  const left = sampleReply({ closed: leaving.signal })
  const leave = (): never => {
    leaving.abort()
    return failing()()
  }
  const begun = sampleReply({ hasBegun: true })
  for (const [first, reply] of [
    [leave, left],
    [failing(), begun],
  ] as const) {
    const { attempting } = attemptsAt([answering('one', first), answering('two')], { reply })
    await assert.rejects(
      tryRoutes(attempting, async () => {}),
      { code: 'provider_failed' },
    )
  }
  assert.deepEqual(asked, ['one 500', 'one 500'])
  const { attempting } = attemptsAt([answering('three')], { reply: left })
  await assert.rejects(
    tryRoutes(attempting, async () => {}),
    { name: 'AbortError' },
  )
  assert.equal(asked.length, 2)
})

test('a request that a provider rejects as invalid is not sent to another', async () => {
  const judge = (): never => {
    throw new GatewayError('invalid_request', 'too hot', { provider: { status: 400 } })
  }
  const breaker = new Breaker(clock)
  const { attempting } = attemptsAt([answering('one', judge, { breaker }), answering('two')])
  await assert.rejects(
    tryRoutes(attempting, async () => {}),
    { code: 'invalid_request' },
  )
  assert.deepEqual(asked, ['one 500'])
  assert.equal(breaker.health().name, 'answering', 'whoever judges a request is there')
})

test('a target that rejects reasoning is asked once more without it, if there is any', async () => {
  const thinking = { type: 'thinking', thinking: 'Hm.', signature: 'of another account' }
  const text = { type: 'text', text: 'Hi' }
  for (const [content, sent] of [
    [[text], ['one 500']],
    [
      [thinking, text],
      ['one 500', 'without'],
    ],
  ] as const) {
    asked.splice(0)
    const send = async ({ body }: { readonly body: Buffer }): Promise<never> => {
      if (!body.includes('messages')) throw strange()
      asked.push(body.includes('thinking') ? 'with' : 'without')
      throw strange()
    }
    const provider = { ...SAMPLE_PROVIDER, send }
    const one = answering('one', undefined, { codec: CODECS.messages })
    const request = sampleRequest('messages', {
      model: 'm',
      max_tokens: 500,
      messages: [{ role: 'assistant', content }],
    })
    const outbound = [{ ...one, route: { ...one.route, provider } }]
    const { attempting } = attemptsAt(outbound, { request })
    await assert.rejects(
      tryRoutes(attempting, async () => {}),
      { code: 'invalid_request' },
    )
    assert.deepEqual(asked, sent)
  }
})

function strange(): GatewayError {
  return new GatewayError('invalid_request', 'no such thought', { unknownReasoning: true })
}

// How a provider's error response is read: as the client's mistake, or as a problem with the operator's account.

async function failureOf(format: UpstreamFormat, status: number, body: JsonObject) {
  const { code, details } = await read(format, { status, body })
  return { code, forOperator: details.forOperator ?? false }
}

function read(
  format: UpstreamFormat,
  { status, body, headers = {} }: { status: number; body: JsonObject; headers?: object },
): Promise<GatewayError> {
  const bytes = (async function* () {
    yield Buffer.from(JSON.stringify(body))
  })()
  const answer = { status, headers: new Map(Object.entries(headers)), body: bytes }
  return readFailure(answer, UPSTREAM_CODECS[format])
}

const complaint = (message: string): JsonObject => ({
  type: 'error',
  error: { type: 'invalid_request_error', message },
  request_id: 'req_011',
})

test('a provider account without credit is the operator’s problem, not the client’s mistake', async () => {
  const broke =
    'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.'
  assert.deepEqual(await failureOf('messages', 400, complaint(broke)), {
    code: 'provider_failed',
    forOperator: true,
  })
  assert.deepEqual(
    await failureOf('messages', 400, complaint(`messages.0.content: no such block: "${broke}"`)),
    { code: 'invalid_request', forOperator: false },
  )
})

test('the status decides whose problem it is, and whether the provider may have billed anything', async () => {
  const table = {
    invalid_request: [400, 422],
    request_too_large: [413],
    provider_overloaded: [503, 529],
    provider_rate_limited: [429],
    provider_timeout: [408, 504, 524],
    provider_failed: [202, 206, 401, 402, 403, 404, 409, 500, 502],
  } as const
  for (const [code, statuses] of Object.entries(table)) {
    for (const status of statuses) {
      const error = await read('chat', { status, body: {} })
      const { unbilled = false, forOperator = false } = error.details
      assert.deepEqual(
        { status, code: error.code, unbilled, forOperator },
        {
          status,
          code,
          unbilled: code !== 'provider_timeout' && status >= 300,
          forOperator: status > 400 && status < 405,
        },
      )
    }
  }
})

test('an exhausted quota is the operator’s problem, not a rate limit', async () => {
  const error = { message: 'You exceeded your current quota.', code: 'insufficient_quota' }
  assert.deepEqual(await failureOf('chat', 429, { error }), {
    code: 'provider_failed',
    forOperator: true,
  })
})

const FLAGGED =
  'openai/gpt-x requires moderation on OpenRouter. Your input was flagged for "violence".'
const VIOLATION =
  'Content violates usage guidelines. Team: 4f1c, API key ID: 9d2e, Failed check: BIO'

test('a request refused for its content is the client’s mistake, and is charged if the provider bills it', async () => {
  const azure = { code: 'content_filter', message: 'The response was filtered.' }
  for (const [status, body, unbilled] of [
    [400, { error: azure }, false],
    [403, { code: 'permission-denied', error: VIOLATION }, false],
    [403, { error: { code: 403, message: FLAGGED } }, true],
  ] as const) {
    const { code, status: told, message, details } = await read('chat', { status, body })
    assert.deepEqual([code, told, details.forOperator], ['invalid_request', 400, undefined])
    assert.equal(details.unbilled, unbilled, message)
    assert.doesNotMatch(message, /4f1c|9d2e/)
  }
  const { details } = streamError(azure)
  assert.deepEqual([details.provider?.status, details.unbilled], [400, false])
})

test('an error about the request passes on the provider’s message, code and parameter, if given', async () => {
  const detailsOf = async (error: JsonObject) => {
    const { message, details } = await read('chat', { status: 422, body: { error } })
    return {
      message,
      provider: details.provider,
      ...('param' in details && { param: details.param }),
    }
  }
  assert.deepEqual(await detailsOf({ message: 'Too hot.', param: 'temperature', code: 'heat' }), {
    message: 'Too hot.',
    provider: { status: 422, code: 'heat' },
    param: 'temperature',
  })
  assert.deepEqual(await detailsOf({}), {
    message: 'the provider answered with status 422',
    provider: { status: 422 },
  })
})

test('a prompt that is too long has one code, however the provider says so', async () => {
  const anthropic = 'prompt is too long: 210000 tokens > 200000 maximum'
  const gemini =
    'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).'
  const vllm = "This model's maximum context length is 32768 tokens. However, you requested 40000."
  for (const [format, body] of [
    ['messages', complaint(anthropic)],
    ['gemini', { error: { code: 400, status: 'INVALID_ARGUMENT', message: gemini } }],
    ['converse', { message: 'Input is too long for requested model.' }],
    ['chat', { object: 'error', type: 'BadRequestError', code: 400, message: vllm }],
    ['chat', { error: 'the request exceeds the available context size' }],
    ['responses', { error: { code: 'context_length_exceeded', message: 'Too much.' } }],
  ] as const) {
    const error = await read(format, { status: 400, body })
    assert.equal(error.publicCode, 'context_length_exceeded', error.message)
  }
  assert.equal(streamError({ message: vllm, code: '400' }).publicCode, 'context_length_exceeded')
})

test('the wait is whole seconds between one second and ten minutes, whatever the provider says', async () => {
  for (const [told, seconds] of [
    ['0.25', 1],
    ['7', 7],
    ['1e300', 600],
    ['Infinity', 600],
  ] as const) {
    const { details } = await read('chat', {
      status: 429,
      body: {},
      headers: { 'retry-after': told },
    })
    assert.equal(details.retryAfterSeconds, seconds)
  }
  const error = { code: 429, details: [{ retryDelay: '-3s' }] }
  const { details } = await read('gemini', { status: 429, body: { error } })
  assert.equal(details.retryAfterSeconds, 1)
})

test('the cause lists the status, type and code that the provider gave', async () => {
  const causeOf = async (error: JsonObject): Promise<unknown> =>
    (await read('chat', { status: 429, body: { error } })).cause
  const code = 'rate_limit_exceeded'
  assert.equal(await causeOf({ message: 'Slow down.' }), 'status 429')
  assert.equal(await causeOf({ message: 'Slow down.', code }), `status 429 ${code}`)
  assert.equal(await causeOf({ type: 'requests', code }), `status 429 requests ${code}`)
})

test('a type or code that is not a plain name may quote the prompt, and is left out of the cause', async () => {
  const quotes = ['my private question', 'privat\ne', 'x'.repeat(1_000), '']
  for (const type of quotes) {
    const error = await read('chat', { status: 500, body: { error: { type, code: type } } })
    assert.equal(error.cause, 'status 500')
    assert.equal(streamError({ type, code: type }).cause, 'error event')
  }
})
