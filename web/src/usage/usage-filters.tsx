// The filters of usage: time span, metric, grouping, and comparison with the span before.
import { usageRoutes } from '../../../src/admin/contract/usage.ts'
import { addressOf } from '../api.ts'
import { useTranslation } from '../i18n/use-translation.ts'
import { Choice } from '../parts/choice.tsx'
import { DayFilter } from '../parts/day-filter.tsx'
import { Toolbar } from '../parts/toolbar.tsx'
import { METRICS } from './usage-search.ts'
import type { Span } from './usage-search.ts'
import { GROUPS, RANGES } from './usage-search.ts'
import type { Group, UsageSearch } from './usage-search.ts'

type UsageFiltersProps = {
  readonly search: UsageSearch
  readonly onChange: (change: Partial<UsageSearch>) => void
  readonly span: Span
  readonly group: Group
  /** Limits usage to one key. */
  readonly keyId?: string
}

export function UsageFilters({ search, onChange, span, group, keyId }: UsageFiltersProps) {
  const { t } = useTranslation()
  const { since, until } = span
  const isOfOne = keyId !== undefined
  const by = [...new Set(['day', ...(isOfOne ? [] : ['key']), group])].join(',')
  const csv = addressOf(usageRoutes.exportUsage, { query: { since, until, by, key: keyId } })
  return (
    <Toolbar csv={{ href: csv, name: 'usage.csv' }}>
      <Choice
        label={t('usage.range')}
        isRequired
        value={search.range ?? '30d'}
        values={RANGES.filter((range) => isOfOne || range !== 'period')}
        wordOf={(range) => t(`usage.ranges.${range}`)}
        onChoose={(range) => onChange({ range })}
      />
      {search.range === 'days' && (
        <>
          <DayFilter
            label={t('filter.from')}
            value={search.from}
            onChange={(from) => onChange({ from })}
          />
          <DayFilter label={t('filter.to')} value={search.to} onChange={(to) => onChange({ to })} />
        </>
      )}
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
