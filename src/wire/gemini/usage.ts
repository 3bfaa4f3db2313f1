// Token counts of generateContent: the prompt includes cache reads, thoughts are counted separately from the answer,
// and a stream repeats its totals.
import type { Usage } from '../../core/events.ts'
import { NO_USAGE, whereAny } from '../../core/events.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { isObject, listOf } from '../../core/json.ts'
import { countIn, readable } from '../counts.ts'

/** Undefined without the prompt's count. The provider omits the other counts when they are 0. */
export function decodeUsage(counts: JsonObject): Usage | undefined {
  const prompt = countIn(counts, 'promptTokenCount') ?? NaN
  const thoughts = countIn(counts, 'thoughtsTokenCount') ?? 0
  return readable({
    ...NO_USAGE,
    inputTokens: prompt + (countIn(counts, 'toolUsePromptTokenCount') ?? 0),
    cachedTokens: countIn(counts, 'cachedContentTokenCount') ?? 0,
    outputTokens: (countIn(counts, 'candidatesTokenCount') ?? 0) + thoughts,
    reasoningTokens: thoughts,
    ...whereAny('audioTokens', heardTokens(counts['promptTokensDetails'])),
  })
}

/** `[{ "modality": "AUDIO", "tokenCount": 320 }]` */
function heardTokens(details: Json | undefined): number {
  const parts = listOf(details).filter(isObject)
  return parts
    .filter(({ modality }) => modality === 'AUDIO')
    .reduce((sum, part) => sum + (countIn(part, 'tokenCount') ?? 0), 0)
}
