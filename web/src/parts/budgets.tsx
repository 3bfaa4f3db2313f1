// What pages share about the budgets of keys, groups and the frame above them: the card of the frame, when a budget resets,
// what it will have spent, topping it up and starting it over.
import { TextInput } from '@mantine/core'
import type { UseMutationResult } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { FrameAnswer } from '../../../src/admin/contract/groups.ts'
import type { FurtherBudget } from '../../../src/admin/contract/values.ts'
import { periodAt } from '../../../src/core/periods.ts'
import { isMore, minus } from '../base/amounts.ts'
import { useNow } from '../i18n/format.ts'
import { useTranslation } from '../i18n/i18n.ts'
import { amountProblem, readAmount } from '../i18n/typed-numbers.ts'
import styles from './budgets.module.css'
import { ConfirmDialog, ReasonField } from './dialogs.tsx'
import { Choice } from './filters.tsx'
import { ChevronRightIcon, WarningIcon } from './icons.tsx'
import { BudgetMeter, frameTicks, shareOf } from './meters.tsx'
import { Notice } from './notices.tsx'

type FrameCardProps = {
  readonly frame: FrameAnswer
  /** The figures may be outdated: actual spending is at least what is shown. */
  readonly isStale: boolean
  readonly actions?: ReactNode
  /** Where it may fold to one line: its figures, when it resets, and what needs attention. */
  readonly fold?: { readonly isFolded: boolean; readonly onFold: (isFolded: boolean) => void }
}

export function FrameCard({ frame, isStale, actions, fold }: FrameCardProps) {
  const { t, format } = useTranslation()
  const spent = format.money(frame.spent)
  const isFolded = fold?.isFolded === true
  return (
    <section
      className={`card ${styles['frame']}`}
      data-folded={isFolded}
      aria-labelledby="frame-title"
    >
      <div className={styles['head']}>
        <h2 id="frame-title">
          {fold ? (
            <button type="button" aria-expanded={!isFolded} onClick={() => fold.onFold(!isFolded)}>
              <ChevronRightIcon />
              {t(isFolded ? 'nav.frame' : 'frame.title')}
            </button>
          ) : (
            t('frame.title')
          )}
        </h2>
        {actions && <div className={styles['actions']}>{actions}</div>}
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
      <div className={styles['meter']}>
        <BudgetMeter
          label={t('frame.title')}
          budget={frame}
          height={isFolded ? 8 : 12}
          ticks={isFolded ? undefined : frameTicks}
        />
      </div>
      <FrameFacts frame={frame} />
    </section>
  )
}

type FrameExhaustedProps = { readonly frame: FrameAnswer; readonly actions?: ReactNode }

