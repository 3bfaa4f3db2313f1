// The toolbar of the key list: search, filters, columns. Every choice is kept in the address, and every filter can be
// removed.
import { Button, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { FILTER_LENGTH_MAX } from '../../../../src/admin/contract/values.ts'
import { useTranslation } from '../../i18n/use-translation.ts'
import { CrossIcon, SearchIcon } from '../../parts/icons.tsx'
import { useTyped } from '../../parts/use-typed.ts'
import { FilterMenu } from './filter-menu.tsx'
import { FILTERS } from './overview-search.ts'
import type { Filter, OverviewSearch } from './overview-search.ts'
import styles from './key-toolbar.module.css'
import { ViewMenu } from './view-menu.tsx'

type KeyToolbarProps = {
  readonly search: OverviewSearch
  readonly onChange: (change: Partial<OverviewSearch>) => void
  readonly children?: ReactNode
}

export function KeyToolbar({ search, onChange, children }: KeyToolbarProps) {
  return (
    <div role="search">
      <div className={styles['bar']}>
        <SearchField value={search.search ?? ''} onChange={onChange} />
        <FilterMenu search={search} onChange={onChange} />
        <ViewMenu search={search} onChange={onChange} />
        <div className={styles['end']}>{children}</div>
      </div>
      <FilterTokens search={search} onChange={onChange} />
    </div>
  )
}

type SearchFieldProps = {
  readonly value: string
  readonly onChange: (change: Partial<OverviewSearch>) => void
}

function SearchField({ value, onChange }: SearchFieldProps) {
  const { t } = useTranslation()
  const { typed, type } = useTyped(value, (search) => onChange({ search }))
  return (
    <TextInput
      className={styles['search']}
      type="search"
      data-shortcut="/"
      aria-label={t('overview.search')}
      placeholder={t('overview.searchHint')}
      leftSection={<SearchIcon />}
      maxLength={FILTER_LENGTH_MAX}
      value={typed}
      onChange={({ currentTarget }) => type(currentTarget.value)}
    />
  )
}

function FilterTokens({ search, onChange }: Omit<KeyToolbarProps, 'children'>) {
  const { t } = useTranslation()
  const chosen = FILTERS.filter((filter) => filter !== 'search' && search[filter] !== undefined)
  if (chosen.length === 0) return null
  return (
    <div className={styles['tokens']}>
      {chosen.map((filter) => {
        const words = `${t(`filter.${filter}`)}: ${wordOf(filter)}`
        return (
          <span key={filter} className={styles['token']}>
            <span>{words}</span>
            <button
              type="button"
              aria-label={t('overview.removeFilter', { filter: words })}
              onClick={() => onChange({ [filter]: undefined })}
            >
              <CrossIcon size={12} />
            </button>
          </span>
        )
      })}
      <Button size="compact-sm" variant="subtle" onClick={() => onChange(noFilters)}>
        {t('overview.clearFilters')}
      </Button>
    </div>
  )

  function wordOf(filter: Filter): string {
    if (filter === 'status' && search.status) return t(`keyStatus.${search.status}`)
    if (filter === 'concern' && search.concern) return t(`concern.${search.concern}`)
    if (filter === 'used' && search.used) return t(`filter.usedWhen.${search.used}`)
    if (filter === 'mode' && search.mode) return t(`mode.${search.mode}`)
    return String(search[filter])
  }
}

export const noFilters: Partial<OverviewSearch> = Object.fromEntries(
  FILTERS.map((filter) => [filter, undefined]),
)
