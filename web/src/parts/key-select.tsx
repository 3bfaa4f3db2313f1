// Chooses a key. The gateway searches while the reader types, because there may be 100,000 keys.
import { Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from '../i18n/use-translation.ts'
import { keyQuery, keysQuery } from '../queries.ts'
import { useSession } from '../session.ts'

type KeySelectProps = {
  readonly label: string
  /** The id of a key. */
  readonly value: string | undefined
  readonly onChange: (id: string | undefined) => void
  readonly required?: boolean
}

const offered = 20
const typingMs = 250

export function KeySelect({ label, value, onChange, required = false }: KeySelectProps) {
  const { t } = useTranslation()
  const [text, setText] = useState('')
  const [search] = useDebouncedValue(text, typingMs)
  const chosen = useQuery({ ...keyQuery(value ?? ''), enabled: value !== undefined })
  const name = chosen.data?.name
  const keys = useQuery({
    ...keysQuery({
      // The field shows the chosen key's name, which is not a search.
      search: search === '' || search === name ? undefined : search,
      status: 'current',
      sort: 'last_used_at',
      order: 'desc',
      page: 1,
      per_page: offered,
    }),
    refetchInterval: false,
  })
  const found = (keys.data?.keys ?? []).map((key) => ({ value: key.id, label: key.name }))
  const isFound = found.some((each) => each.value === value)
  const own = value === undefined || isFound ? [] : [{ value, label: name ?? value }]
  const hasNone = search === '' && keys.data?.total === 0
  return (
    <Select
      label={label}
      required={required}
      searchable
      clearable={!required}
      clearButtonProps={{ 'aria-label': t('filter.clear', { filter: label }) }}
      description={hasNone && <NoKeys areRevoked={keys.data?.counts.all !== 0} />}
      error={keys.isError && t('overview.failed')}
      onDropdownOpen={() => keys.isError && void keys.refetch()}
      placeholder={required ? t('filter.chooseKey') : t('filter.any')}
      value={value ?? null}
      searchValue={text}
      onSearchChange={setText}
      onChange={(id) => onChange(id ?? undefined)}
      // The gateway has already filtered.
      filter={({ options }) => options}
      nothingFoundMessage={keys.isFetching ? t('loading') : t('overview.noMatch')}
      data={[...own, ...found]}
    />
  )
}

function NoKeys({ areRevoked }: { readonly areRevoked: boolean }) {
  const { t } = useTranslation()
  const { may } = useSession()
  return (
    <>
      {t(areRevoked ? 'overview.allRevoked' : 'overview.none')}.{' '}
      {may('configuration:manage') && (
        <Link to="/settings/api-access/new">{t('overview.create')}</Link>
      )}
    </>
  )
}
