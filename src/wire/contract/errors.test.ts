// Both families render every error of the table completely, and nothing of its cause.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { processorMs } from '../../../test/samples/processor-time.ts'
import { ERROR_CODES, GatewayError } from '../../core/errors.ts'
import { isObject } from '../../core/json.ts'
import { newSecret } from '../../core/secret.ts'
import { encodeError, refusesReasoning, streamError } from './errors.ts'

for (const code of ERROR_CODES) {
  test(`both families render ${code} completely`, () => {
    const error = new GatewayError(code, 'what happened', {
      param: 'model',
      facts: { scope: 'key', limit: '1.5', resets_at: null },
      cause: new Error('a secret detail'),
    })
    const chat = encodeError('chat', error, 'req_1')
    assert.ok(isObject(chat['error']))
    assert.deepEqual(chat, {
      error: {
        message: 'what happened',
        type: chat['error']['type'],
        param: 'model',
        code,
        scope: 'key',
        limit: '1.5',
        resets_at: null,
      },
    })
    const messages = encodeError('messages', error, 'req_1')
    assert.ok(isObject(messages['error']))
    assert.deepEqual(messages, {
      type: 'error',
      error: {
        type: messages['error']['type'],
        message: 'what happened',
        code,
        param: 'model',
        scope: 'key',
        limit: '1.5',
        resets_at: null,
      },
      request_id: 'req_1',
    })
    assert.ok(!JSON.stringify([chat, messages]).includes('a secret detail'))
  })
}

test('each code has the published type of its family', () => {
  const types = (code: (typeof ERROR_CODES)[number]) =>
    (['chat', 'messages'] as const).map((family) => {
      const body = encodeError(family, new GatewayError(code, ''), '')['error']
      return isObject(body) ? body['type'] : undefined
    })
  assert.deepEqual(types('invalid_api_key'), ['invalid_request_error', 'authentication_error'])
  assert.deepEqual(types('model_not_allowed'), ['invalid_request_error', 'permission_error'])
  assert.deepEqual(types('key_budget_exceeded'), ['insufficient_quota', 'billing_error'])
  assert.deepEqual(types('rate_limit_exceeded'), ['rate_limit_error', 'rate_limit_error'])
  assert.deepEqual(types('provider_overloaded'), ['server_error', 'overloaded_error'])
  assert.deepEqual(types('request_too_large'), ['invalid_request_error', 'request_too_large'])
  assert.deepEqual(types('internal_error'), ['server_error', 'api_error'])
})

test('a secret sent as a name is not echoed', () => {
  const error = new GatewayError(
    'not_found',
    `there is nothing at /v1/${newSecret('live', 'acme')}`,
  )
  for (const family of ['chat', 'messages'] as const) {
    const body = encodeError(family, error, '')['error']
    assert.equal(isObject(body) && body['message'], 'there is nothing at /v1/acme_[redacted]')
  }
})

test('a request too large for a provider has the same type as one too large for the gateway', () => {
  for (const complaint of [{ type: 'request_too_large' }, { code: '413' }]) {
    const error = streamError({ message: 'too large', ...complaint })
    assert.equal(error.status, 413)
    const body = encodeError('messages', error, '')['error']
    assert.equal(isObject(body) && body['type'], 'request_too_large')
  }
})

test('a prompt that is too long is the request’s fault, however a stream says so', () => {
  for (const complaint of [
    { type: 'error', code: 'context_length_exceeded', message: 'no' },
    { message: 'This exceeds the context window.' },
  ]) {
    const error = streamError(complaint)
    assert.deepEqual([error.status, error.publicCode], [400, 'context_length_exceeded'])
  }
  assert.equal(streamError({ type: 'error', message: 'no' }).code, 'provider_failed')
})

test('a provider’s own code is passed on with its status', () => {
  const error = new GatewayError('invalid_request', 'too long', {
    provider: { status: 422, code: 'context_length_exceeded' },
  })
  assert.equal(error.status, 422)
  assert.deepEqual(encodeError('chat', error, '')['error'], {
    message: 'too long',
    type: 'invalid_request_error',
    param: null,
    code: 'context_length_exceeded',
  })
})

test('a prompt that is too long is told to messages clients in the words they look for', () => {
  const told = (message: string): unknown => {
    const provider = { status: 400, code: 'context_length_exceeded' }
    const error = new GatewayError('invalid_request', message, { provider })
    const body = encodeError('messages', error, '')['error']
    return isObject(body) && body['message']
  }
  assert.equal(told('Too much.'), 'prompt is too long: Too much.')
  assert.equal(
    told('prompt is too long: 2 tokens > 1 maximum'),
    'prompt is too long: 2 tokens > 1 maximum',
  )
})

test('a refusal of reasoning is recognized by its wording', () => {
  for (const [message, isAboutReasoning] of [
    ['The encrypted content gAAA...A== could not be verified.', true],
    ['Could not decrypt the provided encrypted_content.', true],
    ['messages.1.content.0: Invalid `signature` in `thinking` block', true],
    ['messages.3.content.0: Invalid `data` in `redacted_thinking` block', true],
    ['messages.369.content.0.thinking.signature: Field required', true],
    ['`redacted_thinking` blocks in the latest assistant message cannot be modified.', true],
    ['messages.1: The final block in an assistant message cannot be `thinking`.', true],
    ["Item 'rs_1' of type 'reasoning' was provided without its required following item.", true],
    ["Item 'msg_1' was provided without its required preceding item of type 'reasoning'", true],
    ['Unable to submit request because Thought signature is not valid.', true],
    ["'messages.2' : property 'reasoning_content' is unsupported", true],
    ['Expected `thinking` or `redacted_thinking`, but found `tool_use`.', false],
    ['max_tokens must be greater than thinking.budget_tokens', false],
  ] as const) {
    assert.equal(refusesReasoning({ message }), isAboutReasoning, message)
  }
})

test('searching a refusal that quotes a long request takes linear time', () => {
  const startedMs = processorMs()
  refusesReasoning({ message: '`thinking` blocks '.repeat(50_000) })
  // Takes milliseconds; searching the rest of the text for each of them would take minutes.
  assert.ok(processorMs() - startedMs < 5_000)
})
