// Usage and cost, of all keys or of one: the figures that the filters select.
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useMemo } from 'react'
import { spanOf, usageFiltersOf } from '../../base/address.ts'
import type { AddressProps, UsageFilters, UsageSearch } from '../../base/address.ts'
import { useNow } from '../../i18n/format.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { ChartIcon } from '../../parts/icons.tsx'
import { EmptyState, Loading, QueryError } from '../../parts/notices.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { UsageFilterBar } from './filter-bar.tsx'
import { Figures, usageQuery } from './tables.tsx'

const route = getRouteApi('/app/settings/usage')

export function UsagePage() {
  const { t } = useTranslation()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  return (
    <>
      <PageHeader title={t('nav.usage')} about={t('usage.about')} />
      <UsageView
        search={search}
        onChange={(next) =>
          void navigate({ search: (old) => ({ ...old, ...next }), replace: true })
        }
      />
    </>
  )
}

type UsageViewProps = AddressProps<UsageSearch> & {
  /** Limits usage to one key, whose budget period started at `periodStartsAt`. */
  readonly ofKey?: UsageOf
  /** Limits usage to one group. */
  readonly ofGroup?: UsageOf
}

type UsageOf = { readonly id: string; readonly periodStartsAt: string | null }

const minuteMs = 60_000

/** The sums and the chart. */
const partsPx = [102, 408]

export function UsageView({ search, onChange, ofKey, ofGroup }: UsageViewProps) {
  const { t } = useTranslation()
  const { range, from, to, metric = 'cost', compare } = search
  const minute = Math.ceil(useNow() / minuteMs) * minuteMs
  const { periodStartsAt } = ofKey ?? ofGroup ?? {}
  const span = useMemo(
    () => spanOf({ range, from, to }, minute, periodStartsAt),
    [range, from, to, minute, periodStartsAt],
  )
  const group = search.by ?? (ofKey ? 'model' : 'key')
  const by = group === 'day' ? span.step : `${span.step},${group}`
  const filters = filtersOf({ search, ofKey, ofGroup })
  const asked = { span, filters, compare }
  const course = useQuery(usageQuery({ ...asked, by }))
  return (
    <>
      <UsageFilterBar
        search={search}
        onChange={onChange}
        asked={asked}
        group={group}
        of={ofKey ? 'key' : ofGroup ? 'group' : 'all'}
      />
      <QueryError title={t('usage.failed')} query={course} />
      {course.isPending && <Loading parts={partsPx} />}
      {course.data?.rows.length === 0 && (
        <EmptyState
          icon={ChartIcon}
          title={t('usage.none')}
          about={t(ofKey ? 'usage.noneOfKey' : 'usage.noneAbout')}
        />
      )}
      {!course.error && course.data && course.data.rows.length > 0 && (
        <Figures course={course.data} asked={asked} metric={metric} group={group} />
      )}
    </>
  )
}

/** The address of a key's page has other things under these names. */
function filtersOf({ search, ofKey, ofGroup }: Omit<UsageViewProps, 'onChange'>): UsageFilters {
  if (ofKey) return { key: ofKey.id }
  return ofGroup ? { group: ofGroup.id } : usageFiltersOf(search)
}
