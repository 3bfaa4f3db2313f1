// Bodies that no client should send, by endpoint: what is wrong, the fields that make it so, and the field that the
// refusal must name. The rest of each body is valid.
import type { Json, JsonObject } from '../../src/core/json.ts'
import type { Post } from './raw.ts'

export type Hostile = {
  readonly what: string
  readonly fields: JsonObject
  /** The beginning of the refusal's `param`. */
  readonly param: string
  /** Refused by the gateway itself; a provider of the client's format judges everything else. */
  readonly always?: true
}

/** The valid fields of each endpoint's body, unless the hostile ones replace them. */
export const ORDERLY: Record<Post, JsonObject> = {
  chat: { messages: [{ role: 'user', content: 'x' }] },
  responses: { input: 'x' },
  input_tokens: { input: 'x' },
  messages: { messages: [{ role: 'user', content: 'x' }], max_tokens: 10 },
  count_tokens: { messages: [{ role: 'user', content: 'x' }] },
  embeddings: { input: 'x' },
}

const COMMON: readonly Hostile[] = [
  always('stream is a word', { stream: 'yes' }),
  always('stream is a number', { stream: 1 }),
  always('stream is an object', { stream: {} }),
  always('no model', { model: null }),
  always('an empty model', { model: '' }),
  always('a model that is a list', { model: ['sandbox-chat'] }),
]

const NAMES: readonly (readonly [string, Json])[] = [
  ['a name with spaces', 'two words'],
  ['a name with NUL', 'a\0b'],
  ['a name of half a character', '\ud83d'],
  ['an empty name', ''],
  ['a name of 1,000 letters', 'n'.repeat(1000)],
  ['a name that is a number', 7],
  ['no name', null],
]

const DATA_URLS: readonly (readonly [string, Json])[] = [
  ['bad base64', 'data:image/png;base64,@@@@'],
  ['base64 with a hole', 'data:image/png;base64,AAAA AAAA'],
  ['base64 that is cut', 'data:image/png;base64,AAAAA'],
  ['base64 of nothing', 'data:image/png;base64,'],
  ['no media type', 'data:;base64,AAAA'],
  ['not base64', 'data:text/plain,hello'],
  ['another scheme', 'ftp://example.com/x.png'],
  ['a script', 'javascript:alert(1)'],
  ['a file of the machine', 'file:///etc/passwd'],
  ['no address', 'x'],
  ['a number', 7],
  ['nothing', null],
]

const chatUser = (content: Json): JsonObject => ({ messages: [{ role: 'user', content }] })
const chatTool = (tool: JsonObject): JsonObject => ({ tools: [tool] })

const CHAT_TOOLS: Json = [{ type: 'function', function: { name: 'f' } }]

