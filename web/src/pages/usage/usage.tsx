// What all keys used and what it cost: a course over time, the same numbers by key, model and day, and all of it as a file.
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useMemo } from 'react'
import { usageRoutes } from '../../../../src/admin/contract/usage.ts'
import { addressOf } from '../../api.ts'
import { useNow } from '../../i18n/use-now.ts'
import { useTranslation } from '../../i18n/use-translation.ts'
import { Choice } from '../../parts/choice.tsx'
import { DayFilter } from '../../parts/day-filter.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ErrorAlert } from '../../parts/error-alert.tsx'
import { ChartIcon } from '../../parts/icons.tsx'
import { Loading } from '../../parts/loading.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { Toolbar } from '../../parts/toolbar.tsx'
import { METRICS } from '../../usage/usage-figures.ts'
import type { Span } from '../../usage/usage-figures.ts'
import { Figures } from './figures.tsx'
import { usageQuery } from './usage-query.ts'
import { GROUPS, RANGES, spanOf } from './usage-search.ts'
import type { UsageSearch } from './usage-search.ts'

const route = getRouteApi('/app/settings/usage')
const minuteMs = 60_000

export function UsagePage() {
  const { t } = useTranslation()
  const search = route.useSearch()
  const minute = Math.ceil(useNow() / minuteMs) * minuteMs
  const span = useMemo(() => spanOf(search, minute), [search, minute])
  const group = search.by ?? 'key'
  const course = useQuery(usageQuery(span, `${span.step},${group}`))
  return (
    <>
      <PageHeader title={t('nav.usage')} about={t('usagePage.about')} />
      <UsageFilters search={search} span={span} />
      {course.error && (
        <ErrorAlert
          title={t('usage.failed')}
          error={course.error}
          onRetry={() => void course.refetch()}
        />
      )}
      {course.isPending && <Loading lines={1} height={320} />}
      {course.data?.rows.length === 0 && (
        <div className="card">
          <EmptyState icon={<ChartIcon size={22} />} title={t('usage.none')}>
            {t('usagePage.noneAbout')}
          </EmptyState>
        </div>
      )}
      {course.data && course.data.rows.length > 0 && (
        <Figures course={course.data} span={span} metric={search.metric ?? 'cost'} group={group} />
      )}
    </>
  )
}

type UsageFiltersProps = { readonly search: UsageSearch; readonly span: Span }

function UsageFilters({ search, span }: UsageFiltersProps) {
  const { t } = useTranslation()
  const navigate = route.useNavigate()
  const change = (next: Partial<UsageSearch>) =>
    void navigate({ search: (old) => ({ ...old, ...next }), replace: true })
  const { since, until } = span
  const csv = addressOf(usageRoutes.exportUsage, { query: { since, until, by: 'key,model,day' } })
  return (
    <Toolbar csv={{ href: csv, name: 'usage.csv' }}>
      <Choice
        label={t('usage.range')}
        isRequired
        value={search.range ?? '30d'}
        values={RANGES}
        wordOf={(range) => t(`usagePage.ranges.${range}`)}
        onChoose={(range) => change({ range })}
      />
      {search.range === 'days' && (
        <>
          <DayFilter
            label={t('filter.from')}
            value={search.from}
            onChange={(from) => change({ from })}
          />
          <DayFilter label={t('filter.to')} value={search.to} onChange={(to) => change({ to })} />
        </>
      )}
      <Choice
        label={t('usage.metric')}
        isRequired
        value={search.metric ?? 'cost'}
        values={METRICS}
        wordOf={(metric) => t(`metric.${metric}`)}
        onChoose={(metric) => change({ metric })}
      />
      <Choice
        label={t('usagePage.by')}
        isRequired
        value={search.by ?? 'key'}
        values={GROUPS}
        wordOf={(group) => t(`usagePage.group.${group}`)}
        onChoose={(by) => change({ by })}
      />
    </Toolbar>
  )
}
