// A provider that reports no usage, in any format: every format calls it `usage`, at the top or one object further in.
import type { JsonObject } from '../../core/json.ts'
import { isObject } from '../../core/json.ts'
import type { SseEvent } from '../../wire/sse.ts'
import { sseEvent } from '../../wire/sse.ts'

/** Members that are undefined are not written. */
export function withoutUsage(body: JsonObject): JsonObject {
  const members = Object.entries(body).map(([name, value]) => [
    name,
    isObject(value) ? { ...value, usage: undefined } : value,
  ])
  return { ...Object.fromEntries(members), usage: undefined }
}

export function withoutUsageEvent(event: SseEvent): SseEvent {
  // Markers and comments are no JSON.
  if (!event.data.startsWith('{')) return event
  return sseEvent(event.event, withoutUsage(JSON.parse(event.data) as JsonObject))
}
