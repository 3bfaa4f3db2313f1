// Why a call was or would be refused, in the reader's language, from the refusal's code and facts. The gateway's own
// sentence is English and meant for applications; it is quoted only if it says more.
import type { CallResult, Shortage, Verdict } from '../../../src/admin/contract/trial.ts'
import type { Words } from '../i18n/i18n.ts'

export type RefusedCall = {
  readonly code: string
  readonly message: string
  readonly shortage: Shortage | null
}

/** Codes whose text in the catalogue says everything that the gateway's sentence does. */
const saidInFull: ReadonlySet<string> = new Set([
  'budget_reserved',
  'draining',
  'expired_api_key',
  'frame_budget_exceeded',
  'group_budget_exceeded',
  'key_budget_exceeded',
  'ledger_unavailable',
  'model_budget_exceeded',
  'overloaded',
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

type Took = Pick<CallResult, 'input_tokens' | 'output_tokens' | 'cost' | 'latency_ms'>

/** What a call that passed took: tokens, money and time. */
export function callFacts(result: Took, { t, format }: Pick<Words, 't' | 'format'>): string {
  return t('testCall.facts', {
    input: format.number(result.input_tokens),
    output: format.number(result.output_tokens),
    cost: format.money(result.cost),
    latency: format.number(result.latency_ms),
  })
}

/** The title of a verdict that blocks the call: while some budget remains, a shorter call might pass. */
export function blockedTitle(verdict: {
  readonly blocked_by: Pick<NonNullable<Verdict['blocked_by']>, 'status'> | null
  readonly remaining: Verdict['remaining']
}): 'verdict.tight' | 'verdict.blocked' {
  const { blocked_by: blocked, remaining } = verdict
  const isBudget = blocked?.status === 402
  const isLeft = remaining === null || Number(remaining) > 0
  return isBudget && isLeft ? 'verdict.tight' : 'verdict.blocked'
}
