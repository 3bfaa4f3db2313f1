// The worst case of every list that a request may carry, at any size: the tests of how long bodies hold up the serving
// thread generate their bodies here. Each is valid as far as possible, so that every pass over it runs to its end.
import type { Format } from '../../src/core/endpoints.ts'
import type { Json, JsonObject } from '../../src/core/json.ts'
import { packReasoning } from '../../src/wire/content/opaque-reasoning.ts'

/** A request with one list of `count` entries; the rest of it is as small as it can be. */
type Make = (count: number) => JsonObject

export type WorstBody = {
  readonly format: Format
  /** The list, in words. */
  readonly list: string
  readonly make: Make
}

/** Every list of every client format. */
export function worstBodies(): readonly WorstBody[] {
  return Object.entries<Readonly<Record<string, Make>>>({
    chat: { ...CHAT, ...inEveryFormat('chat') },
    responses: { ...RESPONSES, ...inEveryFormat('responses') },
    messages: { ...MESSAGES, ...inEveryFormat('messages') },
    embeddings: EMBEDDINGS,
  }).flatMap(([format, lists]) =>
    Object.entries(lists).map(([list, make]) => ({
      format: format as Format,
      list,
      make: (count) => ({ model: 'm', ...make(count) }),
    })),
  )
}

const user: JsonObject = { role: 'user', content: 'x' }

const CHAT: Readonly<Record<string, Make>> = {
  'user messages in a row': (count) => ({ messages: many(count, () => user) }),
  'assistant messages in a row': (count) => ({
    messages: [user, ...many(count, () => ({ role: 'assistant', content: 'x' }))],
  }),
  'messages in turn': (count) => ({ messages: inTurn(count) }),
  instructions: (count) => ({
    messages: [...many(count, () => ({ role: 'system', content: 'x' })), user],
  }),
  'late instructions': (count) => ({
    messages: [user, ...many(count, () => ({ role: 'developer', content: 'x' }))],
  }),
  parts: (count) => ({ messages: [{ role: 'user', content: many(count, textPart) }] }),
  images: (count) => ({
    messages: [
      {
        role: 'user',
        content: many(count, () => ({ type: 'image_url', image_url: { url: PICTURE } })),
      },
    ],
  }),
  'calls and results': (count) => ({
    messages: [
      user,
      { role: 'assistant', tool_calls: many(count, chatCall) },
      ...many(count, chatResult).toReversed(),
    ],
  }),
  'tool loops': (count) => ({
    messages: [
      user,
      ...many(count, (index) => [
        { role: 'assistant', tool_calls: [chatCall(index)] },
        chatResult(index),
      ]).flat(),
    ],
  }),
  'tool loops with one call id': (count) => ({
    messages: [
      user,
      ...many(count, () => [
        { role: 'assistant', tool_calls: [chatCall(0)] },
        chatResult(0),
      ]).flat(),
    ],
  }),
  'results by name': (count) => ({
    messages: [
      user,
      { role: 'assistant', tool_calls: many(count, (index) => chatCall(index, '{}', `f${index}`)) },
      ...many(count, (index) => ({
        role: 'function',
        name: `f${index}`,
        content: 'x',
      })).toReversed(),
    ],
  }),
  'parts of a result': (count) => ({
    messages: [
      user,
      { role: 'assistant', tool_calls: [chatCall(0)] },
      { role: 'tool', tool_call_id: 'c0', content: many(count, textPart) },
    ],
  }),
  thoughts: (count) => ({
    messages: [
      user,
      {
        role: 'assistant',
        content: 'x',
        reasoning_details: many(count, () => ({
          type: 'reasoning.text',
          text: 'x',
          signature: PACKED,
        })),
      },
      user,
    ],
  }),
  'signed calls': (count) => ({
    messages: [
      user,
      {
        role: 'assistant',
        reasoning_details: many(count, () => ({ type: 'reasoning.encrypted', data: SIGNATURE })),
        tool_calls: many(count, chatCall),
      },
      ...many(count, chatResult),
    ],
  }),
  'allowed tools': (count) => ({
    messages: [user],
    tools: many(count, (index) => toolOf('chat', index)),
    tool_choice: {
      type: 'allowed_tools',
      allowed_tools: { mode: 'auto', tools: many(count, (index) => toolOf('chat', index)) },
    },
  }),
  functions: (count) => ({
    messages: [user],
    functions: many(count, (index) => ({ name: `f${index}`, parameters: {} })),
  }),
  'hosted tools': (count) => ({
    messages: [user],
    tools: many(count, (index) => ({ type: `hosted_${index}` })),
  }),
  biases: (count) => ({ messages: [user], logit_bias: members(count, () => 1) }),
  'stop sequences': (count) => ({ messages: [user], stop: many(count, (index) => `s${index}`) }),
  'properties of an answer': (count) => ({
    messages: [user],
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'n', strict: true, schema: manyProperties(count) },
    },
  }),
}

