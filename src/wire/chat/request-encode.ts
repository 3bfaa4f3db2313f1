// A canonical request as a chat completions provider expects it. Writes what the format can express; what it cannot is
// listed in `features.ts` and has already been named or refused.
import assert from 'node:assert/strict'

import type { JsonObject } from '../../core/json.ts'
import { defined } from '../../core/json.ts'
import type { CanonicalRequest, Conversation, OutputFormat } from '../../core/request.ts'
import { takesCustomTools, withFunctionsOnly } from '../custom-tools.ts'
import { toldEffort } from '../effort.ts'
import { fitIdentifier, OPENAI_IDENTIFIER_CHARACTERS_MAX } from '../identifiers.ts'
import { knownNames } from '../known-names.ts'
import { takesSampling } from '../sampling.ts'
import { withAllowedOnly } from '../tool-choice.ts'
import { encodeMessages } from './message-encode.ts'
import { encodeTool, encodeToolChoice } from './tools-encode.ts'

export function encodeRequest(asked: CanonicalRequest): JsonObject {
  assert(asked.kind === 'chat')
  const request = takesCustomTools(asked) ? asked : inOlderWords(asked)
  const { tools, toolChoice, cacheKey, endUser } = request
  return defined({
    model: request.model,
    messages: encodeMessages(request.messages, { wantsThoughts: wantsThoughts(request) }),
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
 * DeepSeek and Kimi refuse a conversation with tools in which an answer lacks its thoughts. A client that was shown none,
 * or another model, has none to send back.
 */
function wantsThoughts(request: Conversation): boolean {
  if (request.tools.length === 0 || request.nature?.reasons === false) return false
  return knownNames(request).some((name) => /deepseek|kimi/i.test(name))
}

/** Servers that follow OpenAI know neither custom tools nor lists of allowed ones. */
function inOlderWords(request: Conversation): Conversation {
  return withFunctionsOnly(withAllowedOnly(request))
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
