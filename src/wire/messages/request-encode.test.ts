// Requests of other formats, encoded for a messages provider: turns alternate, and nothing is sent that it refuses.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SAMPLE_CONVERSATION } from '../../../test/samples/conversation.ts'
import { GatewayError } from '../../core/errors.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Conversation, Message, TextPart, Tool } from '../../core/request.ts'
import { encodeRequest } from './request-encode.ts'

const text = (words: string): TextPart => ({ type: 'text', text: words })
const user = (words: string): Message => ({ role: 'user', parts: [text(words)] })
const assistant = (words: string): Message => ({ role: 'assistant', parts: [text(words)] })
const system = (words: string): Message => ({ role: 'system', parts: [text(words)] })
const call = (id: string, input = '{}'): Message => ({
  role: 'assistant',
  parts: [{ type: 'tool-call', id, name: 'f', input, custom: false }],
})
const result = (callId: string, words: string): Message => ({
  role: 'tool',
  callId,
  parts: [text(words)],
})
const tool = (name: string): Tool => ({ type: 'function', name, schema: {} })

function encode(changes: Partial<Conversation>): JsonObject {
  const request = encodeRequest({ ...SAMPLE_CONVERSATION, outputTokensMax: 4096, ...changes })
  return JSON.parse(JSON.stringify(request)) as JsonObject
}

describe('turns', () => {
  const said = (words: string): JsonObject => ({ type: 'text', text: words })
  const nothing = said('(no content)')
  const use = (id: string, input: JsonObject = {}): JsonObject => ({
    type: 'tool_use',
    id,
    name: 'f',
    input,
  })
  const answer = (id: string, words: string): JsonObject => ({
    type: 'tool_result',
    tool_use_id: id,
    content: [said(words)],
  })
  type Turns = [role: string, ...content: JsonObject[]][]
  const cases: Record<string, [Message[], Turns]> = {
    'successive messages of one role form one turn': [
      [user('a'), user('b'), assistant('c'), assistant('d'), user('e')],
      [
        ['user', said('a'), said('b')],
        ['assistant', said('c'), said('d')],
        ['user', said('e')],
      ],
    ],
    'results come first in the turn after the calls': [
      [user('a'), call('1'), user('b'), result('1', 'r')],
      [
        ['user', said('a')],
        ['assistant', use('1')],
        ['user', answer('1', 'r'), said('b')],
      ],
    ],
    'an instruction between turns goes into the user’s turn': [
      [user('a'), assistant('b'), system('c'), user('d')],
      [
        ['user', said('a')],
        ['assistant', said('b')],
        ['user', said('<system>\nc\n</system>'), said('d')],
      ],
    ],
    'the first turn is the user’s': [
      [assistant('a'), user('b')],
      [
        ['user', nothing],
        ['assistant', said('a')],
        ['user', said('b')],
      ],
    ],
    'there is always at least one turn': [[system('a')], [['user', nothing]]],
    'blank texts are left out': [
      [user('a'), { role: 'assistant', parts: [text(' \n')] }, { role: 'user', parts: [] }],
      [
        ['user', said('a')],
        ['assistant', nothing],
        ['user', nothing],
      ],
    ],
    'a prefilled answer does not end in white space': [
      [user('a'), assistant('b '), user('c'), assistant('d \n')],
      [
        ['user', said('a')],
        ['assistant', said('b ')],
        ['user', said('c')],
        ['assistant', said('d')],
      ],
    ],
    'ids that this format cannot carry are replaced alike in call and result': [
      [user('a'), call('functions.f:0'), result('functions.f:0', 'r')],
      [
        ['user', said('a')],
        ['assistant', use('toolu_1r3U3jKKIu3WEPlUi09B')],
        ['user', answer('toolu_1r3U3jKKIu3WEPlUi09B', 'r')],
      ],
    ],
    'call input that is no object is kept as raw text': [
      [user('a'), call('1', ''), call('2', '{"a":'), call('3', '[1]')],
      [
        ['user', said('a')],
        ['assistant', use('1'), use('2', { _raw: '{"a":' }), use('3', { _raw: '[1]' })],
      ],
    ],
    'a refusal becomes a text': [
      [user('a'), { role: 'assistant', parts: [{ type: 'refusal', text: 'No.' }] }, user('b')],
      [
        ['user', said('a')],
        ['assistant', said('No.')],
        ['user', said('b')],
      ],
    ],
  }
  for (const [what, [messages, expected]] of Object.entries(cases)) {
    test(what, () => {
      const turns = expected.map(([role, ...content]) => ({ role, content }))
      assert.deepEqual(encode({ messages })['messages'], turns)
    })
  }
})

