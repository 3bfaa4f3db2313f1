// What a provider's error answer is taken for: the client's mistake, or trouble of our own account with it.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { UpstreamFormat } from '../core/endpoints.ts'
import type { JsonObject } from '../core/json.ts'
import { upstreamCodecOf } from '../wire/codecs.ts'
import { readFailure } from './failure.ts'

async function failureOf(format: UpstreamFormat, status: number, body: JsonObject) {
  const bytes = (async function* () {
    yield Buffer.from(JSON.stringify(body))
  })()
  const { code, details } = await readFailure(
    { status, headers: new Map<string, string>(), body: bytes },
    upstreamCodecOf(format),
  )
  return { code, forOperator: details.forOperator ?? false }
}

const complaint = (message: string): JsonObject => ({
  type: 'error',
  error: { type: 'invalid_request_error', message },
  request_id: 'req_011',
})

test('an account of ours without credit is no mistake of the client', async () => {
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
