// What Claude Code says about itself inside a request: its session, and whom to bill.
import { isObject, stringOf } from '../../core/json.ts'

/** Claude Code writes its session into the user id, as JSON. */
export function sessionOf(userId: string | undefined): string | undefined {
  if (userId === undefined || !userId.startsWith('{')) return undefined
  try {
    const value: unknown = JSON.parse(userId)
    return isObject(value) ? stringOf(value['session_id']) : undefined
  } catch {
    return undefined
  }
}

/** Claude Code's first system block changes with every request and means nothing to other providers. */
export function isBillingLine(text: string): boolean {
  return text.startsWith('x-anthropic-billing-header:')
}