const CHAT: readonly Hostile[] = [
  wrong('no messages', { messages: null }),
  wrong('messages are a word', { messages: 'hello' }),
  wrong('a message is null', { messages: [null] }),
  wrong('a message is a word', { messages: ['hello'] }),
  wrong('a message without a role', { messages: [{ content: 'x' }] }),
  wrong('an unknown role', { messages: [{ role: 'wizard', content: 'x' }] }),
  wrong('content is a number', { messages: [{ role: 'user', content: 7 }] }),
  wrong('no content', { messages: [{ role: 'user' }] }),
  wrong('a part is null', chatUser([null]), 'messages'),
  wrong('an unknown part', chatUser([{ type: 'hologram', hologram: {} }]), 'messages'),
  wrong('a part without a type', chatUser([{ text: 'x' }]), 'messages'),
  wrong('a text that is a number', chatUser([{ type: 'text', text: 7 }]), 'messages'),
  ...DATA_URLS.map(([what, url]) =>
    wrong(`image: ${what}`, chatUser([{ type: 'image_url', image_url: { url } }]), 'messages'),
  ),
  ...DATA_URLS.map(([what, file_data]) =>
    wrong(`file: ${what}`, chatUser([{ type: 'file', file: { file_data } }]), 'messages'),
  ),
  wrong(
    'bad base64 in a sound',
    chatUser([{ type: 'input_audio', input_audio: { data: '@@', format: 'wav' } }]),
    'messages',
  ),
  wrong('a result without its call', {
    messages: [
      { role: 'user', content: 'x' },
      { role: 'tool', tool_call_id: 'call_1', content: 'x' },
    ],
  }),
  wrong('a result without an id', {
    messages: [
      { role: 'user', content: 'x' },
      { role: 'tool', content: 'x' },
    ],
  }),
  wrong('a call without a name', {
    messages: [{ role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: {} }] }],
  }),
  wrong('a call of an unknown kind', {
    messages: [{ role: 'assistant', tool_calls: [{ id: 'c', type: 'wish', wish: {} }] }],
  }),
  wrong('calls that are a word', { messages: [{ role: 'assistant', tool_calls: 'x' }] }),
  wrong('tools are an object', { tools: {} }),
  wrong('a tool is a word', { tools: ['x'] }),
  wrong('a tool without a function', chatTool({ type: 'function' }), 'tools'),
  ...NAMES.map(([what, name]) =>
    wrong(`tool: ${what}`, chatTool({ type: 'function', function: { name } }), 'tools'),
  ),
  wrong(
    'parameters that are a word',
    chatTool({ type: 'function', function: { name: 'f', parameters: 'x' } }),
    'tools',
  ),
  wrong('an unknown choice', { tool_choice: 'sometimes', tools: CHAT_TOOLS }),
  wrong('a choice of a number', { tool_choice: 7, tools: CHAT_TOOLS }),
  wrong('a choice of a missing tool', {
    tool_choice: { type: 'function', function: { name: 'g' } },
    tools: CHAT_TOOLS,
  }),
  always('n is 0', { n: 0 }),
  always('n is -1', { n: -1 }),
  always('n is 1.5', { n: 1.5 }),
  always('n is a word', { n: '2' }),
  ...limits('max_tokens', 1),
  ...limits('max_completion_tokens', 1),
  wrong('a temperature in words', { temperature: 'hot' }),
  wrong('a seed in words', { seed: 'x' }),
  wrong('stop is a number', { stop: 7 }),
  wrong('stops are numbers', { stop: [7] }),
  wrong('biases are a number', { logit_bias: 5 }),
  wrong('an unknown format', { response_format: { type: 'xml' } }),
  wrong('a format that is a word', { response_format: 'json' }),
  wrong('a schema that is a word', {
    response_format: { type: 'json_schema', json_schema: { name: 'a', schema: 'x' } },
  }),
  wrong('an unknown effort', { reasoning_effort: 'huge' }),
  wrong('verbosity is a number', { verbosity: 7 }),
]

const item = (value: Json): JsonObject => ({ input: [value] })
const inputUser = (part: Json): JsonObject => item({ role: 'user', content: [part] })

const RESPONSES_TOOLS: Json = [{ type: 'function', name: 'f', parameters: {} }]

const RESPONSES: readonly Hostile[] = [
  wrong('no input', { input: null }),
  wrong('input is a number', { input: 7 }),
  wrong('input is an object', { input: {} }),
  wrong('an item is null', item(null)),
  wrong('an item is a word', item('hello')),
  wrong('an unknown item', item({ type: 'hologram' })),
  wrong('an empty item', item({})),
  wrong('an unknown role', item({ role: 'wizard', content: 'x' })),
  wrong('content is a number', item({ role: 'user', content: 7 })),
  wrong('an unknown part', inputUser({ type: 'hologram' })),
  wrong('a text that is a number', inputUser({ type: 'input_text', text: 7 })),
  ...DATA_URLS.map(([what, image_url]) =>
    wrong(`image: ${what}`, inputUser({ type: 'input_image', image_url })),
  ),
  ...DATA_URLS.filter(([what]) => what !== 'nothing').map(([what, file_data]) =>
    wrong(`file: ${what}`, inputUser({ type: 'input_file', file_data })),
  ),
  wrong(
    'a result without its call',
    item({ type: 'function_call_output', call_id: 'c', output: 'x' }),
    'input',
  ),
  wrong('a result without an id', item({ type: 'function_call_output', output: 'x' })),
  wrong('a call without a name', item({ type: 'function_call', call_id: 'c', arguments: '{}' })),
  wrong(
    'arguments that are an object',
    item({ type: 'function_call', call_id: 'c', name: 'f', arguments: {} }),
  ),
  wrong('a thought that is a word', item({ type: 'reasoning', summary: 'x' })),
  wrong('a reference to nothing', item({ type: 'item_reference' })),
  wrong('a reference to a number', item({ type: 'item_reference', id: 7 })),
  wrong('a previous response that is a number', { previous_response_id: 7 }),
  wrong('a previous response with NUL', { previous_response_id: 'resp_\0' }),
  wrong('a previous response of half a character', { previous_response_id: 'resp_\ud83d' }),
  wrong('tools are an object', { tools: {} }),
  wrong('a tool is a word', { tools: ['x'] }),
  ...NAMES.map(([what, name]) =>
    wrong(`tool: ${what}`, { tools: [{ type: 'function', name, parameters: {} }] }),
  ),
  wrong('parameters that are a word', {
    tools: [{ type: 'function', name: 'f', parameters: 'x' }],
  }),
  wrong('an unknown choice', { tool_choice: 'sometimes', tools: RESPONSES_TOOLS }),
  wrong('a choice of a number', { tool_choice: 7, tools: RESPONSES_TOOLS }),
  wrong('a choice of a missing tool', {
    tool_choice: { type: 'function', name: 'g' },
    tools: RESPONSES_TOOLS,
  }),
  ...limits('max_output_tokens', 1),
  wrong('a temperature in words', { temperature: 'hot' }),
  wrong('instructions are a number', { instructions: 7 }),
  wrong('an unknown format', { text: { format: { type: 'xml' } } }),
  wrong('text is a word', { text: 'x' }),
  wrong('an unknown effort', { reasoning: { effort: 'huge' } }),
  wrong('reasoning is a word', { reasoning: 'x' }),
  wrong('include is a word', { include: 'x' }),
  wrong('store is a word', { store: 'yes' }),
]

