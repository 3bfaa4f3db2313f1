// What Claude Code says about itself in a request: its session, and a billing line.
import { parseObject, stringOf } from '../../core/json.ts'

/** Claude Code writes its session into the user id, as JSON. */
export function sessionOf(userId: string | undefined): string | undefined {
  if (userId === undefined || !userId.startsWith('{')) return undefined
  if (userId.length > USER_ID_CHARACTERS_MAX) return undefined
  return stringOf(parseObject(userId)?.['session_id'])
}

/** Claude Code's own has about 200. */
const USER_ID_CHARACTERS_MAX = 2_000

/** Claude Code's first system block changes with every request and means nothing to other providers. */
export function isBillingLine(text: string): boolean {
  return text.startsWith('x-anthropic-billing-header:')
}
