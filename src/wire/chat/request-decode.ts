// A chat completions request as a canonical one, for translation into another format. Strict: what it cannot
// understand is a 400 that names the field.
import { invalidRequest } from '../../core/errors.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { defined } from '../../core/json.ts'
import type {
  Conversation,
  OutputFormat,
  Reasoning,
  Sampling,
  Tool,
  ToolChoice,
} from '../../core/request.ts'
import { EFFORTS, VERBOSITIES } from '../../core/request.ts'
import { countOf, modelOf, streamOf } from '../call-fields.ts'
import { asksForTool } from '../choice-among-none.ts'
import { decodeEndUser } from '../end-user.ts'
import {
  expectBoolean,
  expectInteger,
  expectList,
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
import { knowsOnlyFunctions } from './functions.ts'
import { decodeMessages, markOf } from './message-decode.ts'
import { CHAT_SHAPE } from './shape.ts'
import { usableTools } from './usable-tools.ts'

const LOGPROBS_MAX = 20

export function decodeRequest(body: JsonObject): Conversation {
  const model = modelOf(body)
  const dropped = new Set([
    ...usableTools(body).dropped,
    ...droppedFields(body, CHAT_FIELDS),
    ...unknownMembers(body, CHAT_SHAPE),
  ])
  const tools = decodeTools(body)
  const settings = {
    outputTokensMax: countOf(body, 'max_completion_tokens', 1) ?? countOf(body, 'max_tokens', 1),
    toolChoice: decodeToolChoice(body, tools, dropped),
    parallelToolCalls: tools.length === 0 ? undefined : decodeParallel(body, dropped),
    outputFormat: optional(body['response_format'], 'response_format', decodeFormat),
    verbosity: optional(body['verbosity'], 'verbosity', expectOneOf(VERBOSITIES)),
    reasoning: optional(body['reasoning_effort'], 'reasoning_effort', decodeReasoning),
    endUser: decodeEndUser(body, dropped),
    metadata: optional(body['metadata'], 'metadata', expectMap(expectText)),
    cacheKey: optional(body['prompt_cache_key'], 'prompt_cache_key', expectText),
    serviceTier: optional(body['service_tier'], 'service_tier', expectText),
  }
  return {
    kind: 'chat',
    model,
    dropped: [...dropped],
    stream: streamOf(body),
    messages: decodeMessages(body['messages']),
    tools,
    sampling: decodeSampling(body),
    choices: countOf(body, 'n', 1) ?? 1,
    ...defined(settings),
  }
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

function decodeTools(body: JsonObject): readonly Tool[] {
  const usable = new Set(usableTools(body).tools)
  const tools = optional(body['tools'], 'tools', expectList) ?? []
  const functions = optional(body['functions'], 'functions', expectList) ?? []
  return [
    ...tools.flatMap((tool, index) =>
      usable.has(tool) ? [decodeTool(tool, `tools[${index}]`)] : [],
    ),
    ...functions.map((tool, index) => decodeFunction(tool, `functions[${index}]`)),
  ]
}

function decodeTool(value: Json, place: string): Tool {
  const tool = expectObject(value, place)
  const cache = markOf(tool, place)
  if (tool['type'] !== 'custom') {
    return { ...decodeFunction(tool['function'], `${place}.function`), ...cache }
  }
  const custom = expectObject(tool['custom'], `${place}.custom`)
  return {
    type: 'custom',
    name: expectName(custom['name'], `${place}.custom.name`),
    ...defined({
      description: optional(custom['description'], `${place}.custom.description`, expectText),
      inputFormat: optional(custom['format'], `${place}.custom.format`, decodeInputFormat),
    }),
    ...cache,
  }
}

function decodeFunction(value: Json | undefined, place: string): Tool {
  const tool = expectObject(value, place)
  return {
    type: 'function',
    name: expectName(tool['name'], `${place}.name`),
    // A function without parameters takes none; the other formats want that said.
    schema: optional(tool['parameters'], `${place}.parameters`, expectObject) ?? {
      type: 'object',
      properties: {},
    },
    ...defined({
      description: optional(tool['description'], `${place}.description`, expectText),
      strict: optional(tool['strict'], `${place}.strict`, expectBoolean),
    }),
  }
}

/** This format wraps a grammar once more than the canonical form does. */
function decodeInputFormat(value: unknown, place: string): JsonObject {
  const format = expectObject(value, place)
  if (format['type'] !== 'grammar') return format
  return { type: 'grammar', ...expectObject(format['grammar'], `${place}.grammar`) }
}

const CHOICES = ['auto', 'none', 'required'] as const

function decodeToolChoice(
  body: JsonObject,
  tools: readonly Tool[],
  dropped: Set<string>,
): ToolChoice | undefined {
  if (tools.length === 0) {
    if (asksForTool(body['tool_choice'])) dropped.add('tool_choice')
    if (asksForTool(body['function_call'])) dropped.add('function_call')
    return undefined
  }
  const legacy = body['function_call'] ?? null
  const value = body['tool_choice'] ?? legacy
  if (value === null) return undefined
  const place = value === legacy ? 'function_call' : 'tool_choice'
  const word = CHOICES.find((each) => each === value)
  if (word !== undefined) return { type: word }
  const choice = expectObject(value, place)
  if (choice['type'] === 'allowed_tools') {
    return decodeAllowedTools(
      expectObject(choice['allowed_tools'], `${place}.allowed_tools`),
      tools,
    )
  }
  const chosen = place === 'function_call' ? choice : namedIn(choice, place)
  return { type: 'tool', name: knownTool(chosen['name'], place, tools) }
}

function decodeAllowedTools(allowed: JsonObject, tools: readonly Tool[]): ToolChoice {
  const place = 'tool_choice.allowed_tools'
  const mode = expectOneOf(['auto', 'required'])(allowed['mode'] ?? 'auto', `${place}.mode`)
  const names = expectList(allowed['tools'], `${place}.tools`).map((entry, index) => {
    const at = `${place}.tools[${index}]`
    return knownTool(namedIn(expectObject(entry, at), at)['name'], at, tools)
  })
  return { type: 'allowed', names, required: mode === 'required' }
}

/** A tool is named inside an object that is named for the tool's type. */
function namedIn(choice: JsonObject, place: string): JsonObject {
  const type = expectOneOf(['function', 'custom'])(choice['type'], `${place}.type`)
  return expectObject(choice[type], `${place}.${type}`)
}

function knownTool(value: unknown, place: string, tools: readonly Tool[]): string {
  const name = expectName(value, place)
  if (tools.some((tool) => tool.name === name)) return name
  throw invalidRequest(place, `${place} names the tool "${name}", which is not among the tools`)
}

/** A message of the deprecated kind holds one call at most. */
function decodeParallel(body: JsonObject, dropped: Set<string>): boolean | undefined {
  const asked = optional(body['parallel_tool_calls'], 'parallel_tool_calls', expectBoolean)
  if (!knowsOnlyFunctions(body)) return asked
  if (asked === true) dropped.add('parallel_tool_calls')
  return false
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
