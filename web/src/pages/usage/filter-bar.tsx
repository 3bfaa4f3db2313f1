// What the usage page shows: which time, which figure, by what, and only what matches; with the downloads of just that.
import { Button, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { usageRoutes } from '../../../../src/admin/contract/usage.ts'
import { ENDPOINTS } from '../../../../src/core/endpoints.ts'
import { GROUPS, METRICS, OUTSIDE_GROUPS, RANGES } from '../../base/address.ts'
import type { AddressProps, Group, UsageSearch } from '../../base/address.ts'
import { addressOf } from '../../base/api.ts'
import { groupsQuery } from '../../base/queries.ts'
import { useSession } from '../../base/session.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { Choice, DayFilters, KeySelect, Toolbar, TypedFilter } from '../../parts/filters.tsx'
import { DownloadIcon } from '../../parts/icons.tsx'
import styles from './tables.module.css'
import type { UsageAsked } from './tables.tsx'

type UsageFilterBarProps = AddressProps<UsageSearch> & {
  readonly asked: Omit<UsageAsked, 'by'>
  readonly group: Group
  /** Usage is that of one key, or of one group, so there is nothing to filter. */
  readonly of: 'key' | 'group' | 'all'
}

export function UsageFilterBar({ search, onChange, asked, group, of }: UsageFilterBarProps) {
  const { t } = useTranslation()
  const { since, until } = asked.span
  const by = [...new Set(['day', ...(of === 'key' ? [] : ['key']), group])].join(',')
  const csv = addressOf(usageRoutes.exportUsage, { query: { since, until, by, ...asked.filters } })
  return (
    <>
      <Toolbar csv={{ href: csv, name: 'usage.csv' }}>
        <Choice
          label={t('usage.range')}
          isRequired
          value={search.range ?? '30d'}
          values={RANGES.filter((range) => of !== 'all' || range !== 'period')}
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
          values={GROUPS.filter((each) => !SAME[of].includes(each))}
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
      {of === 'all' && <Filters search={search} onChange={onChange} asked={asked} />}
      {asked.filters.group?.startsWith('grp_') && <Statement group={asked.filters.group} />}
    </>
  )
}

/** What is the same in every row. A key may have been moved between groups. */
const SAME: Readonly<Record<UsageFilterBarProps['of'], readonly Group[]>> = {
  key: ['key', 'owner', 'environment', 'tag'],
  group: ['group'],
  all: [],
}

type FiltersProps = Pick<UsageFilterBarProps, 'search' | 'onChange' | 'asked'>

/** Out of the way until one of them is in use. */
function Filters({ search, onChange, asked }: FiltersProps) {
  const { t } = useTranslation()
  const { may } = useSession()
  const count = Object.keys(asked.filters).length
  const [isOpen, setOpen] = useState(count > 0)
  return (
    <details
      className={styles['filters']}
      open={isOpen}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>{count === 0 ? t('usage.filters') : t('usage.filtersActive', { count })}</summary>
      <Toolbar>
        {may('configuration:read') && (
          <>
            <GroupChoice search={search} onChange={onChange} />
            <KeySelect
              label={t('usage.group.key')}
              value={search.key}
              onChange={(key) => onChange({ key })}
            />
          </>
        )}
        {TYPED.map((each) => (
          <TypedFilter
            key={each}
            label={t(`usage.group.${each}`)}
            placeholder={t('filter.any')}
            value={search[each]}
            onChange={(value) => onChange({ [each]: value })}
          />
        ))}
        <Choice
          label={t('usage.group.endpoint')}
          value={search.endpoint}
          values={ENDPOINTS}
          wordOf={(endpoint) => t(`endpoint.${endpoint}`)}
          onChoose={(endpoint) => onChange({ endpoint })}
        />
      </Toolbar>
    </details>
  )
}

const TYPED = ['owner', 'environment', 'tag', 'model', 'provider'] as const

function GroupChoice({ search, onChange }: AddressProps<UsageSearch>) {
  const { t } = useTranslation()
  const groups = useQuery(groupsQuery)
  const names = new Map(groups.data?.map(({ id, name }) => [id, name]))
  return (
    <Choice
      label={t('usage.group.group')}
      value={search.group}
      values={[...names.keys(), OUTSIDE_GROUPS]}
      wordOf={(id) => names.get(id) ?? t('usage.noGroup')}
      onChoose={(group) => onChange({ group })}
    />
  )
}

/** A month of the chosen group, to hand on. */
function Statement({ group }: { readonly group: string }) {
  const { t } = useTranslation()
  const [month, setMonth] = useState(() => new Date().toISOString().slice(0, 7))
  const isMonth = /^\d{4}-\d\d$/.test(month)
  const files = [
    ['usage.statementPage', usageRoutes.readStatement, `statement-${month}.html`],
    ['usage.statementCsv', usageRoutes.exportStatement, `statement-${month}.csv`],
  ] as const
  return (
    <div className={styles['statement']}>
      <TextInput
        type="month"
        label={t('usage.statement')}
        value={month}
        onChange={({ currentTarget }) => setMonth(currentTarget.value)}
      />
      {isMonth &&
        files.map(([text, route, name]) => (
          <Button
            key={text}
            component="a"
            href={addressOf(route, { query: { group, month } })}
            download={name}
            variant="default"
            leftSection={<DownloadIcon />}
          >
            {t(text)}
          </Button>
        ))}
    </div>
  )
}
