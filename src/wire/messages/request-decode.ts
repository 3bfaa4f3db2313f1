// A messages request, read in full for translation. What only the messages format has is dropped and named; what
// cannot be understood is a 400 that names its place.
import { invalidRequest, unsupportedParameter } from '../../core/errors.ts'
import type { JsonObject } from '../../core/json.ts'
import { defined, isGiven, typeOf } from '../../core/json.ts'
import type { Conversation, Effort, OutputFormat, Reasoning } from '../../core/request.ts'
import { countOf, decodeServiceTier, modelOf, streamOf } from '../call-fields.ts'
import {
  expectNumber,
  expectObject,
  expectOneOf,
  expectPositive,
  expectText,
  expectTexts,
  optional,
} from '../expect.ts'
import { droppedFields } from '../fields.ts'
import { unknownMembers } from '../shape.ts'
import { canBeStrict } from '../strict-schema.ts'
import { decodeCacheMark } from './cache-marks.ts'
import { MESSAGES_FIELDS } from './fields.ts'
import { decodeMessages } from './messages-decode.ts'
import { removalsFrom } from './removals.ts'
import { sessionOf } from './session.ts'
import { MESSAGES_SHAPE } from './shape.ts'
import { asksForThoughts } from './thoughts.ts'
import { decodeToolChoice, decodeTools } from './tools-decode.ts'

export function decodeRequest(whole: JsonObject): Conversation {
  const removals = removalsFrom(whole)
  const body: JsonObject = { ...whole, ...removals.changes }
  const dropped = new Set([
    ...removals.dropped,
    ...droppedFields(body, MESSAGES_FIELDS),
    ...unknownMembers(body, MESSAGES_SHAPE),
  ])
  const tools = decodeTools(body, dropped)
  const metadata = optional(body['metadata'], 'metadata', expectObject) ?? {}
  const endUser = optional(metadata['user_id'], 'metadata.user_id', expectText)
  const config = optional(body['output_config'], 'output_config', expectObject) ?? {}
  return defined({
    kind: 'chat' as const,
    model: modelOf(body),
    stream: streamOf(body),
    messages: decodeMessages(body, dropped),
    tools,
    ...decodeToolChoice(body, tools, dropped),
    outputTokensMax: decodeOutputLimit(body),
    outputFormat: decodeOutputFormat(body, config),
    reasoning: decodeReasoning(body, config, dropped),
    hidesThoughts: asksForThoughts(body) ? undefined : true,
    sampling: decodeSampling(body),
    choices: 1,
    endUser,
    cacheKey: sessionOf(endUser),
    cache: decodeCacheMark(body, ''),
    serviceTier: decodeServiceTier(body),
    // Last, because decoding the rest adds to it.
    dropped: [...dropped],
  })
}

function decodeOutputLimit(body: JsonObject): number | undefined {
  if (body['max_tokens'] === 0) {
    throw unsupportedParameter(
      'max_tokens',
      'max_tokens 0 only warms a cache, which the provider of this model does not offer: ask for at least 1',
    )
  }
  return countOf(body, 'max_tokens', 1)
}

function decodeSampling(body: JsonObject): Conversation['sampling'] {
  const stop = optional(body['stop_sequences'], 'stop_sequences', expectTexts)
  return defined({
    temperature: optional(body['temperature'], 'temperature', expectNumber),
    topP: optional(body['top_p'], 'top_p', expectNumber),
    topK: optional(body['top_k'], 'top_k', expectNumber),
    stop: stop?.length === 0 ? undefined : stop,
  })
}

/** `output_format` is what `output_config.format` was called in its beta. */
function decodeOutputFormat(body: JsonObject, config: JsonObject): OutputFormat | undefined {
  const place = isGiven(config['format']) ? 'output_config.format' : 'output_format'
  const format = optional(config['format'] ?? body['output_format'], place, expectObject)
  if (format === undefined) return undefined
  if (typeOf(format) !== 'json_schema') {
    throw invalidRequest(`${place}.type`, `${place}.type must be json_schema`)
  }
  const schema = expectObject(format['schema'], `${place}.schema`)
  return {
    type: 'json-schema',
    // Schemas have no names in this format, but other formats require one.
    name: 'output',
    schema,
    // Here a model is bound to every schema; elsewhere to those that can be strict, and only if that is asked for.
    ...(canBeStrict(schema) && { strict: true }),
  }
}

const expectEffort = expectOneOf<Effort>(['low', 'medium', 'high', 'xhigh', 'max'])
const DISPLAYS = new Map<string, Reasoning['display']>([
  ['summarized', 'summary'],
  ['omitted', 'omitted'],
])
const expectThinking = expectOneOf(['enabled', 'adaptive', 'between_tools', 'disabled'])

function decodeReasoning(
  body: JsonObject,
  config: JsonObject,
  dropped: Set<string>,
): Reasoning | undefined {
  const effort = optional(config['effort'], 'output_config.effort', expectEffort)
  const thinking = optional(body['thinking'], 'thinking', expectObject)
  if (thinking === undefined) return effort && { effort }
  const shown = optional(thinking['display'], 'thinking.display', expectText)
  const display = DISPLAYS.get(shown ?? '')
  // Clients use newer values than any list has. None of them is essential, so an unknown one is dropped, not refused.
  if (shown !== undefined && display === undefined) dropped.add('thinking.display')
  switch (expectThinking(thinking['type'], 'thinking.type')) {
    case 'adaptive':
      // The default effort of this format. In other formats a model may not think unless it is given an effort.
      return defined({ effort: effort ?? 'high', display })
    case 'enabled': {
      const tokensMax = expectPositive(thinking['budget_tokens'], 'thinking.budget_tokens')
      return defined({ effort, tokensMax, display })
    }
    case 'between_tools':
      // Other models also think before they answer, so they get the lowest effort of this format.
      dropped.add('thinking.type')
      return defined({ effort: effort ?? 'low', display })
    case 'disabled':
      if (effort !== undefined) dropped.add('output_config.effort')
      return { effort: 'none' }
  }
}
