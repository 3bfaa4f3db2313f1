// A canonical request as a chat completions provider expects it. What the format cannot express is written another way
// where one exists (`docs/translation.md`); what is left out is in `CHAT_LOSSES`.
import assert from 'node:assert/strict'
import type { JsonObject } from '../../core/json.ts'
import { defined } from '../../core/json.ts'
import type {
  AssistantPart,
  CanonicalRequest,
  Conversation,
  FilePart,
  ImagePart,
  Message,
  OutputFormat,
  ReasoningPart,
  ToolCallPart,
  UserPart,
} from '../../core/request.ts'
import { knownNames } from '../../core/request.ts'
import { belowTitle, encodeUrl, fileName } from '../content/media.ts'
import {
  fitIdentifier,
  OPENAI_IDENTIFIER_CHARACTERS_MAX,
  takesCustomTools,
  withAllowedOnly,
  withFunctionsOnly,
} from '../content/tools.ts'
import type { Losses } from '../contract/losses.ts'
import { foreignReasoning, usual, USUAL, usualBut } from '../contract/losses.ts'
import { takesSampling, toldEffort } from '../contract/models.ts'
import { encodeTool, encodeToolChoice } from './tools.ts'

export function encodeRequest(asked: CanonicalRequest): JsonObject {
  assert(asked.kind === 'chat')
  // Servers that follow OpenAI know neither custom tools nor lists of allowed ones.
  const request = takesCustomTools(asked) ? asked : withFunctionsOnly(withAllowedOnly(asked))
  const { tools, toolChoice, cacheKey, endUser } = request
  return defined({
    model: request.model,
    messages: encodeMessages(request.messages, wantsReasoning(request)),
    stream: request.stream ? true : undefined,
    // Without this a stream reports no usage, and there would be nothing to settle with.
    stream_options: request.stream ? { include_usage: true } : undefined,
    max_completion_tokens: request.outputTokensMax,
    n: request.choices > 1 ? request.choices : undefined,
    ...encodeSampling(request),
    tools: tools.length > 0 ? tools.map(encodeTool) : undefined,
    tool_choice: tools.length > 0 && toolChoice ? encodeToolChoice(toolChoice, tools) : undefined,
    parallel_tool_calls: tools.length > 0 ? request.parallelToolCalls : undefined,
    response_format: request.outputFormat && encodeFormat(request.outputFormat),
    reasoning_effort: toldEffort(request),
    verbosity: request.verbosity,
    prompt_cache_key: cacheKey && fitIdentifier(cacheKey, OPENAI_IDENTIFIER_CHARACTERS_MAX),
    user: endUser && fitIdentifier(endUser, OPENAI_IDENTIFIER_CHARACTERS_MAX),
    service_tier: request.serviceTier,
  })
}

/**
 * Whether every answer needs reasoning, even where there is none. DeepSeek and Kimi refuse a conversation with tools in
 * which an answer lacks it; a client that was shown none, or another model, has none to send back.
 */
function wantsReasoning(request: Conversation): boolean {
  if (request.tools.length === 0 || request.traits?.reasons === false) return false
  return knownNames(request).some((name) => /deepseek|kimi/i.test(name))
}

function encodeSampling(request: Conversation): JsonObject {
  const { sampling } = request
  const isFree = takesSampling(request)
  const logprobs = isFree ? sampling.logprobs : undefined
  return {
    temperature: isFree ? sampling.temperature : undefined,
    top_p: isFree ? sampling.topP : undefined,
    frequency_penalty: sampling.frequencyPenalty,
    presence_penalty: sampling.presencePenalty,
    seed: sampling.seed,
    logit_bias: sampling.logitBias,
    stop: sampling.stop,
    logprobs: logprobs === undefined ? undefined : true,
    top_logprobs: logprobs === 0 ? undefined : logprobs,
  }
}

function encodeFormat(format: OutputFormat): JsonObject {
  if (format.type === 'json') return { type: 'json_object' }
  const { name, description, schema, strict } = format
  return { type: 'json_schema', json_schema: defined({ name, description, schema, strict }) }
}

/** The longest tool call id that OpenAI accepts. */
const CALL_ID_CHARACTERS_MAX = 40

function encodeMessages(
  messages: readonly Message[],
  needsReasoning: boolean,
): readonly JsonObject[] {
  const encoded: JsonObject[] = []
  // A tool's result can only be text here. Its images and files follow in a user message, after all results.
  let media: (ImagePart | FilePart)[] = []
  for (const message of messages) {
    if (message.role !== 'tool' && media.length > 0) {
      encoded.push({ role: 'user', content: media.map(encodePart) })
      media = []
    }
    encoded.push(encodeMessage(message, needsReasoning))
    if (message.role === 'tool') media.push(...message.parts.filter((part) => part.type !== 'text'))
  }
  if (media.length > 0) encoded.push({ role: 'user', content: media.map(encodePart) })
  return encoded
}

