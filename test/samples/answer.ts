// An answer with every kind of block in it, the request it answers, and a context whose ids and times are the same in
// every run. For tests only.
import type { CanonicalEvent } from '../../src/core/events.ts'
import type { JsonObject } from '../../src/core/json.ts'
import type { AnswerContext } from '../../src/wire/contract/codec.ts'

export const at = (block: number) => ({ choice: 0, block })
const USAGE = {
  inputTokens: 20,
  cachedTokens: 4,
  cacheWriteTokens: 6,
  cacheWriteLongTokens: 2,
  outputTokens: 9,
  reasoningTokens: 3,
}

export const BODY = {
  model: 'public-model',
  input: 'hi',
  instructions: 'Be brief.',
  temperature: 0.5,
  previous_response_id: 'resp_0',
  metadata: { a: 'b' },
  tools: [
    { type: 'function', name: 'weather', parameters: { type: 'object' } },
    { type: 'custom', name: 'patch' },
    {
      type: 'namespace',
      name: 'crm',
      description: 'd',
      tools: [{ type: 'function', name: 'find' }],
    },
    { type: 'web_search' },
  ],
} satisfies JsonObject

export const ANSWER: readonly CanonicalEvent[] = [
  { type: 'response-start', id: 'theirs', model: 'theirs' },
  { type: 'reasoning-start', ...at(0) },
  { type: 'reasoning-delta', ...at(0), text: 'Let me ' },
  { type: 'reasoning-delta', ...at(0), text: 'see.' },
  {
    type: 'reasoning-end',
    ...at(0),
    opaque: { format: 'messages', kind: 'signature', value: 'signed' },
  },
  { type: 'text-start', ...at(1) },
  { type: 'text-delta', ...at(1), text: 'It is ' },
  { type: 'text-delta', ...at(1), text: 'sunny.' },
  {
    type: 'text-citation',
    ...at(1),
    citation: { url: 'https://example.com', title: 'Sky', start: 0, end: 6 },
  },
  { type: 'text-end', ...at(1) },
  { type: 'refusal-start', ...at(2) },
  { type: 'refusal-delta', ...at(2), text: 'No more.' },
  { type: 'refusal-end', ...at(2) },
  { type: 'tool-call-start', ...at(3), id: 'call_1', name: 'weather', custom: false },
  { type: 'tool-call-end', ...at(3) },
  { type: 'tool-call-start', ...at(4), id: 'call_2', name: 'patch', custom: false },
  { type: 'tool-call-delta', ...at(4), text: '{"input":"a \\"b' },
  { type: 'tool-call-delta', ...at(4), text: '\\""}' },
  { type: 'tool-call-end', ...at(4) },
  { type: 'tool-call-start', ...at(5), id: 'call_3', name: 'crm__find', custom: false },
  { type: 'tool-call-delta', ...at(5), text: '{"id":1}' },
  { type: 'tool-call-end', ...at(5) },
  { type: 'choice-end', choice: 0, reason: 'tool-call' },
  { type: 'usage', usage: USAGE },
  { type: 'response-end' },
]

/** Ids count up per prefix. */
export function answerContext(body: JsonObject = {}): AnswerContext {
  const counts = new Map<string, number>()
  return {
    model: 'public-model',
    body,
    createdAt: 1_700_000_000,
    now: () => 1_700_000_002,
    requestId: 'req_1',
    newId(prefix) {
      const count = (counts.get(prefix) ?? 0) + 1
      counts.set(prefix, count)
      return `${prefix}_${count}`
    },
  }
}
