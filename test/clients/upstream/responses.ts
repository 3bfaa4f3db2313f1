// The scripted model as OpenAI's responses: it reasons, encrypts its reasoning, and wants it back beside its calls.
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { listOf, objectOf, stringOf, typeOf } from '../../../src/core/json.ts'
import { halves } from './chat.ts'
import type { Part, Seen, Turn } from './plan.ts'
import { checkStrict, Issued, onlyKnown, Refusal, tokensIn } from './plan.ts'
import type { Answer, ServerEvent, Speech } from './server.ts'

const FIELDS =
  'model input instructions tools tool_choice parallel_tool_calls stream stream_options max_output_tokens ' +
  'temperature top_p store include reasoning text metadata user safety_identifier prompt_cache_key truncation ' +
  'max_tool_calls service_tier background top_logprobs prompt_cache_options prompt_cache_retention client_metadata'

const issued = new Issued()
const ids = new Issued()

export const responses: Speech = { read, answer }

function read(body: JsonObject): Seen {
  onlyKnown(body, FIELDS, '')
  const { input, tools, tool_choice, text, instructions } = body
  const format = objectOf(objectOf(text)['format'])
  if (format['strict'] === true) checkStrict(format['schema'], 'text.format.schema')
  const functions = listOf(tools)
    .map(objectOf)
    .filter((tool) => typeOf(tool) === 'function' || typeOf(tool) === 'custom')
  for (const { strict, parameters, name } of functions)
    if (strict === true) checkStrict(parameters, `tools ${String(name)}`)
  const parts =
    typeof input === 'string' ? [{ kind: 'text', text: input } as const] : partsOf(listOf(input))
  return {
    parts: [{ kind: 'text', text: stringOf(instructions) ?? '' }, ...parts],
    tools: functions.map(({ name }) => String(name)),
    forced:
      stringOf(objectOf(tool_choice)['name']) ??
      (tool_choice === 'required' ? String(functions[0]?.['name']) : undefined),
    schema: format['schema'],
  }
}

const PREFIXES: Record<string, string> = { message: 'msg', function_call: 'fc', reasoning: 'rs' }

function partsOf(input: readonly Json[]): Part[] {
  const open = new Set<string>()
  const parts = input.flatMap((each, index): Part[] => {
    const item = objectOf(each)
    const type = typeOf(item) === '' ? 'message' : typeOf(item)
    const where = `input[${index}]`
    const prefix = PREFIXES[type]
    const { id, call_id } = item
    if (typeof id === 'string' && prefix !== undefined && !id.startsWith(prefix))
      throw new Refusal(
        400,
        `Invalid '${where}.id': '${id}'. Expected an ID that begins with '${prefix}'.`,
      )
    if (type === 'reasoning') {
      if (typeof item['encrypted_content'] !== 'string')
        throw new Refusal(404, `Item with id '${String(id)}' not found.`)
      issued.check(item['encrypted_content'], 'The encrypted content could not be verified.')
      const follower = typeOf(objectOf(input[index + 1]))
      if (
        follower !== 'function_call' &&
        follower !== 'message' &&
        follower !== 'custom_tool_call' &&
        follower !== ''
      )
        throw new Refusal(
          400,
          `Item '${String(id)}' of type 'reasoning' was provided without its required following item.`,
        )
      return []
    }
    if (type === 'function_call' || type === 'custom_tool_call') {
      if (String(call_id).length > 64)
        throw new Refusal(400, `Invalid '${where}.call_id': string too long.`)
      open.add(String(call_id))
      return []
    }
    if (type === 'function_call_output' || type === 'custom_tool_call_output') {
      if (!open.delete(String(call_id)))
        throw new Refusal(
          400,
          `No tool call found for function call output with call_id ${String(call_id)}.`,
        )
      return [{ kind: 'result', text: textOf(item['output']) }]
    }
    if (type !== 'message') throw new Refusal(400, `Invalid value: '${type}' at ${where}.type`)
    return [
      { kind: item['role'] === 'assistant' ? 'answer' : 'text', text: textOf(item['content']) },
    ]
  })
  for (const id of open) throw new Refusal(400, `No tool output found for function call ${id}.`)
  return parts
}

function textOf(content: Json | undefined): string {
  if (typeof content === 'string') return content
  return listOf(content)
    .map((part) => stringOf(objectOf(part)['text']) ?? '')
    .join('\n')
}

