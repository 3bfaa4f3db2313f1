// The two budgets, one bar each with its own numbers: the key's, and the frame's with this key's share of it.
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Verdict } from '../../../../../src/admin/contract/trial.ts'
import type { KeyDetail } from '../../../../../src/admin/contract/keys.ts'
import { minus } from '../../../base/amounts.ts'
import { limitsQuery } from '../../../base/queries.ts'
import { useTranslation } from '../../../i18n/i18n.ts'
import { Forecast, Resets } from '../../../parts/budgets.tsx'
import {
  BudgetMeter,
  frameTicks,
  Meter,
  shareOf,
  Sparkline,
  toneOf,
} from '../../../parts/meters.tsx'
import { ruleQuery, useAlertWords } from '../../alerts/alert-words.ts'
import styles from './detail.module.css'

export function Budgets({ detail }: { readonly detail: KeyDetail }) {
  const { t } = useTranslation()
  const limits = useQuery(limitsQuery(detail.id, undefined))
  return (
    <section className={`card ${styles['bars']}`} aria-label={t('detail.budgets')}>
      <KeyBar detail={detail} />
      {limits.data && <FrameBar frame={limits.data.frame} />}
      <History detail={detail} />
    </section>
  )
}

function KeyBar({ detail }: { readonly detail: KeyDetail }) {
  const { t, format } = useTranslation()
  const { limit, spent, held } = detail
  const facts = (
    <>
      <Resets budget={detail} />
      {/* A key that can no longer spend has no forecast. */}
      {detail.status === 'active' && detail.state !== 'budget_exhausted' && (
        <Forecast budget={detail} />
      )}
      <LastAlert id={detail.id} />
    </>
  )
  if (limit === null)
    return (
      <Bar title={t('detail.keyBudget')} spent={spent} facts={facts}>
        <p className="muted">{t('detail.noOwnLimit')}</p>
      </Bar>
    )
  return (
    <Bar title={t('detail.keyBudget')} spent={spent} limit={limit} facts={facts}>
      <BudgetMeter
        label={t('detail.keyBudget')}
        budget={{ spent, held, limit }}
        height={14}
        ticks={detail.alert_thresholds.map((percent) => percent / 100)}
      />
      <ul className={styles['key']}>
        <Part kind="spent">{t('budget.part.spent', { amount: format.money(spent) })}</Part>
        <Part kind="held">{t('budget.part.held', { amount: format.money(held) })}</Part>
        <Part kind="free">
          {t('budget.part.free', { amount: format.moneyLeft(detail.remaining ?? '0') })}
        </Part>
        {detail.top_up !== '0' && (
          <li>{t('budget.part.topUp', { amount: format.money(detail.top_up) })}</li>
        )}
      </ul>
    </Bar>
  )
}

function LastAlert({ id }: { readonly id: string }) {
  const { t } = useTranslation()
  const words = useAlertWords()
  const rule = useQuery(ruleQuery(id))
  const last = rule.data?.alerts[0]
  return last && <li>{t('alerts.lastOne', { alert: words.brief(last) })}</li>
}

function FrameBar({ frame }: { readonly frame: Verdict['frame'] }) {
  const { t, format } = useTranslation()
  const limit = frame.limit ?? '0'
  const others = minus(frame.spent, frame.own)
  const words = [
    t('budget.part.own', { amount: format.money(frame.own) }),
    t('budget.part.others', { amount: format.money(others) }),
    t('budget.part.held', { amount: format.money(frame.held) }),
    t('budget.part.free', { amount: format.moneyLeft(frame.remaining ?? '0') }),
  ]
  return (
    <Bar
      title={t('detail.frameBudget')}
      spent={frame.spent}
      limit={limit}
      facts={<Resets budget={frame} />}
    >
      <Meter
        label={t('detail.frameBudget')}
        valueText={words.join(', ')}
        max={Number(limit)}
        height={14}
        ticks={frameTicks}
        segments={[
          { kind: 'spent', value: Number(frame.own) },
          { kind: 'others', value: Number(others) },
          { kind: 'held', value: Number(frame.held) },
        ]}
      />
      <ul className={styles['key']}>
        {(['spent', 'others', 'held', 'free'] as const).map((kind, index) => (
          <Part key={kind} kind={kind}>
            {words[index]}
          </Part>
        ))}
      </ul>
    </Bar>
  )
}

type BarProps = {
  readonly title: string
  readonly spent: string
  readonly limit?: string
  readonly facts: ReactNode
  readonly children: ReactNode
}

function Bar({ title, spent, limit, facts, children }: BarProps) {
  const { t, format } = useTranslation()
  return (
    <div className={styles['bar']} data-tone={limit && toneOf(Number(spent), Number(limit))}>
      <div className={styles['barHead']}>
        <h2>{title}</h2>
        <p className={styles['figure']}>
          <strong>{format.money(spent)}</strong>{' '}
          {limit !== undefined && (
            <span className="muted">
              {t('budget.ofLimit', {
                limit: format.money(limit),
                percent: format.percent(shareOf(spent, limit)),
              })}
            </span>
          )}
        </p>
      </div>
      {children}
      <ul className={styles['key']}>{facts}</ul>
    </div>
  )
}

type PartProps = {
  readonly kind: 'spent' | 'others' | 'held' | 'free'
  readonly children: ReactNode
}

function Part({ kind, children }: PartProps) {
  return (
    <li>
      <span className={styles['dot']} data-kind={kind} />
      {children}
    </li>
  )
}

const periodsShown = 6

function History({ detail }: { readonly detail: KeyDetail }) {
  const { t, format } = useTranslation()
  const periods = detail.history.slice(0, periodsShown).toReversed()
  if (periods.length === 0) return null
  const summary = periods
    .map(
      ({ ends_at: endsAt, spent }) =>
        `${format.dateIn(endsAt, detail.timezone)}: ${format.money(spent)}`,
    )
    .join(', ')
  return (
    <div className={styles['history']}>
      <span className="muted">{t('detail.history', { count: periods.length })}</span>
      {periods.length > 1 && (
        <Sparkline values={periods.map(({ spent }) => Number(spent))} summary={summary} />
      )}
      <span aria-hidden={periods.length > 1}>
        {periods.map(({ spent }) => format.money(spent)).join(' · ')}
      </span>
    </div>
  )
}
