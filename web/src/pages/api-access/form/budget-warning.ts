// Warnings about a budget that is allowed but surprising.
import type { FrameAnswer } from '../../../../../src/admin/contract/frame.ts'
import { isMore } from '../../../amounts.ts'
import type { Words } from '../../../i18n/use-words.ts'

export function budgetWarning(
  amount: string,
  { t, format }: Pick<Words, 't' | 'format'>,
  frame?: Pick<FrameAnswer, 'limit' | 'remaining'>,
): string | undefined {
  if (!isMore(amount, '0')) return t('keyForm.hint.zero')
  if (!frame || !isMore(amount, frame.remaining)) return undefined
  return isMore(amount, frame.limit)
    ? t('keyForm.hint.overFrame', { limit: format.money(frame.limit) })
    : t('keyForm.hint.overFrameLeft', { left: format.moneyLeft(frame.remaining) })
}
