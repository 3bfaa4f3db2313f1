// Alerts in words, and their queries, for the page of alerts and for the pages of keys.
import { queryOptions } from '@tanstack/react-query'
import { type AlertAnswer, alertRoutes } from '../../../../src/admin/contract/alerts.ts'
import { call } from '../../base/api.ts'
import { type Refusal, said, type Translate, useTranslation } from '../../i18n/i18n.ts'

type AlertWords = {
  /** "billing reached 80%", for a list that mixes accounts. */
  readonly whole: (alert: AlertAnswer) => string
  /** "80%: 8 of 10 dollars, 15 Nov", where the account is already named. */
  readonly brief: (alert: AlertAnswer) => string
  /** The result of a delivery attempt. */
  readonly result: (attempt: Attempt) => string
}

type Attempt = Omit<Refusal, 'message'> & { readonly result: string }

export function useAlertWords(): AlertWords {
  const { t, format } = useTranslation()
  return {
    whole: (alert) => {
      const name = nameOf(alert) ?? t('framePage.name')
      switch (alert.kind) {
        case 'budget':
          return t('alerts.reached', { name, threshold: format.percent(alert.threshold / 100) })
        case 'refused':
          return t('alerts.refuses', { name })
        case 'refusals':
          return alert.scope === 'key'
            ? t('alerts.manyRefused', { name, count: alert.count, code: alert.code })
            : t('alerts.manyUnknown', { count: alert.count })
        case 'expiry':
          return t('alerts.expires', { name, count: alert.days_before })
        case 'wish':
          return t('alerts.wish', { name, person: alert.person })
        case 'outage': {
          const { provider, reason, ended_at: end } = alert
          return end === null
            ? t('alerts.outage', { provider, reason })
            : t('alerts.recovered', { provider })
        }
        case 'inactive':
          return t('alerts.inactive', { person: alert.person, count: alert.count })
        case 'ledger':
          return t('alerts.ledgerSays', { message: alert.message })
      }
    },
    brief: (alert) => {
      const when = format.dateTime(alert.at)
      if (alert.kind === 'expiry') return t('alerts.expiry', { count: alert.days_before, when })
      if (alert.kind === 'refusals') {
        const { count, code } = alert
        return t('alerts.refusals', { count, code, when })
      }
      if (alert.kind === 'wish') return t('alerts.wishBrief', { person: alert.person, when })
      // Those of the gateway as a whole are about no account.
      if (alert.kind === 'outage' || alert.kind === 'ledger' || alert.kind === 'inactive')
        return when
      const [spent, limit] = [format.money(alert.spent), format.money(alert.limit)]
      if (alert.kind === 'refused') return t('alerts.refused', { spent, limit, when })
      const threshold = format.percent(alert.threshold / 100)
      return t('alerts.alert', { threshold, spent, limit, when })
    },
    result: ({ result, reason, values }) =>
      reason === undefined ? resultWords(result, t) : said({ message: result, reason, values }),
  }
}

/** Undefined for what is about no key and no group. */
function nameOf(alert: AlertAnswer): string | undefined {
  switch (alert.scope) {
    case 'frame':
    case 'provider':
    case 'ledger':
    case 'person':
      return undefined
    case 'group':
      return alert.group?.name
    case 'key':
    case 'unknown_keys':
      return alert.key_name ?? alert.key ?? ''
  }
}

export function resultWords(result: string, t: Translate): string {
  const status = /^answered (\d{3})$/.exec(result)?.[1]
  if (status !== undefined) return t('alerts.answered', { status })
  return result === 'taken by the mail server' ? t('alerts.mailTaken') : result
}

export const destinationsQuery = queryOptions({
  queryKey: ['alerts', 'destinations'],
  queryFn: ({ signal }) => call(alertRoutes.listDestinations, { signal }),
})

/** The rule of a key, or of the frame if `key` is undefined. */
export const ruleQuery = (key: string | undefined) =>
  queryOptions({
    queryKey: ['alerts', 'rule', key],
    queryFn: ({ signal }) =>
      key === undefined
        ? call(alertRoutes.readFrameAlerts, { signal })
        : call(alertRoutes.readKeyAlerts, { params: { id: key }, signal }),
  })

/** Queries that a change makes stale; a key's thresholds are also among its settings. */
export const madeOldByAlerts = [['alerts'], ['audit'], ['keys']] as const
