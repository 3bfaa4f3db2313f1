// A responses request in the canonical form, for translation. What cannot be understood is a 400 with its place; what
// has no canonical form is dropped and named.
import { invalidRequest } from '../../core/errors.ts'
import type { JsonObject } from '../../core/json.ts'
import { defined, isGiven, typeOf } from '../../core/json.ts'
import type {
  Conversation,
  Message,
  OutputFormat,
  Reasoning,
  Sampling,
} from '../../core/request.ts'
import { EFFORTS, VERBOSITIES } from '../../core/request.ts'
import { countOf, decodeServiceTier, modelOf, streamOf } from '../call-fields.ts'
import { decodeEndUser } from '../end-user.ts'
import {
  expectBoolean,
  expectInteger,
  expectMap,
  expectName,
  expectNumber,
  expectObject,
  expectOneOf,
  expectText,
  expectTexts,
  optional,
} from '../expect.ts'
import { droppedFields } from '../fields.ts'
import { unknownMembers } from '../shape.ts'
import { RESPONSES_FIELDS } from './fields.ts'
import { ENCRYPTED_REASONING, LOGPROBS } from './include.ts'
import type { Reading } from './tools-decode.ts'
import { decodeInput } from './input-decode.ts'
import { RESPONSES_SHAPE } from './shape.ts'
import { toolNames } from './tool-names.ts'
import { decodeToolChoice, decodeTools } from './tools-decode.ts'

export function decodeRequest(body: JsonObject): Conversation {
  const reading: Reading = {
    names: toolNames(body),
    dropped: new Set([
      ...droppedFields(body, RESPONSES_FIELDS),
      ...unknownMembers(body, RESPONSES_SHAPE),
    ]),
  }
  // Clients send this value to ask for nothing special.
  if (body['truncation'] === 'disabled') reading.dropped.delete('truncation')
  const include = readInclude(body, reading)
  const text = optional(body['text'], 'text', expectObject) ?? {}
  const tools = decodeTools(body, reading)
  return defined({
    kind: 'chat' as const,
    model: modelOf(body),
    stream: streamOf(body),
    messages: [...decodeInstructions(body), ...decodeInput(body['input'], reading)],
    tools,
    toolChoice: decodeToolChoice(body, tools, reading),
    parallelToolCalls: optional(body['parallel_tool_calls'], 'parallel_tool_calls', expectBoolean),
    outputTokensMax: countOf(body, 'max_output_tokens', 1),
    outputFormat: decodeFormat(text),
    verbosity: optional(text['verbosity'], 'text.verbosity', expectOneOf(VERBOSITIES)),
    reasoning: decodeReasoning(body, reading),
    sampling: decodeSampling(body, include),
    choices: 1,
    endUser: decodeEndUser(body, reading.dropped),
    metadata: optional(body['metadata'], 'metadata', expectMap(expectText)),
    cacheKey: optional(body['prompt_cache_key'], 'prompt_cache_key', expectText),
    serviceTier: decodeServiceTier(body),
    // Last, because decoding the rest adds to it.
    dropped: [...reading.dropped],
  })
}

/** Not dropped: logprobs are translated, and encrypted reasoning is always sent. */
const INCLUDED = [LOGPROBS, ENCRYPTED_REASONING]

function readInclude(body: JsonObject, reading: Reading): readonly string[] {
  const include = optional(body['include'], 'include', expectTexts) ?? []
  for (const name of include) {
    if (!INCLUDED.includes(name)) reading.dropped.add(`include.${name}`)
  }
  return include
}

/** Instructions come before the whole conversation. */
function decodeInstructions(body: JsonObject): Message[] {
  const text = optional(body['instructions'], 'instructions', expectText) ?? ''
  return text === '' ? [] : [{ role: 'system', parts: [{ type: 'text', text }] }]
}

function decodeFormat(text: JsonObject): OutputFormat | undefined {
  const format = optional(text['format'], 'text.format', expectObject) ?? { type: 'text' }
  switch (typeOf(format)) {
    case 'text':
      return undefined
    case 'json_object':
      return { type: 'json' }
    case 'json_schema':
      return defined({
        type: 'json-schema' as const,
        name: expectName(format['name'], 'text.format.name'),
        description: optional(format['description'], 'text.format.description', expectText),
        schema: expectObject(format['schema'], 'text.format.schema'),
        strict: optional(format['strict'], 'text.format.strict', expectBoolean),
      })
    default:
      throw invalidRequest(
        'text.format.type',
        'text.format.type must be text, json_object or json_schema',
      )
  }
}

const READ_OF_REASONING = ['effort', 'summary', 'generate_summary']

function decodeReasoning(body: JsonObject, reading: Reading): Reasoning | undefined {
  const reasoning = optional(body['reasoning'], 'reasoning', expectObject)
  if (reasoning === undefined) return undefined
  for (const [name, value] of Object.entries(reasoning)) {
    const isDefault = value === null || value === 'auto' || value === 'standard'
    if (!READ_OF_REASONING.includes(name) && !isDefault) reading.dropped.add(`reasoning.${name}`)
  }
  const summary = reasoning['summary'] ?? reasoning['generate_summary']
  if (isGiven(summary) && summary !== 'auto') reading.dropped.add('reasoning.summary')
  const effort = optional(reasoning['effort'], 'reasoning.effort', expectOneOf(EFFORTS))
  const display = isGiven(summary) ? ('summary' as const) : undefined
  // Clients write the object down with nothing in it, or as answers repeat it: that asks no model to think.
  if (effort === undefined && display === undefined) return undefined
  return defined({ effort, display })
}

function decodeSampling(body: JsonObject, include: readonly string[]): Sampling {
  const alternatives = optional(body['top_logprobs'], 'top_logprobs', expectInteger) ?? 0
  return defined({
    temperature: optional(body['temperature'], 'temperature', expectNumber),
    topP: optional(body['top_p'], 'top_p', expectNumber),
    presencePenalty: optional(body['presence_penalty'], 'presence_penalty', expectNumber),
    frequencyPenalty: optional(body['frequency_penalty'], 'frequency_penalty', expectNumber),
    logprobs: include.includes(LOGPROBS) || alternatives > 0 ? alternatives : undefined,
  })
}