const RESPONSES: Readonly<Record<string, Make>> = {
  'user items in a row': (count) => ({ input: many(count, () => user) }),
  'items in turn': (count) => ({ input: inTurn(count) }),
  'assistant items in a row': (count) => ({
    input: [user, ...many(count, () => ({ role: 'assistant', content: 'x' }))],
  }),
  parts: (count) => ({
    input: [{ role: 'user', content: many(count, () => ({ type: 'input_text', text: 'x' })) }],
  }),
  'calls and results': (count) => ({
    input: [user, ...many(count, callItem), ...many(count, resultItem).toReversed()],
  }),
  'tool loops': (count) => ({
    input: [user, ...many(count, (index) => [callItem(index), resultItem(index)]).flat()],
  }),
  'tool loops with one call id': (count) => ({
    input: [user, ...many(count, () => [callItem(0), resultItem(0)]).flat()],
  }),
  'thoughts and calls': (count) => ({
    input: [
      user,
      ...many(count, (index) => [
        { type: 'reasoning', id: `rs_${index}`, summary: [], encrypted_content: SIGNATURE },
        callItem(index),
      ]).flat(),
      ...many(count, resultItem),
    ],
  }),
  'parts of a summary': (count) => ({
    input: [
      user,
      {
        type: 'reasoning',
        summary: many(count, () => ({ type: 'summary_text', text: 'x' })),
        encrypted_content: SIGNATURE,
      },
      { role: 'assistant', content: 'x' },
      user,
    ],
  }),
  'allowed tools': (count) => ({
    input: 'x',
    tools: many(count, (index) => toolOf('responses', index)),
    tool_choice: {
      type: 'allowed_tools',
      mode: 'auto',
      tools: many(count, (index) => ({ type: 'function', name: `f${index}` })),
    },
  }),
  'tools of a namespace that is named again and again': (count) => ({
    input: 'x',
    tools: [
      {
        type: 'namespace',
        name: 'n',
        tools: many(count, (index) => toolOf('responses', index)),
      },
    ],
    tool_choice: {
      type: 'allowed_tools',
      mode: 'auto',
      tools: many(count, () => ({ type: 'namespace', name: 'n' })),
    },
  }),
  'namespaces named once each': (count) => ({
    input: 'x',
    tools: many(count, (index) => ({
      type: 'namespace',
      name: `n${index}`,
      tools: [toolOf('responses', 0)],
    })),
    tool_choice: {
      type: 'allowed_tools',
      mode: 'auto',
      tools: many(count, (index) => ({ type: 'namespace', name: `n${index}` })),
    },
  }),
  'items that bring tools': (count) => ({
    input: [
      user,
      ...many(count, (index) => ({
        type: 'additional_tools',
        tools: [toolOf('responses', index)],
      })),
    ],
  }),
  'hosted tools': (count) => ({
    input: 'x',
    tools: many(count, (index) => ({ type: `hosted_${index}` })),
  }),
  includes: (count) => ({ input: 'x', include: many(count, (index) => `i${index}`) }),
  'properties of an answer': (count) => ({
    input: 'x',
    text: {
      format: { type: 'json_schema', name: 'n', strict: true, schema: manyProperties(count) },
    },
  }),
}

