// A canonical request as Converse expects it. The model and whether to stream are in the URL. What this format cannot
// express is left out: `losses.ts` has already reported it.
import assert from 'node:assert/strict'

import type { JsonObject } from '../../core/json.ts'
import { defined } from '../../core/json.ts'
import type { CanonicalRequest, Conversation } from '../../core/request.ts'
import { adaptSchema } from '../schema-adapt.ts'
import { encodeToolConfig } from './called-tools.ts'
import { encodeThinking } from './thinking-encode.ts'
import { encodeTurns } from './turns-encode.ts'

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
    additionalModelRequestFields: encodeThinking(request),
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
