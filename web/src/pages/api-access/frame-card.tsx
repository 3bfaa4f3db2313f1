// The budget frame above all keys: how much is spent and held, when it resets, the forecast, and whether keys were
// promised more than it holds.
import type { ReactNode } from 'react'
import type { FrameAnswer } from '../../../../src/admin/contract/frame.ts'
import { isMore, minus } from '../../amounts.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { useNow } from '../../i18n/use-now.ts'
import { useTranslation } from '../../i18n/use-translation.ts'
import { BudgetMeter, frameTicks, shareOf } from '../../parts/budget-meter.tsx'
import { WarningIcon } from '../../parts/icons.tsx'
import { Notice } from '../../parts/notice.tsx'
import styles from './frame-card.module.css'

type FrameCardProps = {
  readonly frame: FrameAnswer
  /** The figures may be outdated: actual spending is at least what is shown. */
  readonly isStale: boolean
  readonly actions?: ReactNode
}

export function FrameCard({ frame, isStale, actions }: FrameCardProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const spent = format.money(frame.spent)
  return (
    <section className="card" aria-labelledby="frame-title">
      <div className={styles['head']}>
        <h2 id="frame-title">{t('frame.title')}</h2>
        {actions}
      </div>
      <p className={styles['figure']}>
        {isStale ? t('budget.atLeast', { amount: spent }) : spent}{' '}
        <small>
          {t('budget.ofLimit', {
            limit: format.money(frame.limit),
            percent: format.percent(shareOf(frame.spent, frame.limit)),
          })}
        </small>
      </p>
      <BudgetMeter
        label={t('frame.title')}
        spent={frame.spent}
        held={frame.held}
        limit={frame.limit}
        height={12}
        ticks={frameTicks}
      />
      <FrameFacts frame={frame} />
    </section>
  )
}

/** A banner across the page: the frame is spent, and every call is refused. */
export function FrameExhausted({ frame }: { readonly frame: FrameAnswer }) {
  const { t } = useTranslation()
  const format = useFormat()
  if (Number(frame.remaining) > 0) return null
  return (
    <Notice tone="bad" title={t('frame.exhausted')}>
      {frame.resets_at
        ? t('frame.exhaustedUntil', {
            moment: format.dateTimeIn(frame.resets_at, frame.timezone),
          })
        : t('frame.exhaustedForGood')}
    </Notice>
  )
}

function FrameFacts({ frame }: { readonly frame: FrameAnswer }) {
  const { t } = useTranslation()
  const format = useFormat()
  const isOver = isMore(frame.allocated, frame.limit)
  return (
    <ul className={styles['facts']}>
      <li>{t('budget.held', { amount: format.money(frame.held) })}</li>
      <Resets resetsAt={frame.resets_at} timezone={frame.timezone} />
      <Forecast forecast={frame.forecast} resetsAt={frame.resets_at} timezone={frame.timezone} />
      <li className={isOver ? styles['warn'] : undefined}>
        {isOver && <WarningIcon size={14} />}
        {isOver
          ? t('frame.overAllocated', {
              amount: format.money(frame.allocated),
              over: format.money(minus(frame.allocated, frame.limit)),
            })
          : t('frame.allocated', { amount: format.money(frame.allocated) })}
      </li>
    </ul>
  )
}

type ResetsProps = { readonly resetsAt: string | null; readonly timezone: string }

/** When a budget resets, as an item of a list of facts. */
export function Resets({ resetsAt, timezone }: ResetsProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const now = useNow()
  if (resetsAt === null) return <li>{t('budget.neverResets')}</li>
  const moment = format.dateTimeIn(resetsAt, timezone)
  return <li>{t('budget.resets', { moment, relative: format.relative(resetsAt, now) })}</li>
}

type ForecastProps = ResetsProps & { readonly forecast: FrameAnswer['forecast'] }

/** The forecast at the current pace, as an item of a list of facts. */
export function Forecast({ forecast, resetsAt, timezone }: ForecastProps) {
  const { t } = useTranslation()
  const format = useFormat()
  if (!forecast) return null
  if (forecast.exhausted_at)
    return (
      <li className={styles['warn']}>
        <WarningIcon size={14} />
        {t('budget.exhaustedAbout', { date: format.dateIn(forecast.exhausted_at, timezone) })}
      </li>
    )
  if (!resetsAt) return null
  return (
    <li>
      {t('budget.forecast', {
        amount: format.money(forecast.spent_at_reset),
        date: format.dateIn(resetsAt, timezone),
      })}
    </li>
  )
}
