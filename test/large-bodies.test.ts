// The largest accepted bodies take time proportional to their length, whatever they contain: a request is read and
// translated in one go, and nobody else is served meanwhile. Quadratic code would take minutes here.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { ChatFormat } from '../src/core/endpoints.ts'
import type { Json, JsonObject } from '../src/core/json.ts'
import { processorMs } from '../src/core/sample-time.ts'
import { codecOf, upstreamCodecOf } from '../src/wire/codecs.ts'
import { exactBody, readJsonBody } from '../src/wire/json.ts'
import { packSeal } from '../src/wire/seal.ts'

const UPSTREAM = ['chat', 'responses', 'messages', 'gemini', 'converse'] as const
/** About a second; the rest allows for slow machines. */
const MS_MAX = 20_000

const user: JsonObject = { role: 'user', content: 'x' }
const asked: Record<ChatFormat, JsonObject> = {
  chat: { messages: [user] },
  responses: { input: [user] },
  messages: { messages: [user], max_tokens: 10 },
}

/** JSON text inside the JSON, almost as deep as the bound on its lists allows. */
const DEEP = `{"a":${'['.repeat(499_000)}${']'.repeat(499_000)}}`

const chatCall = (index: number, text = '{}'): JsonObject => ({
  id: `c${index}`,
  type: 'function',
  function: { name: 'f', arguments: text },
})
const chatResult = (index: number, content = 'x'): JsonObject => ({
  role: 'tool',
  tool_call_id: `c${index}`,
  content,
})
const callItem = (index: number, text = '{}'): JsonObject => ({
  type: 'function_call',
  call_id: `c${index}`,
  name: 'f',
  arguments: text,
})
const resultItem = (index: number, output = 'x'): JsonObject => ({
  type: 'function_call_output',
  call_id: `c${index}`,
  output,
})
const useBlock = (index: number): JsonObject => ({
  type: 'tool_use',
  id: `t${index}`,
  name: 'f',
  input: {},
})
const resultBlock = (index: number, content = 'x'): JsonObject => ({
  type: 'tool_result',
  tool_use_id: `t${index}`,
  content,
})
const chatTool = (index: number): JsonObject => ({
  type: 'function',
  function: { name: `f${index}` },
})
const namedTool = (index: number): JsonObject => ({ type: 'function', name: `f${index}` })

const BODIES: readonly (readonly [ChatFormat, string, () => JsonObject])[] = [
  ['chat', 'messages', () => ({ messages: many(90_000, () => user) })],
  ['chat', 'parts', () => ({ messages: [{ role: 'user', content: many(90_000, textPart) }] })],
  [
    'chat',
    'calls',
    () => ({
      messages: [
        user,
        { role: 'assistant', tool_calls: many(20_000, chatCall) },
        ...many(20_000, chatResult),
      ],
    }),
  ],
  ['chat', 'tools', () => ({ tools: many(45_000, chatTool) })],
  [
    'chat',
    'allowed tools',
    () => ({
      tools: many(24_000, chatTool),
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: { mode: 'auto', tools: many(24_000, chatTool) },
      },
    }),
  ],
  [
    'chat',
    'deeply nested arguments',
    () => ({
      messages: [user, { role: 'assistant', tool_calls: [chatCall(0, DEEP)] }, chatResult(0)],
    }),
  ],
  [
    'chat',
    'a deeply nested result',
    () => ({
      messages: [user, { role: 'assistant', tool_calls: [chatCall(0)] }, chatResult(0, DEEP)],
    }),
  ],
  [
    'responses',
    'calls',
    () => ({ input: [user, ...many(20_000, callItem), ...many(20_000, resultItem)] }),
  ],
  [
    'responses',
    'allowed tools',
    () => ({
      tools: many(45_000, namedTool),
      tool_choice: { type: 'allowed_tools', mode: 'auto', tools: many(45_000, namedTool) },
    }),
  ],
  [
    'responses',
    'one namespace named again and again',
    () => ({
      tools: [{ type: 'namespace', name: 'n', tools: many(40_000, namedTool) }],
      tool_choice: {
        type: 'allowed_tools',
        mode: 'auto',
        tools: many(40_000, () => ({ type: 'namespace', name: 'n' })),
      },
    }),
  ],
  [
    'responses',
    'namespaces named once each',
    () => ({
      tools: many(20_000, (index) => ({
        type: 'namespace',
        name: `n${index}`,
        tools: [namedTool(0)],
      })),
      tool_choice: {
        type: 'allowed_tools',
        mode: 'auto',
        tools: many(20_000, (index) => ({ type: 'namespace', name: `n${index}` })),
      },
    }),
  ],
  [
    'responses',
    'deeply nested arguments',
    () => ({ input: [user, callItem(0, DEEP), resultItem(0)] }),
  ],
  [
    'responses',
    'a thought with a deeply nested seal',
    () => ({
      input: [
        user,
        { type: 'reasoning', summary: [], encrypted_content: deepSeal() },
        { role: 'assistant', content: 'x' },
        user,
      ],
    }),
  ],
  [
    'messages',
    'calls',
    () => ({
      messages: [
        user,
        { role: 'assistant', content: many(20_000, useBlock) },
        { role: 'user', content: many(20_000, resultBlock) },
      ],
    }),
  ],
  ['messages', 'a deeply nested user id', () => ({ metadata: { user_id: DEEP } })],
  [
    'messages',
    'a deeply nested result',
    () => ({
      messages: [
        user,
        { role: 'assistant', content: [useBlock(0)] },
        { role: 'user', content: [resultBlock(0, DEEP)] },
      ],
    }),
  ],
]

for (const [format, what, fields] of BODIES)
  test(`${format}: reading ${what} takes linear time`, () => {
    const bytes = Buffer.from(JSON.stringify({ model: 'm', ...asked[format], ...fields() }))
    const startedMs = processorMs()
    const codec = codecOf(format)
    const body = readJsonBody(bytes)
    codec.readCall(body.value)
    codec.affinityOf(body.value)
    codec.forwardRequest(body, { model: 'other' })
    const request = codec.decodeRequest(exactBody(body))
    for (const upstream of UPSTREAM) {
      JSON.stringify(upstreamCodecOf(upstream).encodeRequest({ ...request, model: 'other' }))
    }
    const tookMs = processorMs() - startedMs
    assert.ok(tookMs < MS_MAX, `${Math.round(tookMs)} ms for ${bytes.length} bytes`)
  })

function many<Each extends Json>(count: number, make: (index: number) => Each): Each[] {
  return Array.from({ length: count }, (_, index) => make(index))
}

function textPart(): JsonObject {
  return { type: 'text', text: 'x' }
}

/** A seal as a client could forge it. */
function deepSeal(): string {
  const mark = packSeal({ format: 'chat', kind: 'encrypted', value: '' }, 'responses').split('.')
  return [...mark.slice(0, 2), Buffer.from(DEEP).toString('base64url')].join('.')
}
