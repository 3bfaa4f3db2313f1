// Usage of all keys or of one: the filters, and the figures they select.
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useNow } from '../i18n/use-now.ts'
import { useTranslation } from '../i18n/use-translation.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { ErrorAlert } from '../parts/error-alert.tsx'
import { ChartIcon } from '../parts/icons.tsx'
import { Loading } from '../parts/loading.tsx'
import { Figures } from './figures.tsx'
import { UsageFilters } from './usage-filters.tsx'
import { usageQuery } from './usage-query.ts'
import { spanOf } from './usage-search.ts'
import type { UsageSearch } from './usage-search.ts'

type UsageViewProps = {
  readonly search: UsageSearch
  readonly onChange: (change: Partial<UsageSearch>) => void
  /** Limits usage to one key, whose budget period started at `periodStartsAt`. */
  readonly ofKey?: { readonly id: string; readonly periodStartsAt: string | null }
}

const minuteMs = 60_000

/** The sums and the chart. */
const partsPx = [102, 408]

export function UsageView({ search, onChange, ofKey }: UsageViewProps) {
  const { t } = useTranslation()
  const { range, from, to, metric = 'cost', compare } = search
  const minute = Math.ceil(useNow() / minuteMs) * minuteMs
  const span = useMemo(
    () => spanOf({ range, from, to }, minute, ofKey?.periodStartsAt),
    [range, from, to, minute, ofKey?.periodStartsAt],
  )
  const group = search.by ?? (ofKey ? 'model' : 'key')
  const by = group === 'day' ? span.step : `${span.step},${group}`
  const asked = { span, keyId: ofKey?.id, compare }
  const course = useQuery(usageQuery({ ...asked, by }))
  return (
    <>
      <UsageFilters
        search={search}
        onChange={onChange}
        span={span}
        group={group}
        {...(ofKey && { keyId: ofKey.id })}
      />
      {course.error && (
        <ErrorAlert
          title={t('usage.failed')}
          error={course.error}
          onRetry={() => void course.refetch()}
        />
      )}
      {course.isPending && <Loading parts={partsPx} />}
      {course.data?.rows.length === 0 && (
        <div className="card">
          <EmptyState icon={<ChartIcon size={22} />} title={t('usage.none')}>
            {t(ofKey ? 'usage.noneOfKey' : 'usage.noneAbout')}
          </EmptyState>
        </div>
      )}
      {!course.error && course.data && course.data.rows.length > 0 && (
        <Figures course={course.data} asked={asked} metric={metric} group={group} />
      )}
    </>
  )
}
