// Usage and cost, of all keys or of one: the filters, and the figures they select.
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useMemo } from 'react'
import { usageRoutes } from '../../../../src/admin/contract/usage.ts'
import { GROUPS, METRICS, RANGES, spanOf } from '../../base/address.ts'
import type { AddressProps, Group, Span, UsageSearch } from '../../base/address.ts'
import { addressOf } from '../../base/api.ts'
import { useNow } from '../../i18n/format.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { Choice, DayFilters, Toolbar } from '../../parts/filters.tsx'
import { ChartIcon } from '../../parts/icons.tsx'
import { EmptyState, Loading, QueryError } from '../../parts/notices.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
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
  const asked = { span, keyId: ofKey?.id, groupId: ofGroup?.id, compare }
  const course = useQuery(usageQuery({ ...asked, by }))
  return (
    <>
      <UsageFilters
        search={search}
        onChange={onChange}
        span={span}
        group={group}
        keyId={ofKey?.id}
        groupId={ofGroup?.id}
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

type UsageFiltersProps = AddressProps<UsageSearch> & {
  readonly span: Span
  readonly group: Group
  /** Limits usage to one key, or to one group. */
  readonly keyId: string | undefined
  readonly groupId: string | undefined
}

function UsageFilters({ search, onChange, span, group, keyId, groupId }: UsageFiltersProps) {
  const { t } = useTranslation()
  const { since, until } = span
  const isOfOne = keyId !== undefined
  const by = [...new Set(['day', ...(isOfOne ? [] : ['key']), group])].join(',')
  const query = { since, until, by, key: keyId, group: groupId }
  const csv = addressOf(usageRoutes.exportUsage, { query })
  return (
    <Toolbar csv={{ href: csv, name: 'usage.csv' }}>
      <Choice
        label={t('usage.range')}
        isRequired
        value={search.range ?? '30d'}
        values={RANGES.filter((range) => isOfOne || groupId !== undefined || range !== 'period')}
        wordOf={(range) => t(`usage.ranges.${range}`)}
        onChoose={(range) => onChange({ range })}
      />
      {search.range === 'days' && <DayFilters search={search} onChange={onChange} />}
      <Choice
        label={t('usage.metric')}
        isRequired
        value={search.metric ?? 'cost'}
        values={METRICS}
        wordOf={(metric) => t(`metric.${metric}`)}
        onChoose={(metric) => onChange({ metric })}
      />
      <Choice
        label={t('usage.by')}
        isRequired
        value={group}
        values={GROUPS.filter((each) => !isOfOne || each !== 'key')}
        wordOf={(each) => t(`usage.group.${each}`)}
        onChoose={(each) => onChange({ by: each })}
      />
      <Choice
        label={t('usage.compare')}
        isRequired
        value={search.compare ? 'previous' : 'nothing'}
        values={['nothing', 'previous'] as const}
        wordOf={(other) => t(`usage.compareWith.${other}`)}
        onChoose={(other) => onChange({ compare: other === 'previous' ? true : undefined })}
      />
    </Toolbar>
  )
}
