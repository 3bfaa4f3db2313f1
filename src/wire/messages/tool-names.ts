// Tool names and call ids that fit everywhere. The messages format allows names of 128 characters, every other format
// 64, so longer ones are shortened when a request is decoded and restored when its answer is encoded.
import { createHash } from 'node:crypto'

import type { JsonObject } from '../../core/json.ts'
import { listOf, objectOf } from '../../core/json.ts'
import { TOOL_NAME_CHARACTERS_MAX } from '../tool-name.ts'

/** The limit of this format itself. */
export const LONG_NAME_CHARACTERS_MAX = 128
/** 120 bits: two names will never share a hash. */
const HASH_CHARACTERS = 20

/** The same short name for the same long one, in every turn of a conversation. */
export function shortToolName(name: string): string {
  if (name.length <= TOOL_NAME_CHARACTERS_MAX) return name
  return `${name.slice(0, TOOL_NAME_CHARACTERS_MAX - HASH_CHARACTERS - 1)}_${hashOf(name)}`
}

/** The client's own tool names, by their short names. */
export function longToolNames(body: JsonObject): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  for (const tool of listOf(body['tools'])) {
    const { name } = objectOf(tool)
    if (typeof name === 'string' && name.length > TOOL_NAME_CHARACTERS_MAX) {
      names.set(shortToolName(name), name)
    }
  }
  return names
}

/** The ids of all calls in a conversation so far. Clients match results by id alone, so no id may be used again. */
export function callIdsIn(body: JsonObject): Set<string> {
  const ids = new Set<string>()
  for (const turn of listOf(body['messages'])) {
    for (const block of listOf(objectOf(turn)['content'])) {
      const { id } = objectOf(block)
      if (typeof id === 'string') ids.add(id)
    }
  }
  return ids
}

/** Providers of this format accept only letters, digits, - and _ in ids; other formats allow more. */
export function plainCallId(id: string): string {
  return /^[a-zA-Z0-9_-]+$/.test(id) ? id : `toolu_${hashOf(id)}`
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, HASH_CHARACTERS)
}
