// The official OpenAI library on chat completions: by hand, and with its helpers `.stream()` and `.parse()`.
import type OpenAI from 'openai'

import type { Answer, Call, Line, Mode, Prompt, Speaker } from '../speaker.ts'
import { sdkFailure } from './sdk-failure.ts'

type Client = typeof OpenAI
type Completion = OpenAI.Chat.ChatCompletion
type Body = Omit<OpenAI.Chat.ChatCompletionCreateParamsNonStreaming, 'stream'>
type Message = OpenAI.Chat.ChatCompletionMessageParam

/** Unofficial fields in which providers of this format send reasoning and take it back. */
type Reasoned = { reasoning_content?: string; reasoning_details?: unknown[] }
type Said = Omit<Completion['choices'][number]['message'], 'refusal'> & Reasoned

export function openaiChat(name: string, Client: Client, style: 'by hand' | 'helpers'): Speaker {
  return {
    name,
    format: 'chat',
    // The helper overwrites unknown fields instead of joining their pieces.
    ...(style === 'helpers' && {
      lacks: {
        thoughts: 'the helper keeps only the last piece of a field it does not know',
        'thoughts back': 'the helper keeps only the last piece of a field it does not know',
      },
    }),
    connect({ url, key, fetch }: Line) {
      const client = new Client({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0, fetch })
      const ask = style === 'by hand' ? askByHand : askWithHelpers
      return {
        ask: (prompt, mode) => ask(client, prompt, mode),
        failureOf: sdkFailure,
      }
    },
  }
}

async function askByHand(client: OpenAI, prompt: Prompt, mode: Mode): Promise<Answer> {
  const body = bodyOf(prompt)
  if (mode === 'plain') return answerOf(body, await client.chat.completions.create(body))
  const options = { stream: true, stream_options: { include_usage: true } } as const
  const stream = await client.chat.completions.create({ ...body, ...options })
  return answerOf(body, await collect(stream))
}

async function askWithHelpers(client: OpenAI, prompt: Prompt, mode: Mode): Promise<Answer> {
  const body = bodyOf(prompt)
  if (mode === 'plain') {
    // `.parse()` is for structured answers: it throws when any answer is cut short.
    if (prompt.schema === undefined) return askByHand(client, prompt, mode)
    const parsed = await client.chat.completions.parse(body)
    return { ...answerOf(body, parsed), parsed: parsed.choices[0]?.message.parsed }
  }
  const options = { stream_options: { include_usage: true } }
  const stream = client.chat.completions.stream({ ...body, ...options })
  const completion = await stream.finalChatCompletion()
  return { ...answerOf(body, completion), parsed: completion.choices[0]?.message.parsed }
}

function bodyOf(prompt: Prompt): Body {
  const { model, tools, forced, single, schema, outputTokensMax, stop, thinks } = prompt
  return {
    model,
    messages: messagesOf(prompt),
    ...(tools && {
      tools: tools.map(({ name, description, schema: parameters }) => ({
        type: 'function',
        function: { name, description, parameters },
      })),
    }),
    ...(forced && { tool_choice: { type: 'function', function: { name: forced } } }),
    ...(single && { parallel_tool_calls: false }),
    ...(schema && {
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema } },
    }),
    ...(outputTokensMax && { max_completion_tokens: outputTokensMax }),
    ...(stop && { stop: [stop] }),
    ...(thinks && { reasoning_effort: 'medium' }),
  }
}

function messagesOf({ system, text, image, imageUrl, pdf, after }: Prompt): Message[] {
  if (after) {
    const results = after.results.map(({ call, text: content }): Message => ({
      role: 'tool',
      tool_call_id: call.id,
      content,
    }))
    return [...(after.answer.history as Message[]), ...results]
  }
  const parts: OpenAI.Chat.ChatCompletionContentPart[] = [{ type: 'text', text }]
  if (image) parts.push({ type: 'image_url', image_url: { url: `data:image/png;base64,${image}` } })
  if (imageUrl) parts.push({ type: 'image_url', image_url: { url: imageUrl } })
  if (pdf) {
    const file = { filename: 'paper.pdf', file_data: `data:application/pdf;base64,${pdf}` }
    parts.push({ type: 'file', file })
  }
  return [
    ...(system ? [{ role: 'system', content: system } as const] : []),
    { role: 'user', content: parts.length === 1 ? text : parts },
  ]
}

type Collected = {
  model: string
  usage: Completion['usage'] | undefined
  choices: { message: Said; finish_reason: string | null }[]
}

/** As users write it without the helper. */
async function collect(stream: AsyncIterable<OpenAI.Chat.ChatCompletionChunk>): Promise<Collected> {
  const said = { role: 'assistant' as const, content: '', reasoning_content: '' }
  const details: unknown[] = []
  const calls: OpenAI.Chat.ChatCompletionMessageFunctionToolCall[] = []
  const end: { model: string; finish_reason: string | null; usage?: Completion['usage'] } = {
    model: '',
    finish_reason: null,
  }
  for await (const chunk of stream) {
    end.model = chunk.model
    if (chunk.usage) end.usage = chunk.usage
    const [choice] = chunk.choices
    if (choice === undefined) continue
    const delta = choice.delta as typeof choice.delta & Reasoned
    said.content += delta.content ?? ''
    said.reasoning_content += delta.reasoning_content ?? ''
    details.push(...(delta.reasoning_details ?? []))
    for (const { index, id, function: piece } of delta.tool_calls ?? []) {
      const call = (calls[index] ??= {
        id: id ?? '',
        type: 'function',
        function: { name: piece?.name ?? '', arguments: '' },
      })
      call.function.arguments += piece?.arguments ?? ''
    }
    end.finish_reason = choice.finish_reason ?? end.finish_reason
  }
  const message = {
    ...said,
    ...(details.length > 0 && { reasoning_details: details }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
  const { model, usage, finish_reason } = end
  return { model, usage, choices: [{ message, finish_reason }] }
}

function answerOf(body: Body, completion: Completion | Collected): Answer {
  const [choice] = completion.choices
  const message = choice?.message as Said
  return {
    model: completion.model,
    text: message.content ?? '',
    thoughts: message.reasoning_content ?? '',
    calls: (message.tool_calls ?? []).flatMap((call): Call[] =>
      call.type === 'function'
        ? [{ id: call.id, name: call.function.name, input: JSON.parse(call.function.arguments) }]
        : [],
    ),
    ending: ENDINGS[choice?.finish_reason ?? ''] ?? 'other',
    usage: {
      input: completion.usage?.prompt_tokens,
      output: completion.usage?.completion_tokens,
      reasoning: completion.usage?.completion_tokens_details?.reasoning_tokens,
    },
    history: [...body.messages, message],
  }
}

const ENDINGS: Record<string, Answer['ending']> = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'tools',
}
