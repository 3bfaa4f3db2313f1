// A canonical request as generateContent expects it. The model and whether to stream are in the URL. What this format
// cannot express is left out: `losses.ts` has already reported it.
import assert from 'node:assert/strict'

import type { JsonObject } from '../../core/json.ts'
import { defined } from '../../core/json.ts'
import type { CanonicalRequest, Conversation } from '../../core/request.ts'
import { describedSchema } from '../schema-adapt.ts'
import { encodeThinking } from './thinking-encode.ts'
import { encodeToolConfig, encodeTools } from './tools-encode.ts'
import { encodeTurns } from './turns-encode.ts'

export function encodeRequest(request: CanonicalRequest): JsonObject {
  assert(request.kind === 'chat')
  const { system, contents } = encodeTurns(request)
  const tools = encodeTools(request)
  return defined({
    contents,
    systemInstruction: system.length === 0 ? undefined : { parts: system },
    tools: tools.length === 0 ? undefined : [{ functionDeclarations: tools }],
    toolConfig: tools.length === 0 ? undefined : encodeToolConfig(request.toolChoice),
    generationConfig: encodeGeneration(request),
  })
}

function encodeGeneration(request: Conversation): JsonObject {
  const { temperature, topP, topK, seed, stop } = request.sampling
  return defined({
    maxOutputTokens: request.outputTokensMax,
    temperature,
    topP,
    topK,
    seed,
    stopSequences: stop,
    thinkingConfig: encodeThinking(request),
    ...encodeOutputFormat(request),
  })
}

function encodeOutputFormat({ outputFormat }: Conversation): JsonObject {
  if (outputFormat === undefined) return {}
  const responseMimeType = 'application/json'
  return outputFormat.type === 'json'
    ? { responseMimeType }
    : { responseMimeType, responseJsonSchema: describedSchema(outputFormat) }
}
