// Cache marks in a messages request: a lifetime of five minutes or an hour, and at most four of them.
import type { JsonObject } from '../../core/json.ts'
import type { CacheMark, Conversation, Message, Tool } from '../../core/request.ts'
import { expectCacheMark, lifetimeOf } from '../content/caching.ts'
import { optional } from '../json/expect.ts'

export const CACHE_MARKS_MAX = 4

export function decodeCacheMark(holder: JsonObject, place: string): CacheMark | undefined {
  const at = place === '' ? 'cache_control' : `${place}.cache_control`
  return optional(holder['cache_control'], at, expectCacheMark)
}

export function encodeCacheMark(mark: CacheMark | undefined): JsonObject | undefined {
  if (mark === undefined) return undefined
  // Same price class as the client's lifetime, because that is what the hold covers.
  const isLong = lifetimeOf(mark.ttl, 'cache_control.ttl') === 'long'
  return isLong ? { type: 'ephemeral', ttl: '1h' } : { type: 'ephemeral' }
}

/** Other formats allow more marks. The last ones cover the most of the prompt, so the first ones are removed. */
export function withFewCacheMarks(request: Conversation): Conversation {
  let surplus = marksIn(request) - CACHE_MARKS_MAX
  if (surplus <= 0) return request
  const thin = <Holder extends Markable>(holder: Holder): Holder => {
    if (surplus <= 0 || !isMarked(holder)) return holder
    surplus--
    const { cache: _, ...rest } = holder
    return rest as Holder
  }
  return {
    ...request,
    tools: request.tools.map(thin),
    messages: request.messages.map((message) =>
      thin({ ...message, parts: (message.parts as readonly Markable[]).map(thin) } as Message),
    ),
  }
}

type Markable = Tool | Message | Message['parts'][number]

function isMarked(holder: Markable): holder is Markable & { readonly cache: CacheMark } {
  return 'cache' in holder && holder.cache !== undefined
}

export function marksIn(request: Conversation): number {
  const holders: Markable[] = [
    ...request.tools,
    ...request.messages.flatMap((message): Markable[] => [message, ...message.parts]),
  ]
  return holders.filter(isMarked).length + (request.cache === undefined ? 0 : 1)
}
