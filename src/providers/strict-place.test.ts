// What is sent to a place that refuses unknown members, and what is reported to the client as left out.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { JsonObject } from '../core/json.ts'
import { unknownIn, withoutUnknown } from './strict-place.ts'

const sent = async (body: JsonObject, format: 'chat' | 'embeddings' = 'chat'): Promise<unknown> =>
  JSON.parse((await withoutUnknown(Buffer.from(JSON.stringify(body)), format)).toString())

const HELLO = [{ role: 'user', content: 'x' }]

test('fields that the place does not accept are left out and reported', async () => {
  const known = { model: 'm', messages: HELLO, stream: true, max_tokens: 9, metadata: { a: 'b' } }
  const body = {
    ...known,
    user: 'ann',
    logprobs: true,
    verbosity: 'low',
    store: null,
    logit_bias: null,
    top_k: 5,
    stream_options: { include_usage: true },
    service_tier: 'auto',
  }
  assert.deepEqual(await sent(body), known)
  assert.deepEqual(unknownIn(body, 'chat'), ['user', 'logprobs', 'verbosity', 'top_k'])
})

test('fields that the place knows under another name are renamed', async () => {
  assert.deepEqual(await sent({ messages: HELLO, seed: 7, max_completion_tokens: 9 }), {
    messages: HELLO,
    random_seed: 7,
    max_tokens: 9,
  })
  assert.deepEqual(await sent({ messages: HELLO, seed: null, max_tokens: 9 }), {
    messages: HELLO,
    max_tokens: 9,
  })
  assert.deepEqual(unknownIn({ messages: HELLO, seed: 7 }, 'chat'), [])
})

test('messages keep only the members that the place accepts', async () => {
  const calls = [{ id: 'Abcde6789', type: 'function', function: { name: 'f', arguments: '{}' } }]
  const messages = [
    { role: 'user', content: 'x', name: 'ann' },
    {
      role: 'assistant',
      content: null,
      refusal: null,
      annotations: [],
      reasoning_content: 'hm',
      reasoning_details: [{ type: 'reasoning.text', text: 'hm' }],
      tool_calls: calls,
    },
    { role: 'tool', content: 'ok', tool_call_id: 'Abcde6789', name: 'f' },
    { role: 'assistant', content: null, refusal: 'No.' },
  ]
  assert.deepEqual(await sent({ messages }), {
    messages: [
      { role: 'user', content: 'x' },
      { role: 'assistant', content: null, tool_calls: calls },
      { role: 'tool', content: 'ok', tool_call_id: 'Abcde6789', name: 'f' },
      { role: 'assistant', content: 'No.' },
    ],
  })
  assert.deepEqual(unknownIn({ messages }, 'chat'), ['messages.name', 'messages.reasoning_details'])
})

test('what a developer message loses is reported, too', () => {
  const messages = [{ role: 'developer', content: 'x', name: 'ann' }, ...HELLO]
  assert.deepEqual(unknownIn({ messages }, 'chat'), ['messages.name'])
})

test("a refusal is appended to the message's content", async () => {
  const content = [{ type: 'text', text: 'Well.' }]
  const messages = [
    { role: 'assistant', content: '', refusal: 'No.' },
    { role: 'assistant', content: 'Well. ', refusal: 'No.' },
    { role: 'assistant', content, refusal: 'No.' },
  ]
  assert.deepEqual(await sent({ messages }), {
    messages: [
      { role: 'assistant', content: 'No.' },
      { role: 'assistant', content: 'Well. No.' },
      { role: 'assistant', content: [...content, { type: 'text', text: 'No.' }] },
    ],
  })
})

test('call ids of other models are replaced, in calls and in their results', async () => {
  const call = (id: string) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } })
  const body = (await sent({
    messages: [
      { role: 'assistant', tool_calls: [call('toolu_01A'), call('Abcde6789')] },
      { role: 'tool', content: 'ok', tool_call_id: 'toolu_01A' },
      { role: 'tool', content: 'ok', tool_call_id: 'Abcde6789' },
    ],
  })) as { messages: { tool_calls: { id: string }[]; tool_call_id: string }[] }
  const [answer, first, second] = body.messages
  const ids = answer?.tool_calls.map(({ id }) => id)
  assert.deepEqual(ids, [first?.tool_call_id, second?.tool_call_id])
  assert.match(ids?.[0] ?? '', /^[a-zA-Z0-9]{9}$/)
  assert.equal(ids?.[1], 'Abcde6789')
})

test("instructions after an answer or a tool result move into the user's turn", async () => {
  const result = { role: 'tool', content: 'ok', tool_call_id: 'Abcde6789' }
  const instruct = (content: JsonObject['content']) => ({ role: 'system', content })
  const parts = ['d', 'e'].map((text) => ({ type: 'text', text }))
  const messages = [
    instruct('a'),
    ...HELLO,
    instruct('b'),
    result,
    instruct('c'),
    result,
    instruct(parts),
  ]
  assert.deepEqual(await sent({ messages }), {
    messages: [
      instruct('a'),
      ...HELLO,
      instruct('b'),
      result,
      { role: 'user', content: '<system>\nc\n</system>' },
      result,
      {
        role: 'user',
        content: [
          { type: 'text', text: '<system>\nd\n</system>' },
          { type: 'text', text: '<system>\ne\n</system>' },
        ],
      },
    ],
  })
})

test('an acceptable request keeps its bytes', async () => {
  const body = '{ "messages": [ {"role":"user","content":"x"} ], "temperature": 1.0 }'
  assert.equal((await withoutUnknown(Buffer.from(body), 'chat')).toString(), body)
})

test('names of built-in object members are treated like any others', async () => {
  const body = { messages: [{ role: 'constructor', content: 'x' }], toString: 'y' }
  assert.deepEqual(await sent(body), { messages: body.messages })
  assert.deepEqual(unknownIn(body, 'chat'), ['toString'])
})

test('embeddings have their own accepted fields and names', async () => {
  const body = { model: 'm', input: 'x', encoding_format: 'base64', dimensions: 8, user: 'ann' }
  assert.deepEqual(await sent(body, 'embeddings'), {
    model: 'm',
    input: 'x',
    encoding_format: 'base64',
    output_dimension: 8,
  })
  assert.deepEqual(unknownIn(body, 'embeddings'), ['user'])
})
