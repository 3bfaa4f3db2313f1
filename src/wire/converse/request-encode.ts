// A canonical request as Converse expects it. The model and whether to stream are in the URL. What this format cannot
// express is left out, and listed in `CONVERSE_LOSSES`.
import assert from 'node:assert/strict'
import type { JsonObject } from '../../core/json.ts'
import { defined } from '../../core/json.ts'
import type {
  CanonicalRequest,
  Conversation,
  Effort,
  FilePart,
  ImagePart,
  Message,
  ReasoningPart,
  ToolChoice,
  ToolMessage,
} from '../../core/request.ts'
import { endingOf } from '../content/media.ts'
import { adaptSchema, unenforcedInAnswer } from '../content/schemas.ts'
import {
  allowedFunctions,
  toolInput,
  toolCallsIn,
  fitIdentifier,
  fitToolName,
  withUniqueCallIds,
} from '../content/tools.ts'
import type { FunctionTool } from '../content/tools.ts'
import { JSON_ONLY, NO_CONTENT, takeTurns } from '../content/turns.ts'
import type { Turn } from '../content/turns.ts'
import type { Losses } from '../contract/losses.ts'
import { drop, foreignReasoning, hasPart, refuse, usual, usualBut } from '../contract/losses.ts'
import { asksForNoReasoning, asksForReasoning, effortOf } from '../contract/models.ts'

export function encodeRequest(request: CanonicalRequest): JsonObject {
  assert(request.kind === 'chat')
  const { system, messages } = encodeTurns(request)
  const { temperature, topP, stop } = request.sampling
  return defined({
    messages,
    system: system.length === 0 ? undefined : system,
    inferenceConfig: defined({
      maxTokens: request.outputTokensMax,
      temperature: temperature === undefined ? undefined : Math.min(temperature, 1),
      topP,
      stopSequences: stop,
    }),
    toolConfig: encodeToolConfig(request),
    outputConfig: encodeOutputConfig(request),
    additionalModelRequestFields: encodeReasoning(request),
  })
}

/** The schema is sent as JSON text. */
function encodeOutputConfig({ outputFormat }: Conversation): JsonObject | undefined {
  if (outputFormat?.type !== 'json-schema') return undefined
  const { name, description } = outputFormat
  const schema = JSON.stringify(adaptSchema(outputFormat.schema))
  const jsonSchema = defined({ name, description, schema })
  return { textFormat: { type: 'json_schema', structure: { jsonSchema } } }
}

function encodeReasoning({ model, reasoning }: Conversation): JsonObject | undefined {
  const effort = effortOf(reasoning)
  return effort === undefined ? undefined : fieldsOf(model)?.(effort)
}

/** How a model is told its effort; undefined for models without such a setting. */
function fieldsOf(model: string): ((effort: Effort) => JsonObject) | undefined {
  if (model.includes('amazon.nova-2')) return novaFields
  return model.includes('openai.gpt-oss') ? gptOssFields : undefined
}

/** Effort `high` forbids an output limit, and without a limit no hold would cover the answer. */
function novaFields(effort: Effort): JsonObject {
  if (effort === 'none') return { reasoningConfig: { type: 'disabled' } }
  const maxReasoningEffort = effort === 'minimal' || effort === 'low' ? 'low' : 'medium'
  return { reasoningConfig: { type: 'enabled', maxReasoningEffort } }
}

/** Reasoning cannot be turned off in gpt-oss. */
function gptOssFields(effort: Effort): JsonObject {
  if (effort === 'medium') return { reasoning_effort: 'medium' }
  const isLittle = effort === 'none' || effort === 'minimal' || effort === 'low'
  return { reasoning_effort: isLittle ? 'low' : 'high' }
}

type Part = Message['parts'][number]

function encodeTurns({ messages, outputFormat }: Conversation) {
  const { system, turns } = takeTurns(withUniqueCallIds(messages), {
    blocks: ({ parts }) => encodeParts(parts),
    result: encodeResult,
  })
  if (outputFormat?.type === 'json') system.push({ text: JSON_ONLY })
  return { system, messages: turns.map(encodeTurn) }
}

function encodeResult({ callId: id, parts, isError }: ToolMessage): JsonObject {
  const content = encodeParts(parts)
  return {
    toolResult: defined({
      toolUseId: callId(id),
      // An error result must have content, and some models refuse any empty result.
      content: content.length === 0 ? [{ text: NO_CONTENT }] : content,
      status: isError === true ? 'error' : undefined,
    }),
  }
}

function encodeTurn({ role, results, blocks }: Turn): JsonObject {
  const content = [...results, ...blocks]
  return { role, content: content.length === 0 ? [{ text: NO_CONTENT }] : content }
}

/** Blank texts are left out: the provider refuses them. */
function encodeParts(parts: readonly Part[]): JsonObject[] {
  return parts.flatMap((part, index) => encodePart(part, index))
}

function encodePart(part: Part, index: number): JsonObject[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text.trim() === '' ? [] : [{ text: part.text }]
    case 'image':
      return encodeImage(part)
    case 'file':
      return encodeFile(part, index)
    case 'reasoning':
      return encodeReasoningPart(part)
    case 'tool-call':
      return [{ toolUse: { toolUseId: callId(part.id), name: part.name, input: toolInput(part) } }]
    case 'audio':
      return []
  }
}