function encodeMessage(message: Message, needsReasoning: boolean): JsonObject {
  const name = 'name' in message && message.name !== undefined ? { name: message.name } : {}
  switch (message.role) {
    case 'system':
    case 'developer':
    case 'user':
      return { role: message.role, content: encodeContent(message.parts), ...name }
    case 'assistant':
      return { role: 'assistant', ...encodeAssistant(message.parts, needsReasoning), ...name }
    case 'tool': {
      const text = message.parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
      const content = message.isError === true ? `Error: ${text}` : text
      return { role: 'tool', tool_call_id: encodeCallId(message.callId), content }
    }
  }
}

/** A single text is written as a string: every compatible provider reads strings, but not every one reads parts. */
function encodeContent(parts: readonly UserPart[]): string | readonly JsonObject[] {
  const [first] = parts
  if (first === undefined) return ''
  return parts.length === 1 && first.type === 'text' ? first.text : parts.map(encodePart)
}

function encodePart(part: UserPart): JsonObject {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text }
    case 'image': {
      const detail = part.detail === undefined ? {} : { detail: part.detail }
      return { type: 'image_url', image_url: { url: encodeUrl(part.source), ...detail } }
    }
    case 'file':
      return encodeFile(part)
    case 'audio':
      return { type: 'input_audio', input_audio: { data: part.data, format: part.encoding } }
  }
}

function encodeFile(file: FilePart): JsonObject {
  const { source, name } = file
  if (source.type === 'text') return { type: 'text', text: belowTitle(source.text, name) }
  return { type: 'file', file: { filename: fileName(file), file_data: encodeUrl(source) } }
}

/** What stands in for reasoning: providers that want some take an empty text for none. */
const NO_REASONING = ' '

function encodeAssistant(parts: readonly AssistantPart[], needsReasoning: boolean): JsonObject {
  const texts = parts.filter((part) => part.type === 'text')
  const refusals = parts.filter((part) => part.type === 'refusal')
  const calls = parts.filter((part) => part.type === 'tool-call')
  const text = texts.map((part) => part.text).join('')
  return {
    content: text === '' && (calls.length > 0 || refusals.length > 0) ? null : text,
    ...(refusals.length > 0 && { refusal: refusals.map((part) => part.text).join('') }),
    ...(needsReasoning && { reasoning_content: NO_REASONING }),
    ...encodeReasoning(parts.filter((part) => part.type === 'reasoning')),
    ...(calls.length > 0 && { tool_calls: calls.map(encodeCall) }),
  }
}

/** Only what a provider of this format produced: it cannot read any other reasoning. */
function encodeReasoning(parts: readonly ReasoningPart[]): JsonObject {
  const own = parts.flatMap(({ text, opaque }) =>
    opaque?.format === 'chat' ? [{ text, opaque }] : [],
  )
  const text = own.map((part) => part.text).join('')
  const details = own
    .filter((part) => part.opaque.value !== '')
    .map(({ text: reasoned, opaque: { kind, value, id, dialect: format } }) =>
      kind === 'signature'
        ? defined({ type: 'reasoning.text', text: reasoned, signature: value, id, format })
        : defined({ type: 'reasoning.encrypted', data: value, id, format }),
    )
  return {
    ...(text !== '' && { reasoning_content: text }),
    ...(details.length > 0 && { reasoning_details: details }),
  }
}

function encodeCall({ id, name, input, custom }: ToolCallPart): JsonObject {
  const called = custom
    ? { type: 'custom', custom: { name, input } }
    : // Arguments are JSON: a call without input has an empty object, not an empty text.
      { type: 'function', function: { name, arguments: input === '' ? '{}' : input } }
  return { id: encodeCallId(id), ...called }
}

function encodeCallId(id: string): string {
  return fitIdentifier(id, CALL_ID_CHARACTERS_MAX)
}

// What a chat completions provider cannot be sent.

export const CHAT_LOSSES: Losses = {
  ...usual('stop_beyond_four', 'temperature_of_reasoner', 'top_p_of_reasoner'),
  ...usual('logprobs_of_reasoner', 'top_k', 'cache_marks', 'file_url', 'loose_schema'),
  ...usual('reasoning_budget', 'reasoning_display'),
  ...usual('reasoning', 'reasoning_off', 'unasked_reasoning'),
  ...usualBut('metadata', {
    why: 'it is accepted only for stored answers; it is kept in the usage record',
  }),
  ...usualBut('tool_input_format', {
    why: 'only OpenAI’s models take it; others read it in the tool’s description',
    isUsed: (request) => !takesCustomTools(request) && USUAL.tool_input_format.isUsed(request),
  }),
  ...foreignReasoning('chat'),
}
