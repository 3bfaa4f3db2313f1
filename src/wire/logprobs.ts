// How likely each token and its alternatives were. The chat and responses formats write this alike.
import type { TokenLogprob } from '../core/events.ts'
import type { Json, JsonObject } from '../core/json.ts'
import { isArray, isObject, numberOf, stringOf } from '../core/json.ts'

export function decodeLogprobs(value: Json | undefined): readonly TokenLogprob[] | undefined {
  if (!isArray(value) || value.length === 0) return undefined
  return value.filter(isObject).map((entry) => ({
    ...decodeToken(entry),
    top: isArray(entry['top_logprobs'])
      ? entry['top_logprobs'].filter(isObject).map(decodeToken)
      : [],
  }))
}

function decodeToken(entry: JsonObject): Omit<TokenLogprob, 'top'> {
  const { bytes } = entry
  return {
    token: stringOf(entry['token']) ?? '',
    logprob: numberOf(entry['logprob']) ?? 0,
    bytes: isArray(bytes) ? bytes.filter((byte) => typeof byte === 'number') : null,
  }
}