const MESSAGES: Readonly<Record<string, Make>> = {
  'user turns in a row': (count) => ({ max_tokens: 9, messages: many(count, () => user) }),
  'assistant turns in a row': (count) => ({
    max_tokens: 9,
    messages: [user, ...many(count, () => ({ role: 'assistant', content: 'x' }))],
  }),
  'turns in turn': (count) => ({ max_tokens: 9, messages: inTurn(count) }),
  'instructions between turns': (count) => ({
    max_tokens: 9,
    messages: [user, ...many(count, () => ({ role: 'system', content: 'x' }))],
  }),
  'system blocks': (count) => ({ max_tokens: 9, system: many(count, textPart), messages: [user] }),
  blocks: (count) => ({
    max_tokens: 9,
    messages: [{ role: 'user', content: many(count, textPart) }],
  }),
  'marked blocks': (count) => ({
    max_tokens: 9,
    messages: [
      {
        role: 'user',
        content: many(count, () => ({
          type: 'text',
          text: 'x',
          cache_control: { type: 'ephemeral' },
        })),
      },
    ],
  }),
  images: (count) => ({
    max_tokens: 9,
    messages: [
      {
        role: 'user',
        content: many(count, () => ({
          type: 'image',
          source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' },
        })),
      },
    ],
  }),
  'blocks of a document': (count) => ({
    max_tokens: 9,
    messages: [
      {
        role: 'user',
        content: [
          { type: 'document', source: { type: 'content', content: many(count, textPart) } },
        ],
      },
    ],
  }),
  'blocks of a search result': (count) => ({
    max_tokens: 9,
    messages: [
      {
        role: 'user',
        content: [
          { type: 'search_result', title: 't', source: 's', content: many(count, textPart) },
        ],
      },
    ],
  }),
  'calls and results': (count) => ({
    max_tokens: 9,
    messages: [
      user,
      { role: 'assistant', content: many(count, useBlock) },
      { role: 'user', content: many(count, resultBlock).toReversed() },
    ],
  }),
  'results after other content': (count) => ({
    max_tokens: 9,
    messages: [
      user,
      { role: 'assistant', content: many(count, useBlock) },
      ...many(count, () => user),
      ...many(count, (index) => ({ role: 'user', content: [resultBlock(index), textPart()] })),
    ],
  }),
  'tool loops': (count) => ({
    max_tokens: 9,
    messages: [
      user,
      ...many(count, (index) => [
        { role: 'assistant', content: [useBlock(index)] },
        { role: 'user', content: [resultBlock(index)] },
      ]).flat(),
    ],
  }),
  'tool loops with one call id': (count) => ({
    max_tokens: 9,
    messages: [
      user,
      ...many(count, () => [
        { role: 'assistant', content: [useBlock(0)] },
        { role: 'user', content: [resultBlock(0)] },
      ]).flat(),
    ],
  }),
  'references to tools': (count) => ({
    max_tokens: 9,
    tools: many(count, (index) => ({ ...toolOf('messages', index), defer_loading: true })),
    messages: [
      user,
      { role: 'assistant', content: [useBlock(0)] },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 't0',
            content: many(count, (index) => ({ type: 'tool_reference', tool_name: `f${index}` })),
          },
        ],
      },
    ],
  }),
  thoughts: (count) => ({
    max_tokens: 9_000,
    thinking: { type: 'enabled', budget_tokens: 2_000 },
    messages: [
      user,
      {
        role: 'assistant',
        content: [
          ...many(count, () => ({ type: 'thinking', thinking: 'x', signature: PACKED })),
          textPart(),
        ],
      },
      user,
    ],
  }),
  'stop sequences': (count) => ({
    max_tokens: 9,
    messages: [user],
    stop_sequences: many(count, (index) => `s${index}`),
  }),
  'properties of an answer': (count) => ({
    max_tokens: 9,
    messages: [user],
    output_config: { format: { type: 'json_schema', schema: manyProperties(count) } },
  }),
}

