// A canonical request as a responses provider expects it. Writes what the format can express; what it cannot is in
// `RESPONSES_LOSSES`. The provider stores nothing: all keys share its account.
import assert from 'node:assert/strict'
import type { JsonObject } from '../../core/json.ts'
import { defined } from '../../core/json.ts'
import type {
  AssistantPart,
  CanonicalRequest,
  Conversation,
  FilePart,
  Message,
  OutputFormat,
  ReasoningPart,
  RefusalPart,
  TextPart,
  ToolCallPart,
  ToolMessage,
  UserPart,
} from '../../core/request.ts'
import { belowTitle, encodeUrl, fileName } from '../content/media.ts'
import { fitIdentifier, OPENAI_IDENTIFIER_CHARACTERS_MAX } from '../content/tools.ts'
import type { Losses } from '../contract/losses.ts'
import { foreignReasoning, refuse, usual } from '../contract/losses.ts'
import { givesEncryptedReasoning, isPlain, takesSampling, toldEffort } from '../contract/models.ts'
import { ENCRYPTED_REASONING, LOGPROBS } from './fields.ts'
import { encodeTool, encodeToolChoice } from './tools.ts'

export function encodeRequest(request: CanonicalRequest): JsonObject {
  assert(request.kind === 'chat')
  const { tools, toolChoice, cacheKey, endUser } = request
  const sampling = takesSampling(request) ? request.sampling : {}
  const hasTools = tools.length > 0
  return defined({
    model: request.model,
    input: encodeInput(request.messages),
    stream: request.stream ? true : undefined,
    store: false,
    include: encodeInclude({ ...request, sampling }),
    max_output_tokens: request.outputTokensMax,
    temperature: sampling.temperature,
    top_p: sampling.topP,
    top_logprobs: sampling.logprobs,
    tools: hasTools ? tools.map(encodeTool) : undefined,
    tool_choice: hasTools && toolChoice ? encodeToolChoice(toolChoice, tools) : undefined,
    parallel_tool_calls: hasTools ? request.parallelToolCalls : undefined,
    text: encodeTextSettings(request),
    reasoning: encodeReasoning(request),
    metadata: request.metadata,
    safety_identifier: endUser && fitIdentifier(endUser, OPENAI_IDENTIFIER_CHARACTERS_MAX),
    prompt_cache_key: cacheKey && fitIdentifier(cacheKey, OPENAI_IDENTIFIER_CHARACTERS_MAX),
    service_tier: request.serviceTier,
  })
}

function encodeInclude(request: Conversation): string[] | undefined {
  const { sampling } = request
  const include = [
    ...(givesEncryptedReasoning(request) ? [ENCRYPTED_REASONING] : []),
    ...(sampling.logprobs === undefined ? [] : [LOGPROBS]),
  ]
  return include.length === 0 ? undefined : include
}

function encodeTextSettings({ outputFormat, verbosity }: Conversation): JsonObject | undefined {
  if (outputFormat === undefined && verbosity === undefined) return undefined
  return defined({ format: outputFormat && encodeFormat(outputFormat), verbosity })
}

function encodeFormat(format: OutputFormat): JsonObject {
  if (format.type === 'json') return { type: 'json_object' }
  const { name, description, schema, strict } = format
  return defined({ type: 'json_schema', name, description, schema, strict })
}

function encodeReasoning(request: Conversation): JsonObject | undefined {
  const { reasoning } = request
  if (reasoning === undefined || isPlain(request)) return undefined
  // A client that sets a reasoning budget uses a format that shows reasoning by default.
  const isShown =
    reasoning.display === 'summary' ||
    (reasoning.tokensMax !== undefined && reasoning.display === undefined)
  const encoded = defined({
    effort: toldEffort(request),
    summary: isShown ? 'auto' : undefined,
  })
  return Object.keys(encoded).length === 0 ? undefined : encoded
}

/** The longest call id that the format allows. */
const CALL_ID_CHARACTERS_MAX = 64

function encodeInput(messages: readonly Message[]): JsonObject[] {
  const customCalls = new Set<string>()
  return messages.flatMap((message) => {
    switch (message.role) {
      case 'system':
      case 'developer':
      case 'user':
        return [{ type: 'message', role: message.role, content: message.parts.flatMap(encodePart) }]
      case 'assistant':
        for (const part of message.parts) {
          if (part.type !== 'tool-call') continue
          // Some servers reuse the same ids in every answer: a result belongs to the last call with its id.
          if (part.custom) customCalls.add(part.id)
          else customCalls.delete(part.id)
        }
        return encodeTurn(message.parts)
      case 'tool':
        return [encodeResult(message, customCalls.has(message.callId))]
    }
  })
}

