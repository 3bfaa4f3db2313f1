// What keeps the requests of one messages conversation on one target.
import type { Json, JsonObject } from '../../core/json.ts'
import { isArray, isObject, listOf, objectOf, stringOf } from '../../core/json.ts'
import { affinityBy } from '../affinity.ts'
import { isBillingLine, sessionOf } from './session.ts'

export function affinityOf(body: JsonObject): string {
  const metadata = objectOf(body['metadata'])
  return affinityBy(sessionOf(stringOf(metadata['user_id'])), beginningOf(body))
}

function beginningOf({ system, messages }: JsonObject): readonly string[] {
  const first = listOf(messages).find(isUsers)
  return [...textsOf(system), ...textsOf(objectOf(first)['content'])]
}

function isUsers(message: Json): boolean {
  return isObject(message) && message['role'] === 'user'
}

function textsOf(content: Json | undefined): string[] {
  const blocks = isArray(content) ? content : [{ text: content }]
  return blocks.flatMap((block) => {
    const text = isObject(block) ? stringOf(block['text']) : undefined
    return text === undefined || isBillingLine(text) ? [] : [text]
  })
}