const EMBEDDINGS: Readonly<Record<string, Make>> = {
  // More than 2,048 are refused.
  texts: (count) => ({ input: many(2_000, () => 'x'.repeat(Math.ceil(count / 200))) }),
  tokens: (count) => ({ input: many(10 * count, (index) => index % 100_000) }),
  'lists of tokens': (count) => ({
    input: many(2_000, () => many(Math.ceil(count / 200), (index) => index)),
  }),
  'unknown members': (count) => ({ input: 'x', extra: members(count, () => 'x') }),
}

const BARE = {
  chat: { messages: [user] },
  responses: { input: [user] },
  messages: { max_tokens: 9, messages: [user] },
} as const satisfies Record<string, JsonObject>

type Conversing = keyof typeof BARE

/** What is alike in every format: tools and their schemas, labels, texts, and JSON inside of JSON. */
function inEveryFormat(format: Conversing): Readonly<Record<string, Make>> {
  const bare = BARE[format]
  const tool = (schema: JsonObject, more: ToolSettings = {}): JsonObject => ({
    ...bare,
    tools: [toolOf(format, 0, { schema, ...more })],
  })
  return {
    tools: (count) => ({ ...bare, tools: many(count, (index) => toolOf(format, index)) }),
    'properties of a tool': (count) => tool(manyProperties(count)),
    'properties of a strict tool': (count) => tool(manyProperties(count), { strict: true }),
    'required properties': (count) =>
      tool({ ...manyProperties(10), required: many(10 * count, (index) => `p${index}`) }),
    'required properties of a strict tool': (count) =>
      tool(
        {
          ...manyProperties(count),
          required: many(5 * count, (index) => `p${5 * count - 1 - index}`),
        },
        { strict: true },
      ),
    'enum values': (count) =>
      tool({
        type: 'object',
        properties: { p: { type: 'string', enum: many(10 * count, (index) => `e${index}`) } },
      }),
    'types of a property': (count) =>
      tool({ type: 'object', properties: { p: { type: many(10 * count, () => 'string') } } }),
    'alternatives of a strict schema': (count) =>
      tool(
        {
          type: 'object',
          additionalProperties: false,
          required: ['p'],
          properties: {
            p: { anyOf: many(count, () => ({ type: 'string', minLength: 1, pattern: 'x' })) },
          },
        },
        { strict: true },
      ),
    labels: (count) => ({ ...bare, metadata: members(count, () => 'x') }),
    'unknown members': (count) => ({ ...bare, extra: members(count, () => 'x') }),
    'nested lists': (count) => ({
      ...bare,
      extra: many(Math.ceil(count / 50), () => nested(50, (inner) => [inner])),
    }),
    'nested objects': (count) => ({
      ...bare,
      extra: many(Math.ceil(count / 50), () => nested(50, (inner) => ({ a: inner }))),
    }),
    'a plain text': (count) => withText(format, 'x'.repeat(200 * count)),
    'a text of escapes': (count) => withText(format, '"\\\n'.repeat(50 * count)),
    'a text beyond ASCII': (count) => withText(format, 'aé语😀'.repeat(20 * count)),
    'a text beside a long integer': (count) => ({
      ...withText(format, '语'.repeat(60 * count)),
      extra: 1e20,
    }),
    'backslashes before quotes': (count) => withText(format, `${'\\'.repeat(100 * count)}"`),
    integers: (count) => ({ ...bare, extra: many(5 * count, (index) => index) }),
    'members of arguments': (count) =>
      withArguments(format, JSON.stringify(members(2 * count, () => 1))),
    'long integers in arguments': (count) =>
      withArguments(format, `{"a":[${many(count, () => '12345678901234567890').join(',')}]}`),
    'brackets in arguments': (count) =>
      withArguments(format, JSON.stringify({ a: '[{'.repeat(5 * count) })),
    'levels in arguments': (count) =>
      withArguments(format, `{"a":${'['.repeat(20 * count)}${']'.repeat(20 * count)}}`),
    'a long text in arguments': (count) =>
      withArguments(format, JSON.stringify({ a: 'x"\n'.repeat(30 * count) })),
  }
}

