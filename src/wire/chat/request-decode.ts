// A chat completions request as a canonical one, for translation into another format. Strict: what it cannot
// understand is a 400 that names the field.
import { invalidRequest } from '../../core/errors.ts'
import type { JsonObject } from '../../core/json.ts'
import { defined } from '../../core/json.ts'
import type { Conversation, OutputFormat, Reasoning, Sampling } from '../../core/request.ts'
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
import { CHAT_FIELDS } from './fields.ts'
import { decodeMessages } from './message-decode.ts'
import { CHAT_SHAPE } from './shape.ts'
import { decodeParallel, decodeToolChoice, decodeTools } from './tools-decode.ts'
import { usableTools } from './usable-tools.ts'

const LOGPROBS_MAX = 20

export function decodeRequest(body: JsonObject): Conversation {
  const dropped = new Set([
    ...usableTools(body).dropped,
    ...droppedFields(body, CHAT_FIELDS),
    ...unknownMembers(body, CHAT_SHAPE),
  ])
  const tools = decodeTools(body)
  return defined({
    kind: 'chat' as const,
    model: modelOf(body),
    stream: streamOf(body),
    messages: decodeMessages(body['messages']),
    tools,
    outputTokensMax: countOf(body, 'max_completion_tokens', 1) ?? countOf(body, 'max_tokens', 1),
    toolChoice: decodeToolChoice(body, tools, dropped),
    parallelToolCalls: tools.length === 0 ? undefined : decodeParallel(body, dropped),
    outputFormat: optional(body['response_format'], 'response_format', decodeFormat),
    verbosity: optional(body['verbosity'], 'verbosity', expectOneOf(VERBOSITIES)),
    reasoning: optional(body['reasoning_effort'], 'reasoning_effort', decodeReasoning),
    sampling: decodeSampling(body),
    choices: countOf(body, 'n', 1) ?? 1,
    endUser: decodeEndUser(body, dropped),
    metadata: optional(body['metadata'], 'metadata', expectMap(expectText)),
    cacheKey: optional(body['prompt_cache_key'], 'prompt_cache_key', expectText),
    serviceTier: decodeServiceTier(body),
    // Last, because decoding the rest adds to it.
    dropped: [...dropped],
  })
}

function decodeSampling(body: JsonObject): Sampling {
  const number = (name: string) => optional(body[name], name, expectNumber)
  return defined({
    temperature: number('temperature'),
    topP: number('top_p'),
    frequencyPenalty: number('frequency_penalty'),
    presencePenalty: number('presence_penalty'),
    seed: optional(body['seed'], 'seed', expectInteger),
    logitBias: optional(body['logit_bias'], 'logit_bias', expectMap(expectNumber)),
    stop: optional(body['stop'], 'stop', decodeStop),
    logprobs: decodeLogprobs(body),
  })
}

function decodeReasoning(value: unknown, place: string): Reasoning {
  return { effort: expectOneOf(EFFORTS)(value, place) }
}

function decodeStop(value: unknown, place: string): readonly string[] | undefined {
  const stop = typeof value === 'string' ? [value] : expectTexts(value, place)
  return stop.length === 0 ? undefined : stop
}

function decodeLogprobs(body: JsonObject): number | undefined {
  const asked = optional(body['logprobs'], 'logprobs', expectBoolean) ?? false
  const top = countOf(body, 'top_logprobs', 0)
  if (top !== undefined && top > LOGPROBS_MAX) {
    throw invalidRequest('top_logprobs', `top_logprobs must be at most ${LOGPROBS_MAX}`)
  }
  if (top !== undefined && !asked) {
    throw invalidRequest('top_logprobs', 'top_logprobs needs logprobs: true')
  }
  return asked ? (top ?? 0) : undefined
}

function decodeFormat(value: unknown, place: string): OutputFormat | undefined {
  const format = expectObject(value, place)
  switch (expectOneOf(['text', 'json_object', 'json_schema'])(format['type'], `${place}.type`)) {
    case 'text':
      return undefined
    case 'json_object':
      return { type: 'json' }
    case 'json_schema': {
      const at = `${place}.json_schema`
      const schema = expectObject(format['json_schema'], at)
      return {
        type: 'json-schema',
        name: expectName(schema['name'], `${at}.name`),
        schema: optional(schema['schema'], `${at}.schema`, expectObject) ?? {},
        ...defined({
          description: optional(schema['description'], `${at}.description`, expectText),
          strict: optional(schema['strict'], `${at}.strict`, expectBoolean),
        }),
      }
    }
  }
}
