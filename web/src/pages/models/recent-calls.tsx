// How the calls of each model went within the last hour and the last day: how many succeeded, and how long they took.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { usageRoutes, type UsageRow } from '../../../../src/admin/contract/usage.ts'
import { REPORT_ROWS } from '../../../../src/core/limits.ts'
import { DAY_MS, HOUR_MS } from '../../../../src/core/units.ts'
import { call } from '../../base/api.ts'
import { every } from '../../base/queries.ts'
import { useSession } from '../../base/session.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import styles from './models.module.css'

const spans = { hour: HOUR_MS, day: DAY_MS } as const
const renewMs = 60_000

/** Shows them for a model; nothing to those who may not see reports, and where there were none. */
export function useRecentCalls(): (model: string) => ReactNode {
  const { t, format } = useTranslation()
  const { may } = useSession()
  const found = { hour: useCalls('hour'), day: useCalls('day') }
  return (model) => {
    const lines = (['hour', 'day'] as const).flatMap((span) => {
      const row = found[span].get(model)
      const admitted = row ? row.requests - row.refused : 0
      if (!row || admitted === 0) return []
      const figures = [
        t('modelsPage.succeeded', { percent: format.percent(1 - row.failed / admitted) }),
        ...(row.latency_ms_p50 === null
          ? []
          : [t('requests.ms', { value: format.number(row.latency_ms_p50) })]),
      ]
      return [
        <div key={span} className={styles['recent']}>
          <span>{t(`modelsPage.within.${span}`)}</span>{' '}
          {may('requests:read') ? (
            <Link to="/settings/requests" search={{ model }}>
              {figures.join(' · ')}
            </Link>
          ) : (
            figures.join(' · ')
          )}
        </div>,
      ]
    })
    return lines
  }
}

function useCalls(span: keyof typeof spans): ReadonlyMap<string, UsageRow> {
  const { may } = useSession()
  const { data } = useQuery({
    queryKey: ['usage', 'models', span],
    queryFn: ({ signal }) => {
      const since = new Date(Date.now() - spans[span]).toISOString()
      return call(usageRoutes.readUsage, {
        query: { by: 'model', since, limit: REPORT_ROWS },
        signal,
      })
    },
    enabled: may('usage:read'),
    refetchInterval: every(renewMs),
  })
  return new Map((data?.rows ?? []).map((row) => [row.model ?? '', row]))
}
