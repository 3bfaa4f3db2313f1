// Token counts of generateContent: the prompt includes what was read from a cache, thoughts are counted apart from the
// answer, and a stream tells totals again and again.
import type { Usage } from '../../core/events.ts'
import { NO_USAGE, whereAny } from '../../core/events.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { isArray, isObject, numberOf } from '../../core/json.ts'

export function decodeUsage(counts: JsonObject): Usage | undefined {
  const prompt = numberOf(counts['promptTokenCount'])
  if (prompt === undefined) return undefined
  const thoughts = numberOf(counts['thoughtsTokenCount']) ?? 0
  return {
    ...NO_USAGE,
    inputTokens: prompt + (numberOf(counts['toolUsePromptTokenCount']) ?? 0),
    cachedTokens: numberOf(counts['cachedContentTokenCount']) ?? 0,
    outputTokens: (numberOf(counts['candidatesTokenCount']) ?? 0) + thoughts,
    reasoningTokens: thoughts,
    ...whereAny('audioTokens', heardTokens(counts['promptTokensDetails'])),
  }
}

/** `[{ "modality": "AUDIO", "tokenCount": 320 }]` */
function heardTokens(details: Json | undefined): number {
  const parts = isArray(details) ? details.filter(isObject) : []
  return parts
    .filter(({ modality }) => modality === 'AUDIO')
    .reduce((sum, { tokenCount }) => sum + (numberOf(tokenCount) ?? 0), 0)
}
