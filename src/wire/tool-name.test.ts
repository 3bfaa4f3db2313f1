// The names of tools that providers call.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { TargetFormat } from '../core/endpoints.ts'
import type { Json, JsonObject } from '../core/json.ts'
import { upstreamCodecOf } from './codecs.ts'

/** A whole answer that calls one tool. */
const CALLS: Record<TargetFormat, (name: Json) => JsonObject> = {
  chat: (name) => ({
    choices: [{ message: { tool_calls: [{ function: { name, arguments: '{}' } }] } }],
  }),
  responses: (name) => ({ output: [{ type: 'function_call', name, arguments: '{}' }] }),
  messages: (name) => ({ content: [{ type: 'tool_use', name, input: {} }] }),
  gemini: (name) => ({
    candidates: [{ content: { parts: [{ functionCall: { name } }] }, finishReason: 'STOP' }],
  }),
  converse: (name) => ({
    output: { message: { content: [{ toolUse: { name, input: {} } }] } },
    stopReason: 'tool_use',
  }),
}

for (const [format, answer] of Object.entries(CALLS)) {
  test(`a ${format} provider that calls a tool without naming it has failed`, () => {
    const { decodeResponse } = upstreamCodecOf(format as TargetFormat)
    for (const name of ['', null, 7, {}])
      assert.throws(() => decodeResponse(answer(name)), {
        code: 'provider_failed',
        message: /called a tool without naming it/,
      })
    decodeResponse(answer('f'))
  })
}
