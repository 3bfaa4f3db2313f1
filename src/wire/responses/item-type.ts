// The type of an input item: the short forms of messages and references omit it.
import type { JsonObject } from '../../core/json.ts'
import { stringOf } from '../../core/json.ts'

export function itemType(item: JsonObject): string {
  return stringOf(item['type']) ?? (item['role'] === undefined ? 'item_reference' : 'message')
}
