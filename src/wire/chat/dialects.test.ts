// What servers that differ from OpenAI are sent instead, and what is reported to the client as left out.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../core/json.ts'
import { readJsonBody, rewriteMembers } from '../json/body.ts'
import { inDialect, leftOutIn } from './dialects.ts'

type Spoken = Parameters<typeof inDialect>[1]

const ORIGINAL: Spoken = { dialect: 'original', format: 'chat' }

const told = (body: string, spoken: Spoken): string =>
  rewriteMembers(readJsonBody(Buffer.from(body)), (value) => inDialect(value, spoken)).toString()

const older = (body: object): unknown => JSON.parse(told(JSON.stringify(body), ORIGINAL))

const sent = (body: JsonObject, format: 'chat' | 'embeddings' = 'chat'): unknown =>
  JSON.parse(told(JSON.stringify(body), { dialect: 'mistral', format }))

const unknown = (body: JsonObject, format: 'chat' | 'embeddings' = 'chat'): readonly string[] =>
  leftOutIn(body, { dialect: 'mistral', format })

test('the output limit is sent under the name that all servers obey', () => {
  for (const [given, told] of [
    [{ max_completion_tokens: 9 }, { max_tokens: 9 }],
    [{ max_tokens: 7, max_completion_tokens: 9 }, { max_tokens: 9 }],
    // null counts as absent: it must not erase the limit that the hold pays for.
    [{ max_tokens: 7, max_completion_tokens: null }, { max_tokens: 7 }],
    [{ max_completion_tokens: null, max_tokens: 7 }, { max_tokens: 7 }],
    [{ max_tokens: null, max_completion_tokens: 9 }, { max_tokens: 9 }],
  ]) {
    assert.deepEqual(older({ model: 'm', ...given }), { model: 'm', ...told })
  }
})

test('a limit whose name is spelled with escapes is renamed too', () => {
  const body = '{"model":"m","max_completion_token\\u0073":9}'
  assert.equal(told(body, ORIGINAL), '{"model":"m","max_tokens":9}')
})

test('instructions get the role that all servers know', () => {
  assert.deepEqual(older({ messages: [{ role: 'developer', content: 'Be brief.' }] }), {
    messages: [{ role: 'system', content: 'Be brief.' }],
  })
})

test('integers beside a role that changes stay as they were written', () => {
  const body = '{"messages":[{"role":"developer","row":9223372036854775807}]}'
  assert.equal(told(body, ORIGINAL), body.replace('developer', 'system'))
})

test('everything else is sent unchanged', () => {
  const plain = '{ "model": "m", "messages": [{"role":"user","content":"x"}] }'
  assert.equal(told(plain, ORIGINAL), plain)
  // A number that would not survive being parsed and written again.
  const messages = '"messages": [{"role":"user","content":"x","weight":1.0}]'
  const limited = told(`{"max_completion_tokens":9, ${messages}}`, ORIGINAL)
  assert.ok(limited.includes(messages) && limited.includes('"max_tokens":9'), limited)
})

const HELLO = [{ role: 'user', content: 'x' }]

test('fields that the place does not accept are left out and reported', () => {
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
  assert.deepEqual(sent(body), known)
  assert.deepEqual(unknown(body), ['user', 'logprobs', 'verbosity', 'top_k'])
})

test('fields that the place knows under another name are renamed', () => {
  assert.deepEqual(sent({ messages: HELLO, seed: 7, max_completion_tokens: 9 }), {
    messages: HELLO,
    random_seed: 7,
    max_tokens: 9,
  })
  assert.deepEqual(sent({ messages: HELLO, seed: null, max_tokens: 9 }), {
    messages: HELLO,
    max_tokens: 9,
  })
  assert.deepEqual(unknown({ messages: HELLO, seed: 7 }), [])
})

test('messages keep only the members that the place accepts', () => {
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
  assert.deepEqual(sent({ messages }), {
    messages: [
      { role: 'user', content: 'x' },
      { role: 'assistant', content: null, tool_calls: calls },
      { role: 'tool', content: 'ok', tool_call_id: 'Abcde6789', name: 'f' },
      { role: 'assistant', content: 'No.' },
    ],
  })
  assert.deepEqual(unknown({ messages }), ['messages.name', 'messages.reasoning_details'])
})

