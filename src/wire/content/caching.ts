// What a provider is asked to cache of a prompt: how long, in the two classes that have prices, below an hour and from an
// hour on (a lifetime outside the list would be billed at an unknown price), with which other settings, and what brings
// the requests of one conversation to the same cache.
import { unsupportedParameter } from '../../core/errors.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { defined, isArray, isGiven, isObject, objectOf, stringOf } from '../../core/json.ts'
import type { CacheMark } from '../../core/request.ts'
import type { Measure } from '../contract/measure.ts'
import type { Placed } from '../json/expect.ts'
import { expect } from '../json/expect.ts'

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

/** A cache mark. Every format writes it alike, under its own name, or under the first of several that has one. */
export function cacheMarkOf(holder: Placed, ...names: readonly string[]): CacheMark | undefined {
  const name = names.find((each) => isObject(holder.value[each])) ?? names.at(-1) ?? ''
  const mark = holder.optional(name, expect.placed)
  return mark && defined({ ttl: mark.optional('ttl', expect.text) })
}

type ReadCacheMark = (holder: JsonObject, place: string, measure: Measure) => void

/** Counts what the marks with these names ask a provider to write. `place`: the holder's; '' for the request itself. */
export function cacheMarkReader(...names: readonly string[]): ReadCacheMark {
  return (holder, place, measure) => {
    for (const name of names) {
      const mark = holder[name]
      if (!isObject(mark)) continue
      const at = place === '' ? name : `${place}.${name}`
      measure.cacheWrite(lifetimeOf(mark['ttl'], `${at}.ttl`))
    }
  }
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
 * instructions and the first words of the user. The formats differ only in where they carry them.
 */
export function affinityBy(key: unknown, instructions: Json | undefined, turns: Json | undefined) {
  if (typeof key === 'string' && key !== '') return key
  const beginning = textsIn(instructions)
  for (const turn of isArray(turns) ? turns : [{ role: 'user', content: turns }]) {
    const { role, content } = objectOf(turn)
    for (const text of textsIn(content)) beginning.push(text)
    if (role === 'user' && beginning.length > 0) break
  }
  return beginning.map((text) => text.slice(0, BEGINNING_CHARACTERS)).join('\n')
}

function textsIn(content: Json | undefined): string[] {
  const parts = isArray(content) ? content : [{ text: content }]
  return parts.map((part) => objectOf(part)['text']).filter((text) => typeof text === 'string')
}
