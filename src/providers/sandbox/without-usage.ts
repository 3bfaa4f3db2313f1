// Removes usage from an answer of any format: all call it `usage`, at the top level or one object further in.
import type { JsonObject } from '../../core/json.ts'
import { isObject } from '../../core/json.ts'
import type { SseEvent } from '../../wire/sse.ts'
import { sseEvent } from '../../wire/sse.ts'

/** JSON.stringify skips undefined members. */
export function withoutUsage(body: JsonObject): JsonObject {
  const members = Object.entries(body).map(([name, value]) => [
    name,
    isObject(value) ? { ...value, usage: undefined } : value,
  ])
  return { ...Object.fromEntries(members), usage: undefined }
}

export function withoutUsageEvent(event: SseEvent): SseEvent {
  // Markers and comments are not JSON.
  if (!event.data.startsWith('{')) return event
  return sseEvent(event.event, withoutUsage(JSON.parse(event.data) as JsonObject))
}