const blocks = (...content: Json[]): JsonObject => ({ messages: [{ role: 'user', content }] })
const source = (fields: JsonObject): JsonObject => blocks({ type: 'image', source: fields })
const png = (data: Json): JsonObject => ({ type: 'base64', media_type: 'image/png', data })

const MESSAGES_TOOLS: Json = [{ name: 'f', input_schema: { type: 'object' } }]

const COUNTED: readonly Hostile[] = [
  wrong('no messages', { messages: null }),
  wrong('messages are a word', { messages: 'hello' }),
  wrong('a message is null', { messages: [null] }),
  wrong('an unknown role', { messages: [{ role: 'wizard', content: 'x' }] }),
  wrong('content is a number', { messages: [{ role: 'user', content: 7 }] }),
  wrong('a block is null', blocks(null)),
  wrong('an unknown block', blocks({ type: 'hologram' })),
  wrong('a block without a type', blocks({ text: 'x' })),
  wrong('a text that is a number', blocks({ type: 'text', text: 7 })),
  wrong('image: bad base64', source(png('@@@@'))),
  wrong('image: base64 with a hole', source(png('AAAA AAAA'))),
  wrong('image: truncated base64', source(png('AAAAA'))),
  wrong('image: base64 of nothing', source(png(''))),
  wrong('image: a number', source(png(7))),
  wrong('image: no media type', source({ type: 'base64', data: 'AAAA' })),
  wrong('image: an unknown source', source({ type: 'wish' })),
  wrong('image: a script URL', source({ type: 'url', url: 'javascript:alert(1)' })),
  wrong('image: a file URL', source({ type: 'url', url: 'file:///etc/passwd' })),
  wrong('image: no source', blocks({ type: 'image' })),
  wrong(
    'document: bad base64',
    blocks({
      type: 'document',
      source: { type: 'base64', media_type: 'application/pdf', data: '@@@@' },
    }),
  ),
  wrong('a result without its call', blocks({ type: 'tool_result', tool_use_id: 't' })),
  wrong('a result without an id', blocks({ type: 'tool_result' })),
  wrong('a call without a name', {
    messages: [{ role: 'assistant', content: [{ type: 'tool_use', id: 't', input: {} }] }],
  }),
  wrong('a call whose input is a word', {
    messages: [
      { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: 'x' }] },
    ],
  }),
  wrong('a thought whose signature is a number', {
    messages: [{ role: 'assistant', content: [{ type: 'thinking', thinking: 'x', signature: 7 }] }],
  }),
  wrong('system is a number', { system: 7 }),
  wrong('an unknown system block', { system: [{ type: 'hologram' }] }),
  wrong('tools are an object', { tools: {} }),
  wrong('a tool is a word', { tools: ['x'] }),
  ...NAMES.map(([what, name]) =>
    wrong(`tool: ${what}`, { tools: [{ name, input_schema: { type: 'object' } }] }),
  ),
  wrong('a schema that is a word', { tools: [{ name: 'f', input_schema: 'x' }] }),
  wrong('an unknown choice', { tool_choice: { type: 'sometimes' }, tools: MESSAGES_TOOLS }),
  wrong('a choice that is a word', { tool_choice: 'auto', tools: MESSAGES_TOOLS }),
  wrong('a choice of a missing tool', {
    tool_choice: { type: 'tool', name: 'g' },
    tools: MESSAGES_TOOLS,
  }),
  wrong('an unknown kind of thinking', { thinking: { type: 'sometimes' } }),
  wrong('thinking that is a word', { thinking: 'x' }),
  wrong('a budget in words', { thinking: { type: 'enabled', budget_tokens: 'x' } }),
  wrong('an unknown format', { output_config: { format: { type: 'xml' } } }),
  wrong('an unknown effort', { output_config: { effort: 'huge' } }),
]