test('what a developer message loses is reported, too', () => {
  const messages = [{ role: 'developer', content: 'x', name: 'ann' }, ...HELLO]
  assert.deepEqual(unknown({ messages }), ['messages.name'])
})

test("a refusal is appended to the message's content", () => {
  const content = [{ type: 'text', text: 'Well.' }]
  const messages = [
    { role: 'assistant', content: '', refusal: 'No.' },
    { role: 'assistant', content: 'Well. ', refusal: 'No.' },
    { role: 'assistant', content, refusal: 'No.' },
  ]
  assert.deepEqual(sent({ messages }), {
    messages: [
      { role: 'assistant', content: 'No.' },
      { role: 'assistant', content: 'Well. No.' },
      { role: 'assistant', content: [...content, { type: 'text', text: 'No.' }] },
    ],
  })
})

test('call ids of other models are replaced, in calls and in their results', () => {
  const call = (id: string) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } })
  const body = sent({
    messages: [
      { role: 'assistant', tool_calls: [call('toolu_01A'), call('Abcde6789')] },
      { role: 'tool', content: 'ok', tool_call_id: 'toolu_01A' },
      { role: 'tool', content: 'ok', tool_call_id: 'Abcde6789' },
    ],
  }) as { messages: { tool_calls: { id: string }[]; tool_call_id: string }[] }
  const [answer, first, second] = body.messages
  const ids = answer?.tool_calls.map(({ id }) => id)
  assert.deepEqual(ids, [first?.tool_call_id, second?.tool_call_id])
  assert.match(ids?.[0] ?? '', /^[a-zA-Z0-9]{9}$/)
  assert.equal(ids?.[1], 'Abcde6789')
})

test("instructions after an answer or a tool result move into the user's turn", () => {
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
  assert.deepEqual(sent({ messages }), {
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

test('an acceptable request keeps its bytes', () => {
  const body = '{ "messages": [ {"role":"user","content":"x"} ], "temperature": 1.0 }'
  assert.equal(told(body, { dialect: 'mistral', format: 'chat' }), body)
})

test('names of built-in object members are treated like any others', () => {
  const body = { messages: [{ role: 'constructor', content: 'x' }], toString: 'y' }
  assert.deepEqual(sent(body), { messages: body.messages })
  assert.deepEqual(unknown(body), ['toString'])
})

test('embeddings have their own accepted fields and names', () => {
  const body = { model: 'm', input: 'x', encoding_format: 'base64', dimensions: 8, user: 'ann' }
  assert.deepEqual(sent(body, 'embeddings'), {
    model: 'm',
    input: 'x',
    encoding_format: 'base64',
    output_dimension: 8,
  })
  assert.deepEqual(unknown(body, 'embeddings'), ['user'])
})

const FILE = '{"messages":[{"role":"user","content":[{"type":"file","file":{"file_data":"x"}}]}]}'

const engineOf = (body: string, readsFiles: boolean): unknown => {
  const spoken = { dialect: 'openrouter', format: 'chat', readsFiles } as const
  const { plugins } = JSON.parse(told(body, spoken)) as {
    readonly plugins?: readonly { readonly id: string; readonly pdf: { readonly engine: string } }[]
  }
  return plugins?.map(({ id, pdf }) => [id, pdf.engine]).flat()
}

test('files go to models that read them, and through the free parser to others', () => {
  assert.deepEqual(engineOf(FILE, true), ['file-parser', 'native'])
  assert.deepEqual(engineOf(FILE, false), ['file-parser', 'cloudflare-ai'])
})

test('the parser is set wherever a file may be, and in the place of no plugins', () => {
  for (const body of [
    FILE.replace('"file",', '"\\u0066ile",'),
    '{"input":[{"role":"user","content":[{"type":"input_file","file_data":"x"}]}]}',
    '{"messages":[{"role":"user","content":[{"file":{"file_data":"x"}}]}]}',
    FILE.replace('{', '{"plugins":null,'),
  ]) {
    assert.deepEqual(engineOf(body, false), ['file-parser', 'cloudflare-ai'], body)
  }
})

test('a request without files is sent unchanged', () => {
  const plain = '{ "messages": [{"role":"user","content":"a \\"file\\" \\u001b"}] }'
  assert.equal(told(plain, { dialect: 'openrouter', format: 'chat' }), plain)
})