test('the system prompt holds the leading instructions, block by block, and the request for JSON', () => {
  const cached: Message = { role: 'developer', parts: [{ ...text('b'), cache: {} }] }
  const body = encode({
    messages: [system('a'), cached, user('c')],
    outputFormat: { type: 'json' },
  })
  const blocks = body['system'] as JsonObject[]
  assert.deepEqual(blocks.slice(0, 2), [
    { type: 'text', text: 'a' },
    { type: 'text', text: 'b', cache_control: { type: 'ephemeral' } },
  ])
  assert.match(String(blocks[2]?.['text']), /JSON/)
  assert.equal(blocks.length, 3)
  assert.equal(encode({})['system'], undefined)
})

test('files become documents', () => {
  const sources: [Extract<Message, { role: 'user' }>['parts'][number], JsonObject][] = [
    [
      { type: 'file', source: { type: 'base64', mediaType: 'application/pdf', data: 'JVBERg==' } },
      { type: 'base64', media_type: 'application/pdf', data: 'JVBERg==' },
    ],
    [
      { type: 'file', source: { type: 'base64', mediaType: 'text/csv', data: 'YTtiw6k=' } },
      { type: 'text', media_type: 'text/plain', data: 'a;bé' },
    ],
    [
      { type: 'file', source: { type: 'url', url: 'https://example.com/a.pdf' } },
      { type: 'url', url: 'https://example.com/a.pdf' },
    ],
  ]
  for (const [part, source] of sources) {
    const body = encode({ messages: [{ role: 'user', parts: [part] }] })
    assert.deepEqual(body['messages'], [{ role: 'user', content: [{ type: 'document', source }] }])
  }
})

test('tools and the choice among them are encoded', () => {
  const tools = [tool('a'), tool('b')]
  const choose = (changes: Partial<Conversation>) => encode({ tools, ...changes })['tool_choice']
  assert.equal(choose({}), undefined)
  assert.equal(encode({ toolChoice: { type: 'required' } })['tool_choice'], undefined)
  assert.deepEqual(choose({ parallelToolCalls: false }), {
    type: 'auto',
    disable_parallel_tool_use: true,
  })
  assert.deepEqual(choose({ parallelToolCalls: true, toolChoice: { type: 'auto' } }), {
    type: 'auto',
  })
  assert.deepEqual(choose({ parallelToolCalls: false, toolChoice: { type: 'none' } }), {
    type: 'none',
  })
  assert.deepEqual(choose({ parallelToolCalls: false, toolChoice: { type: 'required' } }), {
    type: 'any',
    disable_parallel_tool_use: true,
  })
  assert.deepEqual(choose({ toolChoice: { type: 'tool', name: 'b' } }), { type: 'tool', name: 'b' })
  const allowed = encode({ tools, toolChoice: { type: 'allowed', names: ['b'], required: true } })
  assert.deepEqual(allowed['tools'], [{ name: 'b', input_schema: { type: 'object' } }])
  assert.deepEqual(allowed['tool_choice'], { type: 'any' })
})

test('a custom tool becomes a function with one text, in the history too', () => {
  const grammar = { type: 'grammar', syntax: 'regex', definition: '[a-z]+' }
  const body = encode({
    tools: [{ type: 'custom', name: 'patch', description: 'Patches.', inputFormat: grammar }],
    messages: [
      user('a'),
      {
        role: 'assistant',
        parts: [{ type: 'tool-call', id: '1', name: 'patch', input: 'abc', custom: true }],
      },
      result('1', 'done'),
    ],
  })
  const [patch] = body['tools'] as JsonObject[]
  assert.deepEqual(patch, {
    name: 'patch',
    description: `Patches.\n\nThe input must follow this format: ${JSON.stringify(grammar)}`,
    input_schema: {
      type: 'object',
      properties: { input: { type: 'string' } },
      required: ['input'],
      additionalProperties: false,
    },
  })
  const [, turn] = body['messages'] as JsonObject[]
  assert.deepEqual((turn?.['content'] as JsonObject[] | undefined)?.[0]?.['input'], {
    input: 'abc',
  })
})