function answer(body: JsonObject, turn: Turn): Answer {
  const includes = listOf(body['include']).includes('reasoning.encrypted_content')
  const reasoning: JsonObject = {
    id: ids.make('rs_'),
    type: 'reasoning',
    summary:
      objectOf(body['reasoning'])['summary'] === undefined
        ? []
        : [{ type: 'summary_text', text: 'Let me think.' }],
    ...(includes && { encrypted_content: issued.make('gAAA') }),
  }
  const text = 'call' in turn ? '' : turn.words.join('')
  const message: JsonObject = {
    id: ids.make('msg_'),
    type: 'message',
    status: 'completed',
    role: 'assistant',
    content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
  }
  const call: JsonObject | undefined =
    'call' in turn
      ? {
          id: ids.make('fc_'),
          type: 'function_call',
          status: 'completed',
          call_id: ids.make('call_'),
          name: turn.call.name,
          arguments: JSON.stringify(turn.call.input),
        }
      : undefined
  const output = [reasoning, call ?? message]
  const usage = {
    input_tokens: tokensIn(body),
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: tokensIn(turn),
    output_tokens_details: { reasoning_tokens: 4 },
    total_tokens: tokensIn(body) + tokensIn(turn),
  }
  const response = (status: string): JsonObject => ({
    id: 'resp_scripted',
    object: 'response',
    created_at: 1_790_000_000,
    status,
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: body['max_output_tokens'] ?? null,
    model: body['model'],
    output: status === 'completed' ? output : [],
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: 'medium', summary: null },
    store: body['store'] ?? true,
    temperature: 1,
    text: body['text'] ?? { format: { type: 'text' } },
    tool_choice: body['tool_choice'] ?? 'auto',
    tools: body['tools'] ?? [],
    top_p: 1,
    truncation: 'disabled',
    usage: status === 'completed' ? usage : null,
    metadata: body['metadata'] ?? {},
  })
  return {
    whole: response('completed'),
    events: numbered([
      { type: 'response.created', response: response('in_progress') },
      { type: 'response.in_progress', response: response('in_progress') },
      { type: 'response.output_item.added', output_index: 0, item: { ...reasoning, summary: [] } },
      ...reasoningEvents(reasoning),
      { type: 'response.output_item.done', output_index: 0, item: reasoning },
      ...(call ? callEvents(call) : messageEvents(message, 'words' in turn ? turn.words : [])),
      { type: 'response.completed', response: response('completed') },
    ]),
    error: (text, status) => ({
      error: {
        message: text,
        type: 'invalid_request_error',
        param: null,
        code: status >= 500 ? 'server_error' : null,
      },
    }),
  }
}

function reasoningEvents({ id, summary }: JsonObject): JsonObject[] {
  const place = { item_id: id, output_index: 0, summary_index: 0 }
  return listOf(summary).flatMap((part) => [
    {
      type: 'response.reasoning_summary_part.added',
      ...place,
      part: { type: 'summary_text', text: '' },
    },
    { type: 'response.reasoning_summary_text.delta', ...place, delta: objectOf(part)['text'] },
    { type: 'response.reasoning_summary_text.done', ...place, text: objectOf(part)['text'] },
    { type: 'response.reasoning_summary_part.done', ...place, part },
  ])
}

function callEvents(call: JsonObject): JsonObject[] {
  const place = { item_id: call['id'], output_index: 1 }
  const text = String(call['arguments'])
  return [
    {
      type: 'response.output_item.added',
      output_index: 1,
      item: { ...call, status: 'in_progress', arguments: '' },
    },
    ...halves(text).map((delta) => ({
      type: 'response.function_call_arguments.delta',
      ...place,
      delta,
    })),
    {
      type: 'response.function_call_arguments.done',
      ...place,
      name: call['name'],
      arguments: text,
    },
    { type: 'response.output_item.done', output_index: 1, item: call },
  ]
}

function messageEvents(message: JsonObject, words: readonly string[]): JsonObject[] {
  const place = { item_id: message['id'], output_index: 1, content_index: 0 }
  const [part] = listOf(message['content'])
  return [
    {
      type: 'response.output_item.added',
      output_index: 1,
      item: { ...message, status: 'in_progress', content: [] },
    },
    {
      type: 'response.content_part.added',
      ...place,
      part: { type: 'output_text', text: '', annotations: [] },
    },
    ...words.map((delta) => ({
      type: 'response.output_text.delta',
      ...place,
      delta,
      logprobs: [],
    })),
    { type: 'response.output_text.done', ...place, text: words.join(''), logprobs: [] },
    { type: 'response.content_part.done', ...place, part },
    { type: 'response.output_item.done', output_index: 1, item: message },
  ]
}

function numbered(events: readonly JsonObject[]): ServerEvent[] {
  return events.map((event, sequence_number) => ({
    name: typeOf(event),
    data: { ...event, sequence_number },
  }))
}
