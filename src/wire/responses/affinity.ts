// What keeps the requests of one responses conversation on one target.
import type { Json, JsonObject } from '../../core/json.ts'
import { isArray, isObject } from '../../core/json.ts'
import { affinityBy } from '../affinity.ts'

export function affinityOf(body: JsonObject): string {
  return affinityBy(body['prompt_cache_key'], beginningOf(body))
}

function beginningOf({ instructions, input }: JsonObject): readonly string[] {
  const texts = textsOf(instructions)
  if (!isArray(input)) return [...texts, ...textsOf(input)]
  for (const item of input) {
    if (!isObject(item) || item['content'] === undefined) continue
    texts.push(...textsOf(item['content']))
    if (item['role'] === 'user') break
  }
  return texts
}

function textsOf(content: Json | undefined): string[] {
  if (typeof content === 'string') return [content]
  if (!isArray(content)) return []
  return content.flatMap((part) =>
    isObject(part) && typeof part['text'] === 'string' ? [part['text']] : [],
  )
}
