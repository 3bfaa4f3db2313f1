// The Vercel AI SDK with each of its providers for the three formats.
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import type { LanguageModel, ModelMessage, ToolSet, UserContent } from 'ai'
import { APICallError, generateText, jsonSchema, Output, streamText, tool } from 'ai'

import { isObject } from '../../../src/core/json.ts'
import type { Json } from '../../../src/core/json.ts'
import type { Answer, Failure, Line, Mode, Prompt, Speaker } from '../speaker.ts'

const LACKS: Record<Speaker['format'], NonNullable<Speaker['lacks']>> = {
  chat: {
    thoughts: 'the provider for chat completions knows no thoughts',
    'thoughts back': 'the provider for chat completions knows no thoughts',
  },
  responses: { stop: 'responses have no stop sequences' },
  messages: {},
}

export const AI_SDK_SPEAKERS: readonly Speaker[] = [
  speaker(
    'ai-sdk openai chat',
    'chat',
    ({ url, key, fetch }) => createOpenAI({ baseURL: `${url}/v1`, apiKey: key, fetch }).chat,
  ),
  speaker(
    'ai-sdk openai responses',
    'responses',
    ({ url, key, fetch }) => createOpenAI({ baseURL: `${url}/v1`, apiKey: key, fetch }).responses,
  ),
  speaker('ai-sdk anthropic', 'messages', ({ url, key, fetch }) =>
    createAnthropic({ baseURL: `${url}/v1`, apiKey: key, fetch }),
  ),
]

function speaker(
  name: string,
  format: Speaker['format'],
  connect: (line: Line) => (model: string) => LanguageModel,
): Speaker {
  return {
    name,
    format,
    lacks: LACKS[format],
    connect(line) {
      const modelOf = connect(line)
      return {
        ask: (prompt, mode) => ask(modelOf(prompt.model), prompt, mode),
        failureOf,
      }
    },
  }
}

async function ask(model: LanguageModel, prompt: Prompt, mode: Mode): Promise<Answer> {
  const messages = messagesOf(prompt)
  const options = { model, messages, maxRetries: 0, ...optionsOf(prompt) }
  if (mode === 'plain') return answerOf(prompt, messages, await generateText(options))
  let failure: unknown
  const result = streamText({ ...options, onError: ({ error }) => void (failure = error) })
  await result.consumeStream()
  // Only onError gets the error: awaiting the result yields what there is, or a summary.
  if (failure !== undefined) throw failure
  return answerOf(prompt, messages, result)
}

function optionsOf(prompt: Prompt) {
  const { tools, forced, single, schema, outputTokensMax, stop, thinks, system } = prompt
  return {
    ...(system && { instructions: system }),
    ...(tools && {
      tools: Object.fromEntries(
        tools.map(({ name, description, schema: parameters }) => [
          name,
          tool({ description, inputSchema: jsonSchema(parameters) }),
        ]),
      ) as ToolSet,
    }),
    ...(forced && { toolChoice: { type: 'tool', toolName: forced } as const }),
    ...(schema && { output: Output.object({ schema: jsonSchema(schema) }) }),
    ...(outputTokensMax && { maxOutputTokens: outputTokensMax }),
    ...(stop && { stopSequences: [stop] }),
    ...(single && {
      providerOptions: {
        openai: { parallelToolCalls: false },
        anthropic: { disableParallelToolUse: true },
      },
    }),
    ...(thinks && {
      providerOptions: {
        openai: {
          reasoningEffort: 'medium',
          reasoningSummary: 'auto',
          forceReasoning: true,
          store: false,
          include: ['reasoning.encrypted_content'],
        },
        anthropic: { thinking: { type: 'adaptive' } },
      },
    }),
  }
}

function messagesOf({ text, image, imageUrl, pdf, after }: Prompt): ModelMessage[] {
  if (after) {
    const content = after.results.map(({ call, text: value }) => ({
      type: 'tool-result' as const,
      toolCallId: call.id,
      toolName: call.name,
      output: { type: 'text' as const, value },
    }))
    return [...(after.answer.history as ModelMessage[]), { role: 'tool', content }]
  }
  const content: Exclude<UserContent, string> = [{ type: 'text', text }]
  if (image) content.push({ type: 'file', mediaType: 'image/png', data: image })
  if (imageUrl) content.push({ type: 'file', mediaType: 'image/png', data: new URL(imageUrl) })
  if (pdf)
    content.push({ type: 'file', mediaType: 'application/pdf', data: pdf, filename: 'paper.pdf' })
  return [{ role: 'user', content }]
}

/** A whole answer has the fields; a stream has promises of them. */
type Result = Awaited<ReturnType<typeof generateText>> | ReturnType<typeof streamText>

async function answerOf(
  prompt: Prompt,
  asked: readonly ModelMessage[],
  result: Result,
): Promise<Answer> {
  const usage = await result.usage
  return {
    model: (await result.response).modelId,
    text: await result.text,
    thoughts: (await result.reasoningText) ?? '',
    calls: (await result.toolCalls).map(({ toolCallId, toolName, input }) => ({
      id: toolCallId,
      name: toolName,
      input: input as Json,
    })),
    ending: ENDINGS[await result.finishReason] ?? 'other',
    usage: {
      input: usage.inputTokens,
      output: usage.outputTokens,
      reasoning: usage.outputTokenDetails.reasoningTokens,
    },
    ...(prompt.schema && { parsed: await result.output }),
    history: [...asked, ...(await result.responseMessages)],
  }
}

const ENDINGS: Record<string, Answer['ending']> = {
  stop: 'stop',
  length: 'length',
  'tool-calls': 'tools',
}

function failureOf(thrown: unknown): Failure {
  const message = thrown instanceof Error ? thrown.message : JSON.stringify(thrown)
  if (!APICallError.isInstance(thrown)) return { status: undefined, code: codeIn(thrown), message }
  return {
    status: thrown.statusCode,
    code: codeIn(JSON.parse(thrown.responseBody ?? '{}')),
    message,
    requestId: thrown.responseHeaders?.['x-request-id'],
  }
}

/** The gateway's code, if the library passes the error object on. */
function codeIn(value: unknown): string | undefined {
  if (!isObject(value)) return undefined
  const error = isObject(value['error']) ? value['error'] : value
  const code = error['tollgate_code'] ?? error['code']
  return typeof code === 'string' ? code : undefined
}