function encodeImage({ source }: ImagePart): JsonObject[] {
  if (source.type !== 'base64') return []
  const format = source.mediaType.replace('image/', '')
  return [{ image: { format, source: { bytes: source.data } } }]
}

function encodeFile({ source, name }: FilePart, index: number): JsonObject[] {
  if (source.type === 'url') return []
  const bytes = source.type === 'text' ? Buffer.from(source.text).toString('base64') : source.data
  const format = documentFormat(source) ?? 'txt'
  // A name is required, and may contain only letters, digits, single spaces, hyphens and brackets.
  const title = (name ?? '').replace(/[^A-Za-z0-9 ()[\]-]+/g, '-').replace(/ {2,}/g, ' ')
  return [{ document: { format, name: title || `document-${index}`, source: { bytes } } }]
}

/** A provider takes back only its own reasoning. */
function encodeReasoningPart({ text, opaque }: ReasoningPart): JsonObject[] {
  if (opaque?.format !== 'converse') return []
  const reasoningContent =
    opaque.kind === 'redacted'
      ? { redactedContent: opaque.value }
      : { reasoningText: { text, signature: opaque.value } }
  return [{ reasoningContent }]
}

const CALL_ID_CHARACTERS_MAX = 64

function callId(id: string): string {
  return fitIdentifier(id.replace(/[^a-zA-Z0-9_-]/g, '_'), CALL_ID_CHARACTERS_MAX)
}

/** Undefined for any other file. A URL, whose format is unknown, passes here and is refused as a URL. */
function documentFormat(source: FilePart['source']): string | undefined {
  return source.type === 'base64' ? endingOf(source.mediaType) : 'txt'
}

/**
 * The format has no list of allowed tools and no way to forbid calls, so tools that may not be called are left out.
 * Where earlier turns have calls, some tools must be offered even if the choice forbids all of them.
 */
function encodeToolConfig(request: Conversation): JsonObject | undefined {
  const { toolChoice } = request
  const called = calledTools(request)
  const offered = allowedFunctions(request)
  if (toolChoice?.type === 'none' && called.length === 0) return undefined
  // Converse refuses calls of earlier turns when the request offers no tools.
  const told = offered.length > 0 ? offered : called
  if (told.length === 0) return undefined
  return defined({ tools: told.map(encodeTool), toolChoice: encodeToolChoice(toolChoice) })
}

function encodeTool({ name, description, schema }: FunctionTool): JsonObject {
  const inputSchema = { json: { type: 'object', ...schema } }
  return { toolSpec: defined({ name: fitToolName(name, 'tools'), description, inputSchema }) }
}

function encodeToolChoice(choice: ToolChoice | undefined): JsonObject | undefined {
  switch (choice?.type) {
    case undefined:
    case 'none':
      return undefined
    case 'auto':
      return { auto: {} }
    case 'required':
      return { any: {} }
    case 'tool':
      return { tool: { name: choice.name } }
    case 'allowed':
      return choice.required ? { any: {} } : { auto: {} }
  }
}

function calledTools({ messages }: Conversation): readonly FunctionTool[] {
  const names = new Set(toolCallsIn(messages).map(({ name }) => name))
  return [...names].map((name) => ({ type: 'function', name, schema: {} }))
}

// What a Converse provider cannot be sent.

export const CONVERSE_LOSSES: Losses = {
  ...usual('choices', 'stop_beyond_four', 'temperature_above_one', 'top_k', 'seed', 'logit_bias'),
  ...usual('frequency_penalty', 'presence_penalty', 'logprobs', 'verbosity', 'metadata'),
  ...usual('cache_key', 'end_user', 'participant_name', 'audio', 'image_detail', 'file_url'),
  ...usual('single_tool_call', 'strict_tool', 'tool_input_format'),
  ...usual('reasoning_budget', 'reasoning_display'),
  ...usualBut('cache_marks', { why: 'not all its models take them' }),
  ...foreignReasoning('converse'),
  file_beyond_documents: refuse(
    'only documents, spreadsheets and text can be read',
    hasPart((part) => part.type === 'file' && documentFormat(part.source) === undefined),
  ),
  image_url: refuse(
    'images cannot be sent by URL',
    hasPart((part) => part.type === 'image' && part.source.type === 'url'),
  ),
  forbidden_tools: drop(
    'tools that were called before must be offered again',
    (request) => request.toolChoice?.type === 'none' && calledTools(request).length > 0,
  ),
  reasoning: drop(
    'only Nova 2 and gpt-oss take it',
    (request) => asksForReasoning(request) && fieldsOf(request.model) === undefined,
  ),
  reasoning_off: drop('only Nova 2 can be stopped from reasoning', reasonsAnyway),
  ...usualBut('unasked_reasoning', {
    isUsed: (request) => request.hidesReasoning === true && mayReason(request),
  }),
  schema_constraints: drop(
    'no model is bound to it; it is in the description instead',
    unenforcedInAnswer,
  ),
}

function reasonsAnyway(request: Conversation): boolean {
  const { model, traits } = request
  return asksForNoReasoning(request) && traits?.reasons !== false && fieldsOf(model) !== novaFields
}

function mayReason(request: Conversation): boolean {
  if (asksForNoReasoning(request)) return reasonsAnyway(request)
  return request.traits?.reasons ?? fieldsOf(request.model) !== undefined
}
