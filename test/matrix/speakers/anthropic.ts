// The official Anthropic library on messages: by hand, and with its helper `.stream()`. Its versions send the key in
// different headers, so each is configured as docs/using.md says.
import type Anthropic from '@anthropic-ai/sdk'

import type { Json } from '../../../src/core/json.ts'
import type { Answer, Call, Line, Mode, Prompt, Speaker } from '../speaker.ts'
import { sdkFailure } from './sdk-failure.ts'

type Body = Omit<Anthropic.MessageCreateParamsNonStreaming, 'stream'>
type Turn = Anthropic.MessageParam

export type Way = {
  connect(line: Line): Anthropic
  readonly style: 'by hand' | 'helpers'
}

export function anthropicMessages(name: string, way: Way): Speaker {
  const ask = way.style === 'by hand' ? askByHand : askWithHelpers
  return {
    name,
    format: 'messages',
    connect(line) {
      const client = way.connect(line)
      return {
        ask: (prompt, mode) => ask(client, prompt, mode),
        failureOf: sdkFailure,
      }
    },
  }
}

async function askByHand(client: Anthropic, prompt: Prompt, mode: Mode): Promise<Answer> {
  const body = bodyOf(prompt)
  if (mode === 'plain') return answerOf(body, await client.messages.create(body))
  const stream = await client.messages.create({ ...body, stream: true })
  return answerOf(body, await collect(stream))
}

async function askWithHelpers(client: Anthropic, prompt: Prompt, mode: Mode): Promise<Answer> {
  const body = bodyOf(prompt)
  const message =
    mode === 'plain'
      ? await client.messages.parse(body)
      : await client.messages.stream(body).finalMessage()
  return answerOf(body, message)
}

function bodyOf(prompt: Prompt): Body {
  const { model, system, tools, forced, single, schema, stop, thinks } = prompt
  const { outputTokensMax = 2000 } = prompt
  return {
    model,
    max_tokens: outputTokensMax,
    messages: turnsOf(prompt),
    ...(system && { system }),
    ...(tools && {
      tools: tools.map(({ name, description, schema: input_schema }) => ({
        name,
        description,
        input_schema: input_schema as Anthropic.Tool['input_schema'],
      })),
    }),
    ...(forced && { tool_choice: { type: 'tool', name: forced } }),
    ...(single && { tool_choice: { type: 'auto', disable_parallel_tool_use: true } }),
    ...(schema && { output_config: { format: { type: 'json_schema', schema } } }),
    ...(stop && { stop_sequences: [stop] }),
    ...(thinks && { thinking: { type: 'adaptive' } }),
  }
}

function turnsOf({ text, image, imageUrl, pdf, after }: Prompt): Turn[] {
  if (after) {
    const content = after.results.map(({ call, text: result }) => ({
      type: 'tool_result' as const,
      tool_use_id: call.id,
      content: result,
    }))
    return [...(after.answer.history as Turn[]), { role: 'user', content }]
  }
  const content: Anthropic.ContentBlockParam[] = [{ type: 'text', text }]
  if (image) {
    const source = { type: 'base64', media_type: 'image/png', data: image } as const
    content.push({ type: 'image', source })
  }
  if (imageUrl) content.push({ type: 'image', source: { type: 'url', url: imageUrl } })
  if (pdf) {
    const source = { type: 'base64', media_type: 'application/pdf', data: pdf } as const
    content.push({ type: 'document', source, title: 'paper.pdf' })
  }
  return [{ role: 'user', content: content.length === 1 ? text : content }]
}

/** As users write it without the helper. */
async function collect(
  stream: AsyncIterable<Anthropic.RawMessageStreamEvent>,
): Promise<Anthropic.Message> {
  let message: Anthropic.Message | undefined
  const inputs: string[] = []
  for await (const event of stream) {
    if (event.type === 'message_start') message = event.message
    if (message === undefined) throw new Error(`${event.type} before message_start`)
    if (event.type === 'content_block_start') message.content[event.index] = event.content_block
    if (event.type === 'content_block_delta') {
      const block = message.content[event.index]
      const { delta } = event
      if (delta.type === 'text_delta' && block?.type === 'text') block.text += delta.text
      if (delta.type === 'thinking_delta' && block?.type === 'thinking')
        block.thinking += delta.thinking
      if (delta.type === 'signature_delta' && block?.type === 'thinking')
        block.signature = delta.signature
      if (delta.type === 'input_json_delta')
        inputs[event.index] = (inputs[event.index] ?? '') + delta.partial_json
    }
    if (event.type === 'message_delta') {
      message.stop_reason = event.delta.stop_reason
      message.usage = { ...message.usage, ...event.usage } as Anthropic.Usage
    }
    if (event.type === 'message_stop') {
      for (const [index, block] of message.content.entries())
        if (block.type === 'tool_use') block.input = JSON.parse(inputs[index] || '{}')
      return message
    }
  }
  throw new Error('the stream ended without message_stop')
}

function answerOf(body: Body, message: Anthropic.Message): Answer {
  const { content, usage } = message
  return {
    model: message.model,
    text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    thoughts: content.map((block) => (block.type === 'thinking' ? block.thinking : '')).join(''),
    calls: content.flatMap((block): Call[] =>
      block.type === 'tool_use'
        ? [{ id: block.id, name: block.name, input: block.input as Json }]
        : [],
    ),
    ending: ENDINGS[message.stop_reason ?? ''] ?? 'other',
    usage: {
      input: usage.input_tokens,
      output: usage.output_tokens,
      reasoning: usage.output_tokens_details?.thinking_tokens,
    },
    history: [...body.messages, { role: 'assistant', content }],
  }
}

const ENDINGS: Record<string, Answer['ending']> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  tool_use: 'tools',
}