test('a tool name that this format cannot carry is a 400', () => {
  assert.throws(
    () => encode({ tools: [tool('a.b')] }),
    (error) => error instanceof GatewayError && error.status === 400,
  )
})

test('reasoning and sampling settings are encoded within their limits', () => {
  const tools = [tool('a')]
  const cases: Record<string, [Partial<Conversation>, JsonObject]> = {
    nothing: [{}, {}],
    'an effort': [
      { reasoning: { effort: 'xhigh' } },
      { thinking: { type: 'adaptive' }, output_config: { effort: 'xhigh' } },
    ],
    'the least effort': [
      { reasoning: { effort: 'minimal', display: 'summary' } },
      { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'low' } },
    ],
    none: [{ reasoning: { effort: 'none' } }, { thinking: { type: 'disabled' } }],
    'a budget': [
      { reasoning: { tokensMax: 2000 } },
      { thinking: { type: 'enabled', budget_tokens: 2000 } },
    ],
    'a thinking budget above the limit': [
      { reasoning: { tokensMax: 8000 } },
      { thinking: { type: 'enabled', budget_tokens: 4095 } },
    ],
    'a limit that leaves no room to think': [
      { reasoning: { tokensMax: 2000 }, outputTokensMax: 1024 },
      { max_tokens: 1024 },
    ],
    'a forced tool rules out thinking': [
      { reasoning: { effort: 'high' }, tools, toolChoice: { type: 'required' } },
      { output_config: { effort: 'high' } },
    ],
    'a temperature above the maximum': [
      { sampling: { temperature: 1.7, topK: 5, stop: ['END'] } },
      { temperature: 1, top_k: 5, stop_sequences: ['END'] },
    ],
    'temperature and top_p': [{ sampling: { temperature: 0.2, topP: 0.5 } }, { temperature: 0.2 }],
    top_p: [{ sampling: { topP: 0.5 } }, { top_p: 0.5 }],
    'thinking rules out temperature and top_p': [
      { reasoning: { effort: 'low' }, sampling: { temperature: 0.2, topP: 0.5, stop: ['END'] } },
      {
        thinking: { type: 'adaptive' },
        output_config: { effort: 'low' },
        stop_sequences: ['END'],
      },
    ],
  }
  for (const [what, [changes, expected]] of Object.entries(cases)) {
    const { tools: _, tool_choice: __, ...body } = encode(changes)
    const plain = { model: 'm', messages: body['messages'], max_tokens: 4096 }
    assert.deepEqual(body, { ...plain, ...expected }, what)
  }
})

test('the end user, the tier and streaming are encoded', () => {
  assert.deepEqual(encode({ endUser: 'u' })['metadata'], { user_id: 'u' })
  assert.equal(encode({ serviceTier: 'default' })['service_tier'], 'standard_only')
  assert.equal(encode({ serviceTier: 'auto' })['service_tier'], 'auto')
  assert.equal(encode({ stream: true })['stream'], true)
})

test('only the last four of more cache marks are kept', () => {
  const marked = (words: string, ttl?: string): TextPart => ({
    ...text(words),
    cache: ttl === undefined ? {} : { ttl },
  })
  const body = encode({
    tools: [{ ...tool('a'), cache: {} }],
    messages: [
      { role: 'system', parts: [marked('b')] },
      { role: 'user', parts: [marked('c'), marked('d', '30m'), marked('e', '12h')] },
      { role: 'assistant', parts: [text('f')] },
      { role: 'user', parts: [marked('g')] },
    ],
  })
  const marks = JSON.stringify(body).match(/"text":"."(,"cache_control":[^}]*\})?/g)
  assert.deepEqual(marks, [
    '"text":"b"',
    '"text":"c","cache_control":{"type":"ephemeral"}',
    '"text":"d","cache_control":{"type":"ephemeral"}',
    '"text":"e","cache_control":{"type":"ephemeral","ttl":"1h"}',
    '"text":"f"',
    '"text":"g","cache_control":{"type":"ephemeral"}',
  ])
  assert.deepEqual(body['tools'], [{ name: 'a', input_schema: { type: 'object' } }])
})
