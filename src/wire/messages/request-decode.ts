// A messages request, read in full for translation. What only the messages format has is dropped and named; what
// cannot be understood is a 400 that names its place.
import { invalidRequest, unsupportedParameter } from '../../core/errors.ts'
import type { JsonObject } from '../../core/json.ts'
import { defined } from '../../core/json.ts'
import type { Conversation, Effort, OutputFormat, Reasoning } from '../../core/request.ts'
import { droppedFields } from '../fields.ts'
import type { Fields } from '../read.ts'
import {
  optionalBoolean,
  optionalNumber,
  optionalObject,
  optionalString,
  optionalStrings,
  placeOf,
  requiredString,
} from '../read.ts'
import { decodeCacheMark } from './blocks-decode.ts'
import { FIELDS } from './fields.ts'
import { decodeMessages } from './messages-decode.ts'
import { removalsFrom } from './removals.ts'
import { decodeToolChoice, decodeTools } from './tools-decode.ts'

export function decodeRequest(whole: JsonObject): Conversation {
  const removals = removalsFrom(whole)
  const values: JsonObject = { ...whole, ...removals.changes }
  const dropped = new Set([...removals.dropped, ...droppedFields(values, FIELDS)])
  const body: Fields = { values, path: '' }
  const tools = decodeTools(body, dropped)
  const metadata = optionalObject(body, 'metadata')
  const conversation = defined({
    kind: 'chat' as const,
    model: requiredString(body, 'model'),
    stream: optionalBoolean(body, 'stream') ?? false,
    messages: decodeMessages(body, dropped),
    tools,
    ...decodeToolChoice(body, tools, dropped),
    outputTokensMax: decodeOutputLimit(body),
    outputFormat: decodeOutputFormat(body),
    reasoning: decodeReasoning(body),
    sampling: defined({
      temperature: optionalNumber(body, 'temperature'),
      topP: optionalNumber(body, 'top_p'),
      topK: optionalNumber(body, 'top_k'),
      stop: decodeStop(body),
    }),
    choices: 1,
    endUser: metadata && optionalString(metadata, 'user_id'),
    cache: decodeCacheMark(body),
    serviceTier: decodeServiceTier(body),
  })
  // Last, because reading the rest adds to it.
  return { ...conversation, dropped: [...dropped] }
}

function decodeOutputLimit(body: Fields): number | undefined {
  const limit = optionalNumber(body, 'max_tokens')
  if (limit === 0) {
    throw unsupportedParameter(
      'max_tokens',
      'max_tokens 0 only warms a cache, which the provider of this model does not offer: ask for at least 1',
    )
  }
  return limit
}

function decodeStop(body: Fields): readonly string[] | undefined {
  const stop = optionalStrings(body, 'stop_sequences')
  return stop?.length === 0 ? undefined : stop
}

/** `output_format` is what `output_config.format` was called in its beta. */
function decodeOutputFormat(body: Fields): OutputFormat | undefined {
  const config = optionalObject(body, 'output_config')
  const format =
    (config && optionalObject(config, 'format')) ?? optionalObject(body, 'output_format')
  if (format === undefined) return undefined
  const schema = optionalObject(format, 'schema')
  if (format.values['type'] !== 'json_schema' || schema === undefined) {
    throw invalidRequest(format.path, `${format.path} must have the type json_schema and a schema`)
  }
  // Schemas have no names here; other formats ask for one.
  return { type: 'json-schema', name: 'output', schema: schema.values }
}

const EFFORTS: readonly string[] = ['low', 'medium', 'high', 'xhigh', 'max'] satisfies Effort[]

function decodeReasoning(body: Fields): Reasoning | undefined {
  const config = optionalObject(body, 'output_config')
  const told = config && optionalString(config, 'effort')
  if (config !== undefined && told !== undefined && !EFFORTS.includes(told)) {
    const place = placeOf(config, 'effort')
    throw invalidRequest(place, `${place} must be one of ${EFFORTS.join(', ')}`)
  }
  const effort = told as Effort | undefined
  const thinking = optionalObject(body, 'thinking')
  if (thinking === undefined) return effort === undefined ? undefined : { effort }
  const display = optionalString(thinking, 'display')
  const shown = defined({ display: display === undefined ? undefined : displayOf(display) })
  const type = requiredString(thinking, 'type')
  switch (type) {
    case 'adaptive':
      return defined({ effort, ...shown })
    case 'enabled':
      return defined({ effort, tokensMax: optionalNumber(thinking, 'budget_tokens'), ...shown })
    case 'between_tools':
      // Thinking only between tool calls: the least there is without turning it off.
      return { effort: effort ?? 'low' }
    case 'disabled':
      return { effort: 'none' }
    default:
      throw invalidRequest('thinking.type', `thinking.type ${type} is not known`)
  }
}

function displayOf(display: string): 'summary' | 'omitted' {
  return display === 'omitted' ? 'omitted' : 'summary'
}

/** `standard_only` is what the other family calls `default`. */
function decodeServiceTier(body: Fields): string | undefined {
  const tier = optionalString(body, 'service_tier')
  return tier === 'standard_only' ? 'default' : tier
}