function encodePart(part: UserPart): JsonObject[] {
  switch (part.type) {
    case 'text':
      return [encodeText(part.text)]
    case 'image': {
      const { source, detail = 'auto' } = part
      return [{ type: 'input_image', image_url: encodeUrl(source), detail }]
    }
    case 'file':
      return encodeFile(part)
    case 'audio':
      return [{ type: 'input_audio', input_audio: { data: part.data, format: part.encoding } }]
  }
}

function encodeText(text: string): JsonObject {
  return { type: 'input_text', text }
}

function encodeFile(file: FilePart): JsonObject[] {
  const { source, name } = file
  switch (source.type) {
    case 'text':
      return [encodeText(belowTitle(source.text, name))]
    case 'url': {
      // Only a file that is sent inline can have a filename.
      const title = name === undefined ? [] : [encodeText(name)]
      return [...title, { type: 'input_file', file_url: source.url }]
    }
    case 'base64':
      return [{ type: 'input_file', filename: fileName(file), file_data: encodeUrl(source) }]
  }
}

/** One item for each call, piece of reasoning and run of text, in their original order. */
function encodeTurn(parts: readonly AssistantPart[]): JsonObject[] {
  const items: JsonObject[] = []
  let words: JsonObject[] | undefined
  for (const part of parts) {
    if (part.type === 'text' || part.type === 'refusal') {
      if (words === undefined) {
        words = []
        items.push({ type: 'message', role: 'assistant', content: words })
      }
      words.push(encodeWords(part))
      continue
    }
    const item = part.type === 'reasoning' ? encodeReasoningItem(part) : encodeCall(part)
    if (item === undefined) continue
    words = undefined
    items.push(item)
  }
  return items
}

function encodeWords(part: TextPart | RefusalPart): JsonObject {
  return part.type === 'text'
    ? { type: 'output_text', text: part.text, annotations: [] }
    : { type: 'refusal', refusal: part.text }
}

/** Only what a provider of this format produced: it cannot read any other reasoning. */
function encodeReasoningItem({ text, opaque }: ReasoningPart): JsonObject | undefined {
  if (opaque?.format !== 'responses') return undefined
  return defined({
    type: 'reasoning',
    id: opaque.id,
    summary: text === '' ? [] : [{ type: 'summary_text', text }],
    encrypted_content: opaque.value,
  })
}

function encodeCall({ id, name, input, custom }: ToolCallPart): JsonObject {
  const call_id = fitIdentifier(id, CALL_ID_CHARACTERS_MAX)
  return custom
    ? { type: 'custom_tool_call', call_id, name, input }
    : { type: 'function_call', call_id, name, arguments: input === '' ? '{}' : input }
}

function encodeResult({ callId, parts, isError }: ToolMessage, custom: boolean): JsonObject {
  return {
    type: custom ? 'custom_tool_call_output' : 'function_call_output',
    call_id: fitIdentifier(callId, CALL_ID_CHARACTERS_MAX),
    output: encodeOutput(isError === true ? markError(parts) : parts),
  }
}

function encodeOutput(parts: readonly UserPart[]): string | readonly JsonObject[] {
  const [first] = parts
  if (first === undefined) return ''
  return parts.length === 1 && first.type === 'text' ? first.text : parts.flatMap(encodePart)
}

/** The format cannot mark a call as failed, so the text says it. */
function markError(parts: ToolMessage['parts']): readonly UserPart[] {
  const [first, ...rest] = parts
  return first?.type === 'text'
    ? [{ ...first, text: `Error: ${first.text}` }, ...rest]
    : [{ type: 'text', text: 'Error:' }, ...parts]
}

// What a responses provider cannot be sent.

export const RESPONSES_LOSSES: Losses = {
  ...usual('choices', 'temperature_of_reasoner', 'top_p_of_reasoner', 'logprobs_of_reasoner'),
  ...usual('top_k', 'frequency_penalty', 'presence_penalty', 'seed', 'logit_bias'),
  ...usual('participant_name', 'audio', 'cache_marks', 'loose_schema'),
  ...usual('reasoning_budget', 'reasoning', 'reasoning_off', 'unasked_reasoning'),
  ...foreignReasoning('responses'),
  stop: refuse('there are no stop sequences', ({ sampling }) => sampling.stop !== undefined),
}
