// Every budget that applies to a key, one bar each: its own, its second window and its caps for models, those of its group,
// and the frame's with this key's share of it.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { KeyDetail } from '../../../../../src/admin/contract/keys.ts'
import { groupQuery, limitsQuery } from '../../../base/queries.ts'
import { useTranslation } from '../../../i18n/i18n.ts'
import { BudgetBar, BudgetBars, FurtherBar } from '../../../parts/budget-bars.tsx'
import { Forecast, Resets } from '../../../parts/budgets.tsx'
import { frameTicks, Sparkline } from '../../../parts/meters.tsx'
import { ruleQuery, useAlertWords } from '../../alerts/alert-words.ts'
import styles from './detail.module.css'

type DetailProps = { readonly detail: KeyDetail }

export function Budgets({ detail }: DetailProps) {
  const { t } = useTranslation()
  const limits = useQuery(limitsQuery(detail.id, undefined))
  const frame = limits.data?.frame
  const { window, model_budgets: caps, timezone } = detail
  return (
    <BudgetBars label={t('detail.budgets')}>
      <KeyBar detail={detail} />
      {window && <FurtherBar title={t('detail.keyWindow')} budget={window} timezone={timezone} />}
      {caps.map((cap) => (
        <FurtherBar
          key={cap.model}
          title={t('detail.cap', { model: cap.model })}
          budget={cap}
          timezone={timezone}
        />
      ))}
      {detail.group && <GroupBars id={detail.group.id} name={detail.group.name} />}
      {frame && (
        <BudgetBar
          title={t('detail.frameBudget')}
          budget={frame}
          own={frame.own}
          ticks={frameTicks}
        >
          <Resets budget={frame} />
        </BudgetBar>
      )}
      <History detail={detail} />
    </BudgetBars>
  )
}

function KeyBar({ detail }: DetailProps) {
  const { t } = useTranslation()
  return (
    <BudgetBar
      title={t('detail.keyBudget')}
      budget={detail}
      noLimit={t('detail.noOwnLimit')}
      ticks={detail.alert_thresholds.map((percent) => percent / 100)}
    >
      <Resets budget={detail} />
      {/* A key that can no longer spend has no forecast. */}
      {detail.status === 'active' && detail.state !== 'budget_exhausted' && (
        <Forecast budget={detail} />
      )}
      {detail.budget !== null && <AlertsAt thresholds={detail.alert_thresholds} />}
      <LastAlert id={detail.id} />
    </BudgetBar>
  )
}

type GroupBarsProps = { readonly id: string; readonly name: string }

function GroupBars({ id, name }: GroupBarsProps) {
  const { t } = useTranslation()
  const { data: group } = useQuery(groupQuery(id))
  if (!group) return null
  return (
    <>
      <BudgetBar
        title={t('detail.groupBudget', { name })}
        heading={
          <Link to="/settings/groups/$id" params={{ id }}>
            {t('detail.groupBudget', { name })}
          </Link>
        }
        budget={group}
        noLimit={t('group.noLimit')}
        ticks={frameTicks}
      >
        <Resets budget={group} />
      </BudgetBar>
      {group.window && (
        <FurtherBar
          title={t('detail.groupWindow', { name })}
          budget={group.window}
          timezone={group.timezone}
        />
      )}
    </>
  )
}

function AlertsAt({ thresholds }: { readonly thresholds: readonly number[] }) {
  const { t, format } = useTranslation()
  const list = format.list(thresholds.map((percent) => format.percent(percent / 100)))
  return <li>{thresholds.length === 0 ? t('detail.alertsOff') : t('detail.alertsAt', { list })}</li>
}

function LastAlert({ id }: { readonly id: string }) {
  const { t } = useTranslation()
  const words = useAlertWords()
  const rule = useQuery(ruleQuery(id))
  const last = rule.data?.alerts[0]
  return last && <li>{t('alerts.lastOne', { alert: words.brief(last) })}</li>
}

const periodsShown = 6

function History({ detail }: DetailProps) {
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