const MESSAGES: readonly Hostile[] = [
  ...COUNTED,
  wrong('no limit', { max_tokens: null }),
  ...limits('max_tokens', 0),
  wrong('stops are a word', { stop_sequences: 'x' }),
  wrong('stops are numbers', { stop_sequences: [7] }),
  wrong('a temperature in words', { temperature: 'hot' }),
]

const EMBEDDINGS: readonly Hostile[] = [
  wrong('no input', { input: null }),
  wrong('input is a number', { input: 7 }),
  wrong('input is an object', { input: {} }),
  wrong('an empty list', { input: [] }),
  wrong('an empty text', { input: '' }),
  wrong('an empty text in a list', { input: ['x', ''] }),
  wrong('null in a list', { input: ['x', null] }),
  wrong('texts and tokens', { input: ['x', 7] }),
  wrong('half a token', { input: [1.5] }),
  wrong('a negative token', { input: [-1] }),
  wrong('an empty list of tokens', { input: [[]] }),
  wrong('lists of lists of lists', { input: [[[1]]] }),
  wrong('2,049 texts', { input: Array.from({ length: 2049 }, () => 'x') }),
  wrong('no dimensions', { dimensions: 0 }),
  wrong('negative dimensions', { dimensions: -1 }),
  wrong('dimensions in words', { dimensions: 'x' }),
  wrong('a million dimensions', { dimensions: 1_000_000 }),
  wrong('an unknown encoding', { encoding_format: 'xml' }),
]

export const HOSTILE: Record<Post, readonly Hostile[]> = {
  chat: [...COMMON, ...CHAT],
  responses: [...COMMON, ...RESPONSES],
  input_tokens: [...COMMON, ...RESPONSES],
  messages: [...COMMON, ...MESSAGES],
  count_tokens: [...COMMON.filter(({ fields }) => !('stream' in fields)), ...COUNTED],
  embeddings: [...COMMON.filter(({ fields }) => !('stream' in fields)), ...EMBEDDINGS],
}

/** Not JSON at all, or not the JSON of one request. */
export const NO_REQUEST: Readonly<Record<string, string | Buffer>> = {
  nothing: '',
  'a list': '[]',
  'a text': '"hello"',
  null: 'null',
  'half an object': '{"model":',
  'a number that JSON lacks': '{"model":"sandbox-chat","n":NaN}',
  'two objects': '{}{}',
  'ten thousand levels': `{"model":"sandbox-chat","x":${'['.repeat(10_000)}${']'.repeat(10_000)}}`,
  'invalid UTF-8': Buffer.from([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x3a, 0x31, 0x7d]),
  'a name twice': '{"model":"sandbox-chat","messages":[],"model":"other"}',
  'a name twice, spelt differently': '{"model":"sandbox-chat","mod\\u0065l":"other"}',
  'a byte order mark alone': Buffer.from([0xef, 0xbb, 0xbf]),
}

function wrong(what: string, fields: JsonObject, param = Object.keys(fields)[0] ?? ''): Hostile {
  return { what, fields, param }
}

function always(what: string, fields: JsonObject): Hostile {
  return { ...wrong(what, fields), always: true }
}

/** Invalid values for a field that takes a count. */
function limits(name: string, min: 0 | 1): readonly Hostile[] {
  return [
    ...(min === 1 ? [always(`${name} is 0`, { [name]: 0 })] : []),
    always(`${name} is negative`, { [name]: -5 }),
    always(`${name} is 1.5`, { [name]: 1.5 }),
    always(`${name} is a word`, { [name]: '10' }),
    always(`${name} is endless`, { [name]: 1e99 }),
  ]
}
