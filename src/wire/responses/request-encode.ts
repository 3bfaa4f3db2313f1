// A canonical request as a responses provider expects it. Writes what the format can express; what it cannot is listed
// in `features.ts` and has already been named or refused. The provider stores nothing: all keys share its account.
import assert from 'node:assert/strict'

import type { JsonObject } from '../../core/json.ts'
import { defined } from '../../core/json.ts'
import type { CanonicalRequest, Conversation, OutputFormat } from '../../core/request.ts'
import { isPlain, toldEffort } from '../effort.ts'
import { fitIdentifier, OPENAI_IDENTIFIER_CHARACTERS_MAX } from '../identifiers.ts'
import { takesSampling } from '../sampling.ts'
import { givesEncryptedReasoning } from './encrypted-reasoning.ts'
import { ENCRYPTED_REASONING, LOGPROBS } from './include.ts'
import { encodeInput } from './input-encode.ts'
import { encodeTool, encodeToolChoice } from './tools-encode.ts'

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
  // A client that sets a thinking budget uses a format that shows thoughts by default.
  const isShown =
    reasoning.display === 'summary' ||
    (reasoning.tokensMax !== undefined && reasoning.display === undefined)
  const encoded = defined({
    effort: toldEffort(request),
    summary: isShown ? 'auto' : undefined,
  })
  return Object.keys(encoded).length === 0 ? undefined : encoded
}
