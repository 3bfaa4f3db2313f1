// What an input item is: the short forms of messages and of references leave their type out.
import type { JsonObject } from '../../core/json.ts'
import { stringOf } from '../../core/json.ts'

export function itemType(item: JsonObject): string {
  return stringOf(item['type']) ?? (item['role'] === undefined ? 'item_reference' : 'message')
}
