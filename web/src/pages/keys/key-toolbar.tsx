// The toolbar of the key list: search, filters, columns. Every choice is kept in the address, and every filter can be
// removed.
import { Button, Menu, MultiSelect, NativeSelect, Popover, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { FILTER_LENGTH_MAX, FILTER_VALUES_MAX } from '../../../../src/admin/contract/values.ts'
import { KEY_MODES, KEY_STATUSES } from '../../../../src/core/limits.ts'
import {
  columnsOf,
  FILTERS,
  OPTIONAL_COLUMNS,
  OUTSIDE_GROUPS,
  overviewSearch,
} from '../../base/address.ts'
import type { AddressProps, Filter, OverviewSearch } from '../../base/address.ts'
import { groupsQuery, labelsQuery, modelsQuery } from '../../base/queries.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { onSubmit } from '../../parts/changes.tsx'
import { useTyped } from '../../parts/filters.tsx'
import { CrossIcon, SearchIcon } from '../../parts/icons.tsx'
import styles from './key-toolbar.module.css'

type SearchProps = AddressProps<OverviewSearch>

export function KeyToolbar({
  children,
  ...address
}: SearchProps & { readonly children?: ReactNode }) {
  return (
    <div role="search">
      <div className={styles['bar']}>
        <SearchField {...address} />
        <FilterMenu {...address} />
        <ViewMenu {...address} />
        <div className={styles['end']}>{children}</div>
      </div>
      <FilterTokens {...address} />
    </div>
  )
}

function SearchField({ search: { search = '' }, onChange }: SearchProps) {
  const { t } = useTranslation()
  const { typed, type } = useTyped(search, (words) => onChange({ search: words }))
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

function FilterTokens({ search, onChange }: SearchProps) {
  const { t, format } = useTranslation()
  const groups = useQuery({ ...groupsQuery, enabled: search.group !== undefined })
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
    const values = [search[filter] ?? []].flat()
    return format.list(filter === 'group' ? values.map(groupName) : values)
  }

  function groupName(id: string): string {
    if (id === OUTSIDE_GROUPS) return t('filter.outsideGroups')
    return groups.data?.find((group) => group.id === id)?.name ?? id
  }
}

export const noFilters: Partial<OverviewSearch> = Object.fromEntries(
  FILTERS.map((filter) => [filter, undefined]),
)

const uses = ['last_30_days', 'not_last_30_days'] as const
const selects = ['status', 'used', 'mode', 'model'] as const
/** Of these, several can be chosen. */
const lists = ['environment', 'owner', 'tag', 'group'] as const
const divider = '\n'
const offeredMax = 50

function FilterMenu({ search, onChange }: SearchProps) {
  const { t } = useTranslation()
  const [isOpen, setOpen] = useState(false)
  const apply = onSubmit((form) => {
    const given = [...form].map(([name, value]) => {
      const [first, ...more] = typeof value === 'string' ? value.split(divider) : []
      return [name, more.length > 0 ? [first, ...more] : first || undefined]
    })
    onChange(overviewSearch.parse(Object.fromEntries(given)))
    setOpen(false)
  })
  return (
    <Popover
      opened={isOpen}
      onChange={setOpen}
      // Suggestions that are open close first: see below.
      closeOnEscape={false}
      trapFocus
      returnFocus
      position="bottom-start"
    >
      <Popover.Target>
        <Button variant="default" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {t('overview.filters')}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <form
          onSubmit={apply}
          onKeyDown={({ key, target }) => {
            const isFieldOpen =
              target instanceof Element && target.matches('[aria-expanded="true"]')
            if (key === 'Escape' && !isFieldOpen) setOpen(false)
          }}
          className={styles['filters']}
        >
          <FilterFields search={search} />
          <Button type="submit">{t('overview.apply')}</Button>
        </form>
      </Popover.Dropdown>
    </Popover>
  )
}

function FilterFields({ search }: { readonly search: OverviewSearch }) {
  const { t } = useTranslation()
  const models = useQuery(modelsQuery)
  const groups = useQuery(groupsQuery)
  const { data: labels } = useQuery(labelsQuery)
  const choices = {
    group: [
      { value: OUTSIDE_GROUPS, label: t('filter.outsideGroups') },
      ...(groups.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
    ],
    owner: labels?.owners ?? [],
    environment: labels?.environments ?? [],
    tag: labels?.tags ?? [],
    status: KEY_STATUSES.map((value) => ({ value, label: t(`keyStatus.${value}`) })),
    used: uses.map((value) => ({ value, label: t(`filter.usedWhen.${value}`) })),
    mode: KEY_MODES.map((value) => ({ value, label: t(`mode.${value}`) })),
    model: (models.data ?? []).map(({ id }) => ({ value: id, label: id })),
  }
  return (
    <>
      {selects.map((name) => (
        <NativeSelect
          key={name}
          name={name}
          label={t(`filter.${name}`)}
          error={name === 'model' && models.isError && t('picker.failed')}
          defaultValue={search[name] ?? ''}
          data={[
            { value: '', label: t(name === 'status' ? 'keyStatus.current' : 'filter.any') },
            ...choices[name],
          ]}
        />
      ))}
      {lists.map((name) => (
        <MultiSelect
          key={name}
          name={name}
          hiddenInputValuesDivider={divider}
          label={t(`filter.${name}`)}
          placeholder={t('filter.any')}
          searchable
          clearable
          clearButtonProps={{ 'aria-label': t('filter.clear', { filter: t(`filter.${name}`) }) }}
          nothingFoundMessage={t('filter.nothing')}
          limit={offeredMax}
          maxValues={FILTER_VALUES_MAX}
          // Inside the popover: a press on a choice must not count as one beside it.
          comboboxProps={{ withinPortal: false }}
          defaultValue={[search[name] ?? []].flat()}
          data={choices[name]}
        />
      ))}
    </>
  )
}

function ViewMenu({ search, onChange }: SearchProps) {
  const { t } = useTranslation()
  const shown = columnsOf(search)
  return (
    <Menu closeOnItemClick={false} position="bottom-start">
      <Menu.Target>
        <Button variant="default">{t('overview.view')}</Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{t('overview.columns')}</Menu.Label>
        {OPTIONAL_COLUMNS.map((column) => (
          <Menu.CheckboxItem
            key={column}
            checked={shown.includes(column)}
            onChange={(isChecked) =>
              onChange({
                columns: OPTIONAL_COLUMNS.filter((each) =>
                  each === column ? isChecked : shown.includes(each),
                ),
              })
            }
          >
            {t(`column.${column}`)}
          </Menu.CheckboxItem>
        ))}
        <Menu.Divider />
        <Menu.CheckboxItem
          checked={search.roomy !== true}
          onChange={(isChecked) => onChange({ roomy: isChecked ? undefined : true })}
        >
          {t('overview.dense')}
        </Menu.CheckboxItem>
        <Menu.CheckboxItem
          checked={search.grouped === true}
          onChange={(isChecked) => onChange({ grouped: isChecked ? true : undefined })}
        >
          {t('overview.grouped')}
        </Menu.CheckboxItem>
      </Menu.Dropdown>
    </Menu>
  )
}