/** A banner across the page: the frame is spent, and every call is refused. */
export function FrameExhausted({ frame, actions }: FrameExhaustedProps) {
  const { t, format } = useTranslation()
  // What calls in flight hold may come back: while only that is missing, calls wait.
  if (isMore(frame.limit, frame.spent)) return null
  return (
    <Notice tone="bad" title={t('frame.exhausted')} actions={actions}>
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
  return (
    <ul className={styles['facts']}>
      <li>{t('budget.held', { amount: format.money(frame.held) })}</li>
      <Resets budget={frame} />
      <Forecast budget={frame} />
      <Allocated budget={frame} of="frame" />
    </ul>
  )
}

type AllocatedProps = {
  readonly budget: { readonly allocated: string; readonly limit: string | null }
  /** Below the frame are groups, and keys outside groups; below a group are keys. */
  readonly of: 'frame' | 'group'
}

const allocations = {
  frame: { within: 'frame.allocated', above: 'frame.overAllocated' },
  group: { within: 'group.allocated', above: 'group.overAllocated' },
} as const

/** What the accounts below a budget may spend together, as an item of a list of facts. */
export function Allocated({ budget: { allocated, limit }, of }: AllocatedProps) {
  const { t, format } = useTranslation()
  const amount = format.money(allocated)
  if (limit === null || !isMore(allocated, limit))
    return <li>{t(allocations[of].within, { amount })}</li>
  return (
    <li className={styles['warn']}>
      <WarningIcon size={14} />
      {t(allocations[of].above, { amount, over: format.money(minus(allocated, limit)) })}
    </li>
  )
}

type ResetsProps = { readonly budget: Pick<FrameAnswer, 'resets_at' | 'timezone'> }

/** When a budget resets, as an item of a list of facts. */
export function Resets({ budget: { resets_at: resetsAt, timezone } }: ResetsProps) {
  const { t, format } = useTranslation()
  const now = useNow()
  if (resetsAt === null) return <li>{t('budget.neverResets')}</li>
  const moment = format.dateTimeIn(resetsAt, timezone)
  return (
    <li className={styles['resets']}>
      {t('budget.resets', { moment, relative: format.relative(resetsAt, now) })}
    </li>
  )
}

type ForecastProps = ResetsProps & {
  readonly budget: Pick<FrameAnswer, 'forecast' | 'spent'> & { readonly limit: string | null }
}

/** The forecast at the current pace, as an item of a list of facts. */
export function Forecast({ budget }: ForecastProps) {
  const { t, format } = useTranslation()
  const { forecast, resets_at: resetsAt, timezone, spent, limit } = budget
  // Nothing is left to forecast for what is used up already.
  if (!forecast || (limit !== null && !isMore(limit, spent))) return null
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

/** What can be topped up and reset: the budget of a key, a group or the frame, and its second window. */
type Adjustable = ResetsProps['budget'] & {
  readonly limit: string | null
  readonly spent: string
  readonly window: FurtherBudget | null
}

/** The budget that a dialog is about. */
type OnBudget = { readonly window?: true }

/** The second window where it is asked for, else the main budget. */
export function budgetOf(account: Adjustable, { window }: OnBudget) {
  const { timezone } = account
  return window && account.window ? { ...account.window, timezone } : account
}

export type TopUp = OnBudget & { readonly amount: string; readonly reason: string }

type TopUpDialogProps = {
  readonly title: string
  readonly account: Adjustable
  readonly topUp: UseMutationResult<unknown, Error, TopUp>
  readonly onClose: () => void
}

/** Asks for an amount and a reason to add to a budget once, until its period ends. */
export function TopUpDialog({ title, account, topUp, onClose }: TopUpDialogProps) {
  const words = useTranslation()
  const { t, format } = words
  const [on, setOn] = useState<OnBudget>(account.limit === null ? { window: true } : {})
  const [typed, setTyped] = useState('')
  const [reason, setReason] = useState('')
  const [isTried, setTried] = useState(false)
  const { limit, resets_at: resetsAt, timezone } = budgetOf(account, on)
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
          topUp.mutate({ ...on, amount, reason })
      }}
      effect={t('topUp.effect', {
        limit: format.money(limit ?? '0'),
        moment: resetsAt ? format.dateTimeIn(resetsAt, timezone) : t('budget.neverResets'),
      })}
      onCancel={onClose}
      change={topUp}
    >
      {account.limit !== null && <WhichBudget account={account} on={on} onChoose={setOn} />}
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

type WhichBudgetProps = {
  readonly account: Adjustable
  readonly on: OnBudget
  readonly onChoose: (on: OnBudget) => void
}

/** Asked only where there are two. */
function WhichBudget({ account, on, onChoose }: WhichBudgetProps) {
  const { t } = useTranslation()
  if (account.window === null) return null
  return (
    <Choice
      label={t('budget.which')}
      isRequired
      value={on.window ? 'window' : 'main'}
      values={['main', 'window'] as const}
      wordOf={(which) => t(`budget.name.${which}`)}
      onChoose={(which) => onChoose(which === 'window' ? { window: true } : {})}
    />
  )
}

export type Reset = OnBudget & { readonly reason: string }

type ResetDialogProps = {
  readonly title: string
  readonly account: Adjustable
  /** What happens to this amount, which was spent. */
  readonly effectOf: (spent: string) => string
  readonly reset: UseMutationResult<unknown, Error, Reset>
  readonly onClose: () => void
}

/** Starts a new period now. The ledger keeps what was spent. */
export function ResetDialog({ title, account, effectOf, reset, onClose }: ResetDialogProps) {
  const { t, format } = useTranslation()
  const [on, setOn] = useState<OnBudget>({})
  const [reason, setReason] = useState('')
  return (
    <ConfirmDialog
      title={title}
      action={t('reset.action')}
      effect={effectOf(format.money(budgetOf(account, on).spent))}
      isDangerous
      isReady={reason.trim() !== ''}
      onConfirm={() => reset.mutate({ ...on, reason })}
      onCancel={onClose}
      change={reset}
    >
      <WhichBudget account={account} on={on} onChoose={setOn} />
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
