// What keeps the requests of one chat on one target.
import type { JsonObject } from '../../core/json.ts'
import { isArray, isObject, listOf } from '../../core/json.ts'
import { affinityBy } from '../affinity.ts'

export function affinityOf(body: JsonObject): string {
  return affinityBy(body['prompt_cache_key'], beginningOf(body))
}

function beginningOf({ messages }: JsonObject): readonly string[] {
  const texts: string[] = []
  for (const message of listOf(messages)) {
    if (!isObject(message)) continue
    const { role, content } = message
    const parts = isArray(content) ? content : [{ text: content }]
    for (const part of parts) {
      if (isObject(part) && typeof part['text'] === 'string') texts.push(part['text'])
    }
    if (role === 'user' && texts.length > 0) break
  }
  return texts
}
