// The effect of a change of the frame, computed by the gateway's own rules: the remaining amount, the next reset, and
// whether the keys were promised more than it holds.
import type { FrameAnswer } from '../../../../src/admin/contract/frame.ts'
import { isMore, minus, sumOf } from '../../amounts.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { useTranslation } from '../../i18n/use-translation.ts'
import { BudgetMeter, frameTicks, shareOf } from '../../parts/budget-meter.tsx'
import { useNextReset } from '../../parts/budget-period.ts'
import { Notice } from '../../parts/notice.tsx'
import styles from './frame.module.css'

type FrameEffectProps = {
  readonly frame: FrameAnswer
  readonly wanted: Pick<FrameAnswer, 'budget' | 'period' | 'timezone' | 'week_start'>
}

/** If so, every call of every key is refused at once. */
export function isBelowSpent(frame: FrameAnswer, budget: string): boolean {
  return !isMore(limitOf(frame, budget), frame.spent) && isMore(frame.budget, budget)
}

export function FrameEffect({ frame, wanted }: FrameEffectProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const nextReset = useNextReset(wanted)
  const limit = limitOf(frame, wanted.budget)
  const isOver = isMore(frame.allocated, limit)
  return (
    <section className={styles['effect']} aria-label={t('framePage.effect')}>
      <p>
        {t('framePage.effectLeft', {
          spent: format.money(frame.spent),
          limit: format.money(limit),
          percent: format.percent(shareOf(frame.spent, limit)),
          left: format.moneyLeft(minus(limit, sumOf([frame.spent, frame.held]))),
        })}
      </p>
      <BudgetMeter
        label={t('framePage.effect')}
        spent={frame.spent}
        held={frame.held}
        limit={limit}
        height={12}
        ticks={frameTicks}
      />
      <p className="muted">{nextReset}</p>
      {isBelowSpent(frame, wanted.budget) ? (
        <Notice tone="bad" title={t('framePage.belowSpent')}>
          {t('framePage.belowSpentAbout')}
        </Notice>
      ) : (
        isOver && (
          <Notice tone="warn">
            {t('frame.overAllocated', {
              amount: format.money(frame.allocated),
              over: format.money(minus(frame.allocated, limit)),
            })}
          </Notice>
        )
      )}
    </section>
  )
}

function limitOf({ top_up: topUp }: FrameAnswer, budget: string): string {
  return sumOf([budget, topUp])
}
