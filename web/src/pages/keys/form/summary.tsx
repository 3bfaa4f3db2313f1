// The resulting key in words: what it may call, how much it may spend, how fast, until when.
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ENDPOINTS } from '../../../../../src/core/endpoints.ts'
import { frameQuery, modelsQuery } from '../../../base/queries.ts'
import { useNow } from '../../../i18n/format.ts'
import { useTranslation } from '../../../i18n/i18n.ts'
import { readAmount, readCount } from '../../../i18n/typed-numbers.ts'
import styles from '../../../parts/form/form.module.css'
import {
  BellIcon,
  ClockIcon,
  CubeIcon,
  GaugeIcon,
  GroupIcon,
  KeyIcon,
  ShieldIcon,
} from '../../../parts/icons.tsx'
import { type NumberField, numberWords } from '../../audit/change-lines.ts'
import { useRateWords } from '../key-words.ts'
import { expiryOf, type KeyFormValues } from './form-values.ts'
import { useGroups } from './group-fields.tsx'

export function Summary({ values }: { readonly values: KeyFormValues }) {
  const { t } = useTranslation()
  return (
    <aside className={`card ${styles['rail']}`} aria-labelledby="summary-title">
      <h2 id="summary-title">{values.name.trim() || t('keyForm.summary.title')}</h2>
      <ul>
        <GroupLine id={values.group} />
        <ModelLine values={values} />
        <Line icon={<GaugeIcon />} isWarning={!values.hasOwnLimit}>
          <BudgetWords values={values} />
        </Line>
        {values.hasOwnLimit && (
          <Line icon={<BellIcon />} isWarning={values.alert_thresholds.length === 0}>
            <AlertWords values={values} />
          </Line>
        )}
        <Line icon={<KeyIcon />}>
          <RateWords values={values} />
        </Line>
        <Line icon={<ShieldIcon />}>
          <EndpointWords values={values} />
        </Line>
        <Line icon={<ClockIcon />}>
          <ExpiryWords values={values} />
        </Line>
      </ul>
    </aside>
  )
}

type LineProps = {
  readonly icon: ReactNode
  readonly isWarning?: boolean
  readonly children: ReactNode
}

function Line({ icon, isWarning = false, children }: LineProps) {
  return (
    <li data-tone={isWarning ? 'warn' : undefined}>
      {icon}
      <span>{children}</span>
    </li>
  )
}

function GroupLine({ id }: { readonly id: string }) {
  const { t } = useTranslation()
  const { chosen } = useGroups(id)
  return (
    chosen && <Line icon={<GroupIcon />}>{t('keyForm.summary.group', { name: chosen.name })}</Line>
  )
}

type WordsProps = { readonly values: KeyFormValues }

/** Of the chosen models, those that the group allows. */
function ModelLine({ values: { models, mode, group } }: WordsProps) {
  const { t } = useTranslation()
  const catalogue = useQuery(modelsQuery)
  const ceiling = useGroups(group).chosen?.models ?? null
  const allowed = models.filter((model) => ceiling?.includes(model) ?? true)
  const isLess = allowed.length < models.length
  const chosen = models.length
  const providers = new Set(
    (catalogue.data ?? []).filter(({ id }) => allowed.includes(id)).map(({ provider }) => provider),
  )
  const words = t('keyForm.summary.models', {
    models: isLess
      ? t('keyForm.summary.allowedModels', { count: allowed.length, chosen })
      : t('models.count', { count: chosen }),
    providers: t('keyForm.summary.providers', { count: providers.size }),
  })
  return (
    <Line icon={<CubeIcon />} isWarning={isLess || chosen === 0}>
      {chosen === 0 ? t('keyForm.summary.noModels') : words}{' '}
      {chosen > 0 && mode === 'test' && t('keyForm.summary.test')}
    </Line>
  )
}

function BudgetWords({ values }: WordsProps) {
  const { t, format } = useTranslation()
  const frame = useQuery(frameQuery)
  const left =
    frame.data && t('keyForm.summary.left', { left: format.moneyLeft(frame.data.remaining) })
  const caps = values.model_budgets.length
  const further = [
    values.hasWindow ? atMost(values.window, values.windowPeriod) : undefined,
    caps > 0 ? t('keyForm.summary.caps', { count: caps }) : undefined,
    left,
  ]
  const main = values.hasOwnLimit
    ? (atMost(values.budget, values.period) ?? t('keyForm.summary.noBudget'))
    : t('keyForm.summary.noLimit')
  return <>{[main, ...further].filter((words) => words !== undefined).join(' ')}</>

  function atMost(typed: string, period: KeyFormValues['period']): string | undefined {
    const amount = readAmount(typed, format.separators)
    if (amount === undefined) return undefined
    return t('keyForm.summary.budget', {
      amount: format.money(amount),
      period: t(`periodShort.${period}`),
    })
  }
}

export function LimitWords({ values }: WordsProps) {
  return (
    <>
      <RateWords values={values} /> <EndpointWords values={values} />
    </>
  )
}

function RateWords({ values }: WordsProps) {
  const { t, format } = useTranslation()
  const { separators } = format
  const most = readAmount(values.request_cost_max, separators)
  const rates = useRateWords()({
    rpm: readCount(values.rpm, separators) ?? null,
    tpm: readCount(values.tpm, separators) ?? null,
    concurrency: readCount(values.concurrency, separators) ?? null,
  })
  return (
    <>
      {rates ? t('keyForm.summary.rates', { rates }) : t('keyForm.summary.noRates')}{' '}
      {most !== undefined && t('keyForm.summary.requestCost', { amount: format.money(most) })}
    </>
  )
}

function EndpointWords({ values: { permissions } }: WordsProps) {
  const { t } = useTranslation()
  return permissions.length === ENDPOINTS.length
    ? t('keyForm.summary.allEndpoints')
    : t('keyForm.summary.someEndpoints', { count: permissions.length, of: ENDPOINTS.length })
}

export function AlertWords({ values: { alert_thresholds: typed } }: WordsProps) {
  const { t } = useTranslation()
  const list = useNumberWords()('alert_thresholds', typed)
  return <>{list === '' ? t('keyForm.summary.noAlerts') : t('keyForm.summary.alerts', { list })}</>
}

export function ExpiryWords({ values }: WordsProps) {
  const { t, format } = useTranslation()
  const reminders = useNumberWords()('expiry_reminders', values.expiry_reminders)
  const expiry = expiryOf(values, useNow())
  if (expiry === null) return <>{t('keyForm.summary.neverExpires')}</>
  const words = t('keyForm.summary.expires', { date: format.date(expiry) })
  const reminds =
    reminders === ''
      ? t('keyForm.summary.noReminders')
      : t('keyForm.summary.reminders', { list: reminders })
  return <>{`${words} ${reminds}`}</>
}

/** Shares in ascending order, days in descending, whatever order they were typed in. */
function useNumberWords() {
  const words = useTranslation()
  return (field: NumberField, typed: readonly string[]): string => {
    const rising = typed.map(Number).toSorted((a, b) => a - b)
    return numberWords(field, field === 'expiry_reminders' ? rising.toReversed() : rising, words)
  }
}
