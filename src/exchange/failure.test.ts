// How a provider's error response is read: as the client's mistake, or as a problem with the operator's account.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { UpstreamFormat } from '../core/endpoints.ts'
import type { GatewayError } from '../core/errors.ts'
import type { JsonObject } from '../core/json.ts'
import { upstreamCodecOf } from '../wire/codecs.ts'
import { streamError } from '../wire/contract/errors.ts'
import { readFailure } from './failure.ts'

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
  return readFailure(answer, upstreamCodecOf(format))
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

test('the wait is whole seconds between one second and a day, whatever the provider says', async () => {
  for (const [told, seconds] of [
    ['0.25', 1],
    ['7', 7],
    ['1e300', 86_400],
    ['Infinity', 86_400],
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
