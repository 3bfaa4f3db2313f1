// The scripted model as a server of chat completions that reasons aloud in `reasoning_content`.
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { listOf, objectOf, stringOf } from '../../../src/core/json.ts'
import type { Part, Seen, Turn } from './plan.ts'
import { checkStrict, Issued, onlyKnown, Refusal, tokensIn } from './plan.ts'
import type { Answer, Speech } from './server.ts'

const FIELDS =
  'model messages tools tool_choice parallel_tool_calls stream stream_options max_tokens max_completion_tokens ' +
  'temperature top_p stop n seed response_format reasoning_effort user presence_penalty frequency_penalty ' +
  'logprobs top_logprobs logit_bias metadata store verbosity prompt_cache_key safety_identifier service_tier modalities'

const calls = new Issued()

export const chat: Speech = { read, answer }

function read(body: JsonObject): Seen {
  onlyKnown(body, FIELDS, '')
  const { tools, tool_choice, response_format } = body
  const format = objectOf(objectOf(response_format)['json_schema'])
  if (format['strict'] === true) checkStrict(format['schema'], 'response_format')
  for (const tool of listOf(tools)) {
    const { strict, parameters, name } = objectOf(objectOf(tool)['function'])
    if (strict === true) checkStrict(parameters, `tools ${String(name)}`)
  }
  return {
    parts: partsOf(listOf(body['messages'])),
    tools: listOf(tools).map((tool) => String(objectOf(objectOf(tool)['function'])['name'])),
    forced:
      stringOf(objectOf(objectOf(tool_choice)['function'])['name']) ??
      forcedAny(tool_choice, tools),
    schema: format['schema'],
  }
}

function forcedAny(choice: Json | undefined, tools: Json | undefined): string | undefined {
  return choice === 'required'
    ? stringOf(objectOf(objectOf(listOf(tools)[0])['function'])['name'])
    : undefined
}

function partsOf(messages: readonly Json[]): Part[] {
  let open: string[] = []
  return messages.flatMap((each, index): Part[] => {
    const message = objectOf(each)
    const { role, content, tool_call_id, tool_calls } = message
    if (role === 'tool') {
      if (!open.includes(String(tool_call_id)))
        throw new Refusal(
          400,
          `messages[${index}]: 'tool_call_id' of '${String(tool_call_id)}' not found in 'tool_calls' of previous message.`,
        )
      open = open.filter((id) => id !== tool_call_id)
      return [{ kind: 'result', text: textOf(content) }]
    }
    if (open.length > 0)
      throw new Refusal(
        400,
        `messages[${index}]: tool_call_ids did not have response messages: ${open.join(', ')}`,
      )
    if (role === 'assistant') {
      for (const call of listOf(tool_calls)) {
        const { id, function: called } = objectOf(call)
        if (String(id).length > 40)
          throw new Refusal(400, `Invalid 'messages[${index}].tool_calls.id': string too long.`)
        JSON.parse(String(objectOf(called)['arguments']))
        open.push(String(id))
      }
      return [{ kind: 'answer', text: textOf(content) }]
    }
    if (!['system', 'developer', 'user'].includes(String(role)))
      throw new Refusal(400, `messages[${index}]: unknown role ${String(role)}`)
    return [{ kind: 'text', text: textOf(content) }]
  })
}

function textOf(content: Json | undefined): string {
  if (typeof content === 'string') return content
  return listOf(content)
    .map((part) => stringOf(objectOf(part)['text']) ?? '')
    .join('\n')
}

function answer(body: JsonObject, turn: Turn): Answer {
  const stamp = { id: 'chatcmpl-scripted', created: 1_790_000_000, model: body['model'] ?? '' }
  const usage = {
    prompt_tokens: tokensIn(body),
    completion_tokens: tokensIn(turn),
    total_tokens: tokensIn(body) + tokensIn(turn),
    completion_tokens_details: { reasoning_tokens: 4 },
  }
  const reasoning_content = 'Let me think.'
  const finish_reason = 'call' in turn ? 'tool_calls' : 'stop'
  const tool_calls =
    'call' in turn
      ? [
          {
            id: calls.make('call_'),
            type: 'function',
            function: { name: turn.call.name, arguments: JSON.stringify(turn.call.input) },
          },
        ]
      : undefined
  const chunk = (delta: JsonObject, finish: string | null = null) => ({
    data: {
      ...stamp,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, finish_reason: finish }],
    },
  })
  const words = 'call' in turn ? [] : turn.words
  const includes = objectOf(body['stream_options'])['include_usage'] === true
  return {
    whole: {
      ...stamp,
      object: 'chat.completion',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'call' in turn ? null : words.join(''),
            reasoning_content,
            ...(tool_calls && { tool_calls }),
          },
          finish_reason,
        },
      ],
      usage,
    },
    events: [
      chunk({ role: 'assistant', content: '' }),
      chunk({ reasoning_content }),
      ...words.map((content) => chunk({ content })),
      ...(tool_calls ?? []).flatMap(({ id, type, function: { name, arguments: text } }) => [
        chunk({ tool_calls: [{ index: 0, id, type, function: { name, arguments: '' } }] }),
        ...halves(text).map((half) =>
          chunk({ tool_calls: [{ index: 0, function: { arguments: half } }] }),
        ),
      ]),
      chunk({}, finish_reason),
      ...(includes
        ? [{ data: { ...stamp, object: 'chat.completion.chunk', choices: [], usage } }]
        : []),
      { data: '[DONE]' },
    ],
    error: (message, status) => ({
      error: {
        message,
        type: 'invalid_request_error',
        param: null,
        code: status >= 500 ? 'server_error' : null,
      },
    }),
  }
}

export function halves(text: string): [string, string] {
  const middle = text.length >> 1
  return [text.slice(0, middle), text.slice(middle)]
}
