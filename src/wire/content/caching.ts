// What a provider is asked to cache of a prompt: how long, in the two classes that have prices, below an hour and from an
// hour on (a lifetime outside the list would be billed at an unknown price), with which other settings, and what brings
// the requests of one conversation to the same cache.
import { unsupportedParameter } from '../../core/errors.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { defined, isGiven, isObject, stringOf } from '../../core/json.ts'
import type { CacheMark } from '../../core/request.ts'
import type { Measure } from '../contract/measure.ts'
import { expectObject, expectText, optional } from '../json/expect.ts'

export function lifetimeOf(ttl: unknown, place: string): 'short' | 'long' {
  switch (stringOf(ttl ?? '5m') ?? '') {
    case '5m':
    case '30m':
      return 'short'
    case '1h':
    case '12h':
    case '24h':
      return 'long'
    default:
      throw unsupportedParameter(
        place,
        `${place} must be a lifetime with a known price: 5m, 30m, 1h, 12h or 24h`,
      )
  }
}

/** A cache mark. Every format writes it alike, under its own name. */
export function expectCacheMark(value: unknown, place: string): CacheMark {
  const mark = expectObject(value, place)
  return defined({ ttl: optional(mark['ttl'], `${place}.ttl`, expectText) })
}

/** The chat family's settings for the whole prompt; marks are on its parts. */
export function readCacheSettings(body: JsonObject, measure: Measure): void {
  const { prompt_cache_options: options, prompt_cache_retention: retention } = body
  if (isObject(options)) {
    measure.cacheWrite(lifetimeOf(options['ttl'], 'prompt_cache_options.ttl'))
  }
  if ((retention ?? 'in_memory') !== 'in_memory') {
    measure.cacheWrite(lifetimeOf(retention, 'prompt_cache_retention'))
  }
}

type UsableCaching = {
  readonly options: Json | undefined
  /** What was removed, by the client's names. */
  readonly dropped: readonly string[]
}

/** The options without the response that a provider should compare its cache with: it knows no ids of this gateway. */
export function usableCaching({ prompt_cache_options: options }: JsonObject): UsableCaching {
  if (!isObject(options) || !isGiven(options['comparison_response_id'])) {
    return { options, dropped: [] }
  }
  const { comparison_response_id: _, ...rest } = options
  return {
    options: Object.keys(rest).length === 0 ? undefined : rest,
    dropped: ['prompt_cache_options.comparison_response_id'],
  }
}

/** Taken from each text: enough to distinguish conversations, little enough to hash for every request. */
const BEGINNING_CHARACTERS = 1024

/**
 * What keeps a conversation on one target, and its cache: the client's own key for it, else its beginning, the
 * instructions and the first user text. The formats differ only in where they carry them.
 */
export function affinityBy(key: unknown, beginning: readonly string[]): string {
  if (typeof key === 'string' && key !== '') return key
  return beginning.map((text) => text.slice(0, BEGINNING_CHARACTERS)).join('\n')
}