function withText(format: Conversing, text: string): JsonObject {
  const told = { role: 'user', content: text }
  return { ...BARE[format], ...(format === 'responses' ? { input: [told] } : { messages: [told] }) }
}

/** A call with these arguments, and a result with the same text. */
function withArguments(format: Conversing, text: string): JsonObject {
  switch (format) {
    case 'chat':
      return {
        messages: [
          user,
          { role: 'assistant', tool_calls: [chatCall(0, text)] },
          { role: 'tool', tool_call_id: 'c0', content: text },
        ],
      }
    case 'responses':
      return { input: [user, callItem(0, text), { ...resultItem(0), output: text }] }
    case 'messages':
      return {
        max_tokens: 9,
        messages: [
          user,
          { role: 'assistant', content: [{ ...useBlock(0), input: { a: text } }] },
          { role: 'user', content: [{ ...resultBlock(0), content: text }] },
        ],
      }
  }
}

function chatCall(index: number, text = '{}', name = 'f'): JsonObject {
  return { id: `c${index}`, type: 'function', function: { name, arguments: text } }
}

function chatResult(index: number): JsonObject {
  return { role: 'tool', tool_call_id: `c${index}`, content: 'x' }
}

function callItem(index: number, text = '{}'): JsonObject {
  return { type: 'function_call', call_id: `c${index}`, name: 'f', arguments: text }
}

function resultItem(index: number): JsonObject {
  return { type: 'function_call_output', call_id: `c${index}`, output: 'x' }
}

function useBlock(index: number): JsonObject {
  return { type: 'tool_use', id: `t${index}`, name: 'f', input: {} }
}

function resultBlock(index: number): JsonObject {
  return { type: 'tool_result', tool_use_id: `t${index}`, content: 'x' }
}

function textPart(): JsonObject {
  return { type: 'text', text: 'x' }
}

type ToolSettings = { readonly schema?: JsonObject; readonly strict?: true }

function toolOf(
  format: Conversing,
  index: number,
  { schema = { type: 'object', properties: {} }, ...more }: ToolSettings = {},
): JsonObject {
  const name = `f${index}`
  switch (format) {
    case 'chat':
      return { type: 'function', function: { name, parameters: schema, ...more } }
    case 'responses':
      return { type: 'function', name, parameters: schema, ...more }
    case 'messages':
      return { name, input_schema: schema, ...more }
  }
}

/** A closed object whose properties are all required, as strict tools need it. */
function manyProperties(count: number): JsonObject {
  return {
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(many(count, (index) => [`p${index}`, { type: 'string' }])),
    required: many(count, (index) => `p${count - 1 - index}`),
  }
}

function members(count: number, make: (index: number) => Json): JsonObject {
  return Object.fromEntries(many(count, (index) => [`member_${index}`, make(index)]))
}

function inTurn(count: number): JsonObject[] {
  return many(count, (index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content: 'x' }))
}

function nested(levels: number, around: (inner: Json) => Json): Json {
  let value: Json = 1
  for (let level = 0; level < levels; level++) value = around(value)
  return value
}

function many<Each>(count: number, make: (index: number) => Each): Each[] {
  return Array.from({ length: count }, (_, index) => make(index))
}

const PICTURE = 'data:image/png;base64,iVBORw0KGgo='
/** Reasoning as another format would have packed it. */
const PACKED = packReasoning({ format: 'gemini', kind: 'signature', value: 'x' }, 'messages')
const SIGNATURE = packReasoning({ format: 'gemini', kind: 'signature', value: 'x' }, 'chat')
