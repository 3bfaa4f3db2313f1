// What pages share about the budgets of keys and of the frame above them: the card of the frame, when a budget resets, what
// it will have spent, and topping it up.
import { TextInput } from '@mantine/core'
import type { UseMutationResult } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { FrameAnswer } from '../../../src/admin/contract/frame.ts'
import { periodAt } from '../../../src/core/periods.ts'
import { isMore, minus } from '../base/amounts.ts'
import { useNow } from '../i18n/format.ts'
import { useTranslation } from '../i18n/i18n.ts'
import { amountProblem, readAmount } from '../i18n/typed-numbers.ts'
import styles from './budgets.module.css'
import { ConfirmDialog, ReasonField } from './dialogs.tsx'
import { WarningIcon } from './icons.tsx'
import { BudgetMeter, frameTicks, shareOf } from './meters.tsx'
import { Notice } from './notices.tsx'

type FrameCardProps = {
  readonly frame: FrameAnswer
  /** The figures may be outdated: actual spending is at least what is shown. */
  readonly isStale: boolean
  readonly actions?: ReactNode
}

export function FrameCard({ frame, isStale, actions }: FrameCardProps) {
  const { t, format } = useTranslation()
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
      <BudgetMeter label={t('frame.title')} budget={frame} height={12} ticks={frameTicks} />
      <FrameFacts frame={frame} />
    </section>
  )
}

/** A banner across the page: the frame is spent, and every call is refused. */
export function FrameExhausted({ frame }: { readonly frame: FrameAnswer }) {
  const { t, format } = useTranslation()
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
  const { t, format } = useTranslation()
  const isOver = isMore(frame.allocated, frame.limit)
  return (
    <ul className={styles['facts']}>
      <li>{t('budget.held', { amount: format.money(frame.held) })}</li>
      <Resets budget={frame} />
      <Forecast budget={frame} />
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

type ResetsProps = { readonly budget: Pick<FrameAnswer, 'resets_at' | 'timezone'> }

/** When a budget resets, as an item of a list of facts. */
export function Resets({ budget: { resets_at: resetsAt, timezone } }: ResetsProps) {
  const { t, format } = useTranslation()
  const now = useNow()
  if (resetsAt === null) return <li>{t('budget.neverResets')}</li>
  const moment = format.dateTimeIn(resetsAt, timezone)
  return <li>{t('budget.resets', { moment, relative: format.relative(resetsAt, now) })}</li>
}

type ForecastProps = ResetsProps & { readonly budget: Pick<FrameAnswer, 'forecast'> }

/** The forecast at the current pace, as an item of a list of facts. */
export function Forecast({ budget }: ForecastProps) {
  const { t, format } = useTranslation()
  const { forecast, resets_at: resetsAt, timezone } = budget
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

export type TopUp = { readonly amount: string; readonly reason: string }

type TopUpDialogProps = ResetsProps & {
  readonly title: string
  readonly limit: string
  readonly topUp: UseMutationResult<unknown, Error, TopUp>
  readonly onClose: () => void
}

/** Asks for an amount and a reason to add to a budget once, until its period ends; for a key or the frame. */
export function TopUpDialog(props: TopUpDialogProps) {
  const { title, limit, budget, topUp, onClose } = props
  const { resets_at: resetsAt, timezone } = budget
  const words = useTranslation()
  const { t, format } = words
  const [typed, setTyped] = useState('')
  const [reason, setReason] = useState('')
  const [isTried, setTried] = useState(false)
  const amount = readAmount(typed, format.separators)
  const isZero = amount !== undefined && Number(amount) === 0
  const problem = isZero ? t('topUp.aboveZero') : amountProblem(typed, words)
  return (
    <ConfirmDialog
      title={title}
      action={t('topUp.action')}
      onConfirm={() => {
        setTried(true)
        if (amount !== undefined && !problem && reason.trim() !== '')
          topUp.mutate({ amount, reason })
      }}
      effect={t('topUp.effect', {
        limit: format.money(limit),
        moment: resetsAt ? format.dateTimeIn(resetsAt, timezone) : t('budget.neverResets'),
      })}
      onCancel={onClose}
      change={topUp}
    >
      <TextInput
        label={t('topUp.amount')}
        required
        data-autofocus
        inputMode="decimal"
        autoComplete="off"
        leftSection="$"
        value={typed}
        error={(isTried || typed !== '') && problem}
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
      />
      <ReasonField
        label={t('topUp.reason')}
        value={reason}
        error={isTried && reason.trim() === '' && t('topUp.reasonNeeded')}
        onChange={setReason}
      />
    </ConfirmDialog>
  )
}

type ResetDialogProps = {
  readonly title: string
  readonly effect: string
  /** Takes the reason. */
  readonly reset: UseMutationResult<unknown, Error, string>
  readonly onClose: () => void
}

/** Starts a new period now, for a key or the frame. The ledger keeps what was spent. */
export function ResetDialog({ title, effect, reset, onClose }: ResetDialogProps) {
  const { t } = useTranslation()
  const [reason, setReason] = useState('')
  return (
    <ConfirmDialog
      title={title}
      action={t('reset.action')}
      effect={effect}
      isDangerous
      isReady={reason.trim() !== ''}
      onConfirm={() => reset.mutate(reason)}
      onCancel={onClose}
      change={reset}
    >
      <ReasonField label={t('reset.reason')} value={reason} onChange={setReason} />
    </ConfirmDialog>
  )
}

export const timezones = [
  'UTC',
  ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC'),
]

type BudgetPeriod = Pick<FrameAnswer, 'period' | 'timezone' | 'week_start'>

/** In words. Computed by the gateway's own rule, so it says what will happen. */
export function useNextReset({ period, timezone, week_start: weekStart }: BudgetPeriod): string {
  const { t, format } = useTranslation()
  const { endsAt } = periodAt({ period, timezone, weekStart }, useNow())
  if (endsAt === null) return t('keyForm.hint.neverResets')
  const moment = format.reset(new Date(endsAt).toISOString(), timezone)
  return t('keyForm.hint.resets', { moment })
}
