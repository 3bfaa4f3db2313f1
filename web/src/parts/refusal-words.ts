// Why a call was refused, or would be, in the reader's language: from the code and the facts of the refusal. The
// gateway's own sentence, which is English, is for applications and only quoted where it says more.
import type { Shortage } from '../../../src/admin/contract/calls.ts'
import type { Words } from '../i18n/use-words.ts'

export type RefusedCall = {
  readonly code: string
  readonly message: string
  readonly shortage: Shortage | null
}

/** Codes whose sentence names nothing that the words of the catalogue leave out. */
const saidInFull: ReadonlySet<string> = new Set([
  'budget_reserved',
  'draining',
  'expired_api_key',
  'frame_budget_exceeded',
  'key_budget_exceeded',
  'ledger_unavailable',
  'overloaded',
  'paused_api_key',
  'revoked_api_key',
])

export function refusalWords(
  { code, message, shortage }: RefusedCall,
  words: Words,
): readonly string[] {
  const { t, find } = words
  const said = find(`callError.${code}`)
  return [
    ...(said === undefined ? [] : [said]),
    ...(shortage === null || !code.endsWith('_budget_exceeded')
      ? []
      : shortageWords(shortage, words)),
    ...(saidInFull.has(code) ? [] : [t('callRefusal.quoted', { message })]),
  ]
}

function shortageWords(
  { required, remaining, affordable_output_tokens: tokens }: Shortage,
  { t, format }: Words,
): readonly string[] {
  const amounts = { required: format.money(required), remaining: format.moneyLeft(remaining) }
  return [
    t('callRefusal.shortage', amounts),
    tokens === null
      ? t('callRefusal.raise')
      : t('callRefusal.raiseOrShorten', { count: tokens, tokens: format.number(tokens) }),
  ]
}
