// LangChain.js with each of its classes for the three formats.
import { ChatAnthropic } from '@langchain/anthropic'
import type {
  AIMessage,
  AIMessageChunk,
  BaseMessage,
  ContentBlock,
  UsageMetadata,
} from '@langchain/core/messages'
import { HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages'
import { ChatOpenAI } from '@langchain/openai'

import type { Json } from '../../../src/core/json.ts'
import type { Answer, Line, Prompt, Speaker } from '../speaker.ts'
import { sdkFailure } from './sdk-failure.ts'

const LACKS: Record<Speaker['format'], NonNullable<Speaker['lacks']>> = {
  chat: { 'thoughts back': 'the class gives no thoughts back' },
  responses: { stop: 'responses have no stop sequences' },
  messages: { single: 'the class has no word for it' },
}

export const LANGCHAIN_SPEAKERS: readonly Speaker[] = [
  speaker('langchain openai chat', 'chat', openai(false)),
  speaker('langchain openai responses', 'responses', openai(true)),
  speaker('langchain anthropic', 'messages', anthropic),
]

/** A model configured for one prompt. */
type Model = {
  invoke(messages: BaseMessage[]): Promise<AIMessage>
  stream(messages: BaseMessage[]): Promise<AsyncIterable<AIMessageChunk>>
}

function speaker(
  name: string,
  format: Speaker['format'],
  modelFor: (line: Line, prompt: Prompt) => Model,
): Speaker {
  return {
    name,
    format,
    lacks: LACKS[format],
    connect(line) {
      return {
        async ask(prompt, mode) {
          const model = modelFor(line, prompt)
          const messages = messagesOf(prompt)
          if (mode === 'plain') return answerOf(messages, await model.invoke(messages))
          return answerOf(messages, await collect(await model.stream(messages)))
        },
        failureOf: sdkFailure,
      }
    },
  }
}

function openai(useResponsesApi: boolean) {
  return ({ url, key, fetch }: Line, prompt: Prompt): Model => {
    const { model, outputTokensMax, tools, forced, single, schema, stop, thinks } = prompt
    const chat = new ChatOpenAI({
      model,
      apiKey: key,
      useResponsesApi,
      configuration: { baseURL: `${url}/v1`, fetch },
      maxRetries: 0,
      ...(outputTokensMax && { maxTokens: outputTokensMax }),
      // By itself the class requests reasoning only from models whose names it knows.
      ...(thinks &&
        (useResponsesApi
          ? { modelKwargs: { reasoning: { effort: 'medium', summary: 'auto' } }, zdrEnabled: true }
          : { modelKwargs: { reasoning_effort: 'medium' } })),
    })
    return chat.withConfig({
      ...(tools && { tools: tools.map(toolOf) }),
      ...(forced && { tool_choice: forced }),
      ...(single && { parallel_tool_calls: false }),
      ...(stop && { stop: [stop] }),
      ...(schema && {
        response_format: { type: 'json_schema', json_schema: { name: 'answer', schema } },
      }),
      ...(thinks && useResponsesApi && { include: ['reasoning.encrypted_content'] }),
    }) as Model
  }
}

function anthropic({ url, key, fetch }: Line, prompt: Prompt): Model {
  const { model, outputTokensMax = 2000, tools, forced, schema, stop, thinks } = prompt
  const chat = new ChatAnthropic({
    model,
    apiKey: key,
    anthropicApiUrl: url,
    clientOptions: { fetch },
    maxRetries: 0,
    maxTokens: outputTokensMax,
    ...(thinks && { thinking: { type: 'adaptive' } }),
  })
  return chat.withConfig({
    ...(tools && { tools: tools.map(toolOf) }),
    ...(forced && { tool_choice: { type: 'tool', name: forced } }),
    ...(stop && { stop: [stop] }),
    ...(schema && { outputConfig: { format: { type: 'json_schema', schema } } }),
  }) as Model
}

function toolOf({ name, description, schema }: NonNullable<Prompt['tools']>[number]) {
  return { type: 'function', function: { name, description, parameters: schema } } as const
}

function messagesOf({ system, text, image, imageUrl, pdf, after }: Prompt): BaseMessage[] {
  if (after) {
    const results = after.results.map(
      ({ call, text: content }) =>
        new ToolMessage({ tool_call_id: call.id, name: call.name, content }),
    )
    return [...(after.answer.history as BaseMessage[]), ...results]
  }
  // The library's own attachment blocks, which each class converts to its format.
  const contentBlocks: ContentBlock.Standard[] = [{ type: 'text', text }]
  if (image) contentBlocks.push({ type: 'image', mimeType: 'image/png', data: image })
  if (imageUrl) contentBlocks.push({ type: 'image', url: imageUrl })
  if (pdf) {
    const metadata = { filename: 'paper.pdf', title: 'paper.pdf' }
    contentBlocks.push({ type: 'file', mimeType: 'application/pdf', data: pdf, metadata })
  }
  return [
    ...(system ? [new SystemMessage(system)] : []),
    contentBlocks.length === 1 ? new HumanMessage(text) : new HumanMessage({ contentBlocks }),
  ]
}

async function collect(stream: AsyncIterable<AIMessageChunk>): Promise<AIMessageChunk> {
  let whole: AIMessageChunk | undefined
  for await (const chunk of stream) whole = whole?.concat(chunk) ?? chunk
  if (whole === undefined) throw new Error('the stream had no pieces')
  return whole
}

function answerOf(asked: readonly BaseMessage[], message: AIMessageChunk | AIMessage): Answer {
  // For an Anthropic stream the class puts the stop reason among the additional fields.
  const told = { ...message.additional_kwargs, ...message.response_metadata }
  const usage = message.usage_metadata as UsageMetadata | undefined
  const calls = (message.tool_calls ?? []).map(({ id = '', name, args }) => ({
    id,
    name,
    input: args as Json,
  }))
  return {
    model: String(told['model_name'] ?? told['model'] ?? ''),
    text: message.text,
    thoughts: reasoningOf(message),
    calls,
    ending: endingOf(told, calls.length > 0),
    usage: {
      input: usage?.input_tokens,
      output: usage?.output_tokens,
      reasoning: usage?.output_token_details?.reasoning,
    },
    history: [...asked, message],
  }
}

function reasoningOf({ contentBlocks, additional_kwargs }: AIMessage | AIMessageChunk): string {
  const unofficial = additional_kwargs['reasoning_content']
  if (typeof unofficial === 'string') return unofficial
  return contentBlocks
    .map((block) => (block.type === 'reasoning' ? String(block['reasoning']) : ''))
    .join('')
}

function endingOf(told: Record<string, unknown>, calls: boolean): Answer['ending'] {
  const word = told['finish_reason'] ?? told['stop_reason']
  if (typeof word === 'string') return ENDINGS[word] ?? 'other'
  // For responses the class reports the status and why it is incomplete.
  const { reason } = (told['incomplete_details'] ?? {}) as { reason?: string }
  if (reason === 'max_output_tokens') return 'length'
  if (told['status'] !== 'completed') return 'other'
  return calls ? 'tools' : 'stop'
}

const ENDINGS: Record<string, Answer['ending']> = {
  stop: 'stop',
  end_turn: 'stop',
  stop_sequence: 'stop',
  length: 'length',
  max_tokens: 'length',
  tool_calls: 'tools',
  tool_use: 'tools',
}
